"""Membar where it is no pass of its own: the first thing that the conversion to LLVM's dialect does.

The conversion runs membar, lowers functions, and then everything else in one go, which is rolled back if it fails. So
what membar does to a module is seen by letting the conversion fail: a copy of the module gets a function with an
operation that cannot be lowered. What is left has membar's barriers; functions and branches are LLVM's by then, all
other operations are what they were.

Other barriers get past membar in three steps. What it would add to them is found as above. That is put
in, too, at a location of its own, so that membar has nothing to add. Behind the conversion, whatever has that
location is taken out again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fencepost.hosts.triton.audit import edits_between
from fencepost.hosts.triton.generic import generic_form, parse_live
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.parsing_worker import print_generic
from fencepost.hosts.triton.pipeline import Run
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.silent_stderr import silent_stderr
from fencepost.hosts.triton.text_edits import Edit, InsertBarrier, apply_edits
from fencepost.ir.source import FencepostError

NEVER = "fencepost-never"
"""The function that cannot be lowered."""
CONVERTED = {
    "tt.func": "llvm.func",
    "cf.br": "llvm.br",
    "cf.cond_br": "llvm.cond_br",
    "cf.switch": "llvm.switch",
}
"""What is LLVM's by the time that the conversion fails."""
MADE = ("builtin.unrealized_conversion_cast", "llvm.mlir.global")
"""What it has put in by then."""
LOST = ("ttng.async_copy_mbarrier_arrive",)
"""What is not put back when it is rolled back."""
DROP = "fencepost-drop"
"""The location of barriers that are taken out again."""
BARRIERS = ("nvvm.barrier", "nvvm.barrier0", "rocdl.s.barrier", "rocdl.barrier", "rocdl.s.barrier.signal")
"""What a barrier is in LLVM's dialect,"""
AROUND = ("llvm.fence", "rocdl.s.waitcnt", "rocdl.s.wait.dscnt", "rocdl.s.barrier.wait")
"""and what goes with it."""
CONSTANTS = ("llvm.mlir.constant",)
"""What may be left there: nothing uses it any more, or others do, too."""
_NAME = re.compile(r'\s*(?:%[\w#:]+ = )?"([\w.]+)"\(')


def added_by_membar(before: Module, convert: Run, context: Any) -> list[Edit]:
    """What membar would put into a module; FP410 if it would do more than that."""
    end = before.body.operations[-1].extent.end
    live = parse_live(f"{before.text[:end]}\n{_never()}{before.text[end:]}", context)
    try:
        with silent_stderr():
            convert(live)
    except RuntimeError:
        pass
    else:
        raise FencepostError("what membar does could not be seen: the conversion did not fail", code="FP410")
    after = list(_comparable(read_module(print_generic(live, context) or str(live.str()), trusted=True)))
    return _without_lost(list(before.walk())[1:], after)


def _never() -> str:
    """A function that cannot be lowered."""
    # Without a location in a file, so that whoever reports the failure does not look for its line.
    return f"""\
"tt.func"() <{{function_type = (i32) -> (), sym_name = "{NEVER}", sym_visibility = "private"}}> ({{
^bb0(%a: i32 loc(unknown)):
{installed_release().not_lowered}
  "tt.return"() : () -> () loc(unknown)
}}) : () -> () loc(unknown)
"""


def _without_lost(before: list[Operation], after: list[Operation]) -> list[Edit]:
    """What was put in, by what stands behind it; FP410 if one of the operations that are lost may do, too."""
    kept = {op.name for op in after}
    lost = {op for op in before if op.name in LOST and op.name not in kept}
    found = edits_between([op for op in before if op not in lost], after, CONVERTED)
    for edit in found:
        block = edit.before.block if isinstance(edit, InsertBarrier) else None
        if block is not None and isinstance(edit, InsertBarrier):
            place = block.operations.index(edit.before)
            if place and block.operations[place - 1] in lost:
                name = block.operations[place - 1].name
                raise FencepostError(
                    f"on which side of {name} membar put a barrier is not seen", code="FP410"
                )
    return found


def _comparable(after: Module) -> Iterator[Operation]:
    """The operations that were in the module before, and barriers."""
    for function in after.body.operations:
        declared = function.name == "llvm.func" and not function.regions[0].blocks
        if function.string("sym_name") == NEVER or function.name in MADE or declared:
            continue
        yield from (op for op in function.walk() if op.name not in MADE)


def converted_without_more(module: Module, convert: Run, context: Any) -> Any:
    """The module in LLVM's dialect, live, with no barrier but its own."""
    more = _barriers(added_by_membar(module, convert, context))
    marked = [replace(edit, location=f'"{DROP}"', at=None) for edit in more]
    text = apply_edits(module, marked)
    if marked and _barriers(added_by_membar(read_module(text, trusted=True), convert, context)):
        raise FencepostError("membar puts more barriers in each time", code="FP410")
    live = parse_live(text, context)
    convert(live)
    if not marked:
        return live
    return parse_live(without_dropped(generic_form(live, context), len(marked)), context)


def _barriers(edits: list[Edit]) -> list[InsertBarrier]:
    return [edit for edit in edits if isinstance(edit, InsertBarrier)]


def without_dropped(text: str, count: int) -> str:
    """A module in LLVM's dialect without the barriers that are to be dropped; FP410 unless it has just so many."""
    aliases = re.findall(rf'^(#loc\d*) = loc\("{re.escape(DROP)}"', text, re.MULTILINE)
    places = [rf'"{re.escape(DROP)}"', *(re.escape(each) for each in aliases)]
    here = re.compile(rf" loc\((?:{'|'.join(places)})\)$")
    kept: list[str] = []
    dropped = 0
    for line in text.split("\n"):
        name = _NAME.match(line) if here.search(line) else None
        if name is None or name[1] in CONSTANTS:
            kept.append(line)
        elif name[1] in (*BARRIERS, *AROUND):
            dropped += name[1] in BARRIERS
        else:
            raise FencepostError(f"a barrier became {name[1]} in LLVM's dialect", code="FP410")
    if dropped != count:
        raise FencepostError(f"of {count} barriers, {dropped} were found in LLVM's dialect", code="FP410")
    return "\n".join(kept)
