"""Text to kernels and back: everything that two kernels have in common, and texts that are read in several tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.loop_carried import kind_of, spelled
from fencepost.ir.parser import parse, parse_all
from fencepost.ir.printer import print_file
from fencepost.ir.trace import Body, Graph
from tests.random_kernels import Shape

ROOT = Path(__file__).parents[2]

EVERYTHING = Shape(size=16, slots=True, asynchronous=True, barriers=0.2, expects=0.3)

NOT_COMPARED = {"span", "host", "graph", "prev", "next", "owner", "first", "last", "source", "heirs"}


def structure(thing: Any) -> Any:
    """Everything that a kernel says, as plain data: no spans, no references between operations."""
    if isinstance(thing, View):
        return ("view", thing.buffer.name, thing.slot, thing.lo, thing.hi)
    if isinstance(thing, ops.Arrival):
        return ("arrives", structure(thing.view), thing.count, thing.bytes)
    if isinstance(thing, Graph):
        params = [param.name for param in thing.params]
        return (thing.name, params, thing.closing, [structure(op) for op in thing])
    if isinstance(thing, tuple | list):
        return [structure(part) for part in thing]
    if isinstance(thing, ops.Operation | Buffer | Body):
        return (type(thing).__name__, list(_fields(thing)))
    if isinstance(thing, dict):
        return [(key, structure(value)) for key, value in thing.items()]
    return thing


def _fields(thing: Any) -> Iterator[tuple[str, Any]]:
    for field in dataclasses.fields(thing):
        value = getattr(thing, field.name)
        if field.name == "uses":
            yield field.name, [used.name for used in value]
        elif field.name == "numbers":
            yield field.name, list(value)
        elif field.name in ("values", "init"):
            handed = value if isinstance(value, tuple) else () if value is None else (value,)
            yield field.name, [(kind_of(each), spelled(each)) for each in handed]
        elif field.name not in NOT_COMPARED:
            yield field.name, structure(value)


def kernel(*lines: str, waves: int = 4) -> str:
    """A kernel around statements; %a has three slots of 1024 bytes, %b one."""
    body = "".join(f"  {line}\n" for line in lines)
    return f"kernel @k waves={waves} {{\n  shared %a : 3 x 1024\n  shared %b : 1024\n{body}}}\n"


def only(*lines: str) -> ops.Operation:
    """The first operation of a kernel around `lines`."""
    first = parse(kernel(*lines)).get_root_graph().first
    assert first is not None
    return first


def assert_round_trip(text: str) -> None:
    first = parse_all(text)
    printed = print_file(first)
    second = parse_all(printed)
    assert print_file(second) == printed
    assert structure(second) == structure(first)
    for trace in first:
        assert str(parse(str(trace))) == str(trace)


COMMENTED = """\
# A file begins.

# Two paragraphs.
kernel @k waves=4 {  # behind the kernel
  # above the buffer
  shared %a : 64  # behind the buffer
  # above the loop
  #
  loop %i in 0..2 {  # behind the loop
    # above the write
    write %a  # behind the write: → 日本 #2
    # end of the loop
  }  # behind the loop's brace
  if %c {  # behind the if
    read %a
    # end of then
  } else {  # behind the else
    # nothing but this
  }  # behind the last brace of the if
  br ^x  # behind the branch
  # end of the entry block
^x:  # behind the label
  return
  # end of the kernel
}  # behind the kernel's brace
# between the kernels
kernel @j waves=1 {
  # alone
}
# A file ends.
"""

CRAMPED = """kernel@k waves = 4{
shared%a:3x1024
shared%b:1024
loop%i in 0 .. 4 step 2{
%x=read%a[%i][0..8]# → why
}
mma%x
}"""
