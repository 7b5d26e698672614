"""The text of a file, as functions of blocks of instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.ir.source import FencepostError, Mark, Source, Span

_TARGET = re.compile(r'^\s*\.amdgcn_target\s+"[^"]*?(gfx[0-9a-z]+)[^"]*"', re.MULTILINE)
_FUNCTION = re.compile(r"^\s*\.type\s+([\w.$@]+)\s*,\s*@function", re.MULTILINE)
_KERNEL = re.compile(r"^\s*\.amdhsa_kernel\s+([\w.$@]+)", re.MULTILINE)
_LABEL = re.compile(r"^([\w.$@]+):")
_LOCATION = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_INSTRUCTION = re.compile(r"^\s+([a-z]\w*)\s*(.*?)\s*$")
_BLOCK = re.compile(r"^; %bb\.\d+:")
_NARROWS = re.compile(r"s_\w+_saveexec")
_COMMENT = re.compile(r";.*|//.*")
RETURNS = ("s_setpc_b64", "s_set_pc_i64")
ENDS = ("s_endpgm", "s_endpgm_saved", "s_branch", "s_trap", *RETURNS)
"""What never goes on with the next line. (`s_trap` is where the compiler knows that nothing is reached.)"""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the source that an instruction was made from, by the file's own line table."""

    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction."""

    line: int
    """Where it stands in the file, counted from 1."""
    mnemonic: str
    operands: str
    place: Place = Place()

    def __str__(self) -> str:
        return f"{self.mnemonic} {self.operands}".strip()


@dataclass(slots=True, eq=False)
class Block:
    """Instructions that run one after another, and where execution can go then."""

    instructions: list[Instruction] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Function:
    """A function; its first block is where it starts."""

    name: str
    target: str
    blocks: list[Block] = field(default_factory=list)
    is_kernel: bool = True
    """Whether it is launched; else it is called."""

    def instructions(self) -> Iterator[Instruction]:
        """All of them, in the order of the file."""
        for block in self.blocks:
            yield from block.instructions


@dataclass(slots=True)
class _Reading:
    """A function that is being read."""

    function: Function
    labels: dict[str, int] = field(default_factory=dict)
    branches: list[tuple[int, str, int]] = field(default_factory=list)
    """Which block goes where, and on which line that is said."""
    falls: bool = False
    """Whether the block so far goes on with the next one."""
    unlabelled: list[int] = field(default_factory=list)
    """Blocks that begin where only a comment of LLVM's says so."""

    def begin(self) -> None:
        """Another block begins here; an empty one is used."""
        blocks = self.function.blocks
        if blocks and not blocks[-1].instructions and self.falls:
            return
        blocks.append(Block())
        if self.falls:
            blocks[-2].successors.append(len(blocks) - 1)
        self.falls = True

    def put(self, instruction: Instruction) -> None:
        """One more instruction."""
        if not self.falls:
            self.begin()
        here = len(self.function.blocks) - 1
        self.function.blocks[here].instructions.append(instruction)
        name = instruction.mnemonic
        if name == "s_branch" or name.startswith("s_cbranch_"):
            self.branches.append((here, instruction.operands.split(",")[-1].strip(), instruction.line))
        if name in ENDS:
            self.falls = False
        elif name.startswith("s_cbranch_"):
            self.begin()


def read_assembly(text: str, name: str = "<assembly>") -> list[Function]:
    """The functions of a file; FP440 for text that is no AMDGCN assembly, or branches to nowhere."""
    source = Source(name, text)
    target = _TARGET.search(text)
    names = set(_FUNCTION.findall(text))
    if target is None or not names:
        what = "no `.amdgcn_target` with a GPU" if target is None else "no function"
        raise FencepostError(
            f"this is not the assembly of an AMD kernel: it has {what}", code="FP440", source=source
        )
    kernels = set(_KERNEL.findall(text)) or names
    reading: _Reading | None = None
    read: list[_Reading] = []
    place = Place()
    for number, line in enumerate(text.splitlines(), start=1):
        label = _LABEL.match(line)
        if label is not None and label[1] in names:
            reading = _Reading(Function(label[1], target[1], is_kernel=label[1] in kernels))
            reading.begin()
            read.append(reading)
        elif label is not None and label[1].startswith(".Lfunc_end"):
            reading = None
        elif reading is None:
            continue
        elif label is not None and not label[1].startswith((".Ltmp", ".Lfunc_begin")):
            reading.begin()
            reading.labels[label[1]] = len(reading.function.blocks) - 1
        elif _BLOCK.match(line):
            reading.begin()
            reading.unlabelled.append(len(reading.function.blocks) - 1)
        elif found := _LOCATION.match(line):
            # Line 0 is no place: the column is then what it was before, to keep the table short.
            place = Place(int(found[2]), int(found[3])) if int(found[2]) else Place()
        elif found := _INSTRUCTION.match(_COMMENT.sub("", line)):
            reading.put(Instruction(number, found[1], found[2], place))
    for each in read:
        _connect(each, source)
    return [each.function for each in read]


def _connect(reading: _Reading, source: Source) -> None:
    """Put in where branches lead."""
    for block, label, line in reading.branches:
        if label not in reading.labels:
            width = len(source.text.splitlines()[line - 1])
            raise FencepostError(
                f"there is no label {label} in {reading.function.name}",
                [Mark(Span(line, 1, line, width + 1))],
                code="FP440",
                source=source,
            )
        reading.function.blocks[block].successors.append(reading.labels[label])
    for number in reading.unlabelled:
        _may_be_skipped(reading.function, number)


def _may_be_skipped(function: Function, number: int) -> None:
    """A short block for some of the lanes has lost the branch around it, after waits were put in.

    If no lane is left, its memory instructions do nothing, and it is not known that they count: so no wait may rely
    on them. What is not for lanes (barriers) runs in any case.
    """
    before = function.blocks[number - 1] if number else Block()
    block = function.blocks[number]
    narrows = next((each.mnemonic for each in reversed(before.instructions) if "exec" in str(each)), "")
    plain = not any(each.mnemonic.startswith(("s_barrier", "s_cbranch")) for each in block.instructions)
    if before.successors == [number] and _NARROWS.match(narrows) and plain:
        before.successors += [each for each in block.successors if each not in before.successors]
