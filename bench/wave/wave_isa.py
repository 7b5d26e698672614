"""Reading AMD's assembly: blocks, loops, barriers, and what is still under way when a barrier is met.

Only what the comparison needs: which instructions are barriers, how deep in loops they stand, and whether LDS
operations and copies to LDS that were issued can still be unfinished there. The last is a forward dataflow over the
blocks: an operation is under way until a wait brings its counter to zero on every path.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

KEEP_LOOPS = ("--unroll-max-count=1", "--unroll-full-max-count=0")
"""LLVM unrolls loops with known trips; then one barrier of the kernel is several in the assembly."""

BARRIERS = {"s_barrier": "barrier", "s_barrier_signal": "signal", "s_barrier_wait": "wait"}
_LABEL = re.compile(r"^(\.?[\w.$]+):")
_COUNT = re.compile(r"(vmcnt|lgkmcnt)\((\d+)\)")
_COPY = re.compile(r"^(global_load_lds|tensor_load_to_lds|buffer_load\w*_lds|buffer_load_.*\blds\b)")
_NEVER = 1 << 30


@dataclass(frozen=True)
class Pending:
    """What may be unfinished."""

    lds: bool = False
    copies: bool = False

    def __or__(self, other: Pending) -> Pending:
        return Pending(self.lds or other.lds, self.copies or other.copies)


@dataclass
class Block:
    """A stretch of instructions that run one after the other."""

    first: int
    lines: list[str] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    """Numbers of the blocks that may come next."""


@dataclass(frozen=True)
class Barrier:
    """One barrier instruction."""

    kind: str
    """"barrier", "signal" or "wait"."""
    depth: int
    """Loops around it."""
    line: int
    pending: Pending
    """What may be unfinished right before it."""
    loads: int
    """The least number of global loads that a wait since the barrier before left under way; large if none did."""


def assemble(mlir: str, target: str) -> str:
    """The assembly that iree-compile makes of a module."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.mlir"
        source.write_text(mlir)
        compiler = Path(sys.executable).parent / "iree-compile"
        command = [
            str(compiler), str(source), "-o", "/dev/null", "--iree-hal-target-device=hip",
            f"--iree-hip-target={target}", f"--iree-hal-dump-executable-intermediates-to={folder}", *KEEP_LOOPS,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"iree-compile: {done.stderr.strip()[:500]}")
        return next(Path(folder).glob("*.rocmasm")).read_text()


def barriers(assembly: str) -> list[Barrier]:
    """All barriers of the kernel in the order of the text."""
    blocks = _blocks(assembly)
    depths = _depths(blocks)
    entering = _pending(blocks)
    found: list[Barrier] = []
    loads = _NEVER
    for number, block in enumerate(blocks):
        pending = entering[number]
        for offset, line in enumerate(block.lines):
            name = line.split()[0]
            kind = BARRIERS.get(name)
            if kind is not None:
                found.append(Barrier(kind, depths[number], block.first + offset, pending, loads))
                loads = _NEVER
            loads = min(loads, _waited(line))
            pending = _step(line, pending)
    return found


def _blocks(assembly: str) -> list[Block]:
    """The blocks of the one function of a kernel."""
    blocks = [Block(0)]
    labels: dict[str, int] = {}
    started = False
    for number, raw in enumerate(assembly.splitlines(), 1):
        line = raw.split(";")[0].split("//")[0].strip()
        label = _LABEL.match(line)
        if label:
            started = True
            if blocks[-1].lines:
                blocks.append(Block(number))
            labels[label[1]] = len(blocks) - 1
            continue
        if not started or not line or line.startswith("."):
            continue
        if not blocks[-1].lines:
            blocks[-1].first = number
        blocks[-1].lines.append(line)
        if line.startswith(("s_branch", "s_cbranch", "s_endpgm")):
            blocks.append(Block(number + 1))
    for place, block in enumerate(blocks):
        last = block.lines[-1] if block.lines else ""
        if last.startswith(("s_branch", "s_cbranch")):
            block.after.append(labels[last.split()[1]])
        if not last.startswith(("s_branch", "s_endpgm")) and place + 1 < len(blocks):
            block.after.append(place + 1)
    return blocks


def _depths(blocks: list[Block]) -> list[int]:
    """How many loops each block is in: an edge back to a block that dominates it makes one, and all that can reach
    that edge without passing the head is its body."""
    before: list[list[int]] = [[] for _ in blocks]
    for number, block in enumerate(blocks):
        for after in block.after:
            before[after].append(number)
    dominators = _dominators(before)
    bodies: dict[int, set[int]] = {}
    for number, block in enumerate(blocks):
        for head in block.after:
            if head not in dominators[number]:
                continue
            body = bodies.setdefault(head, {head})
            todo = [number]
            while todo:
                each = todo.pop()
                if each not in body:
                    body.add(each)
                    todo += before[each]
    return [sum(number in body for body in bodies.values()) for number in range(len(blocks))]


def _dominators(before: list[list[int]]) -> list[set[int]]:
    """For every block the blocks that each path from the first one passes; all of them for those never reached."""
    everything = set(range(len(before)))
    found = [{0}, *(set(everything) for _ in before[1:])]
    changed = True
    while changed:
        changed = False
        for number in range(1, len(before)):
            common = (
                set.intersection(*(found[each] for each in before[number])) if before[number] else everything
            )
            now = common | {number}
            if now != found[number]:
                found[number] = now
                changed = True
    return found


def _pending(blocks: list[Block]) -> list[Pending]:
    """What may be unfinished where each block begins."""
    entering = [Pending() for _ in blocks]
    todo = list(range(len(blocks)))
    while todo:
        number = todo.pop(0)
        pending = entering[number]
        for line in blocks[number].lines:
            pending = _step(line, pending)
        for after in blocks[number].after:
            joined = entering[after] | pending
            if joined != entering[after]:
                entering[after] = joined
                todo.append(after)
    return entering


def _step(line: str, pending: Pending) -> Pending:
    """What may be unfinished behind an instruction."""
    if line.startswith("ds_") and not line.startswith(("ds_bpermute", "ds_permute", "ds_swizzle")):
        return Pending(True, pending.copies)
    if _COPY.match(line):
        return Pending(pending.lds, True)
    name, _, rest = line.partition(" ")
    if name == "s_waitcnt":
        counts = {counter: int(value) for counter, value in _COUNT.findall(rest)}
        return Pending(
            pending.lds and counts.get("lgkmcnt") != 0, pending.copies and counts.get("vmcnt") != 0
        )  # fmt: skip
    zero = rest.strip() in ("0x0", "0")
    if name in ("s_wait_dscnt", "s_wait_loadcnt_dscnt") and zero:
        pending = Pending(False, pending.copies)
    if name in ("s_wait_tensorcnt", "s_wait_loadcnt", "s_wait_asynccnt") and zero:
        pending = Pending(pending.lds, False)
    return pending


def _waited(line: str) -> int:
    """How many global loads and copies an instruction leaves under way; a large number if it waits for none."""
    found = re.match(r"s_waitcnt .*?vmcnt\((\d+)\)", line)
    if found:
        return int(found[1])
    found = re.match(r"s_wait_(?:loadcnt|tensorcnt) (\w+)", line)
    return int(found[1], 0) if found else _NEVER
