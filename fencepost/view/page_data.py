"""Everything that a page shows, as plain data: dataclasses that `as_json` turns into JSON.

Lines are those of the text that stands on the page, from 1. Steps count from 0: in each, every wave that can runs one
operation.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Text:
    """A text that kernels stand in: a file, or a kernel as it is printed."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier or wait of the kernel, and why it is there."""

    line: int
    text: str
    needed: bool | None
    """None where that is not known."""
    reasons: tuple[str, ...]
    """What can happen without it, or why nothing needs it."""
    more: int = 0
    """Reasons that are left out."""
    stall: str = ""
    """How long waves wait there, as estimated."""
    origin: str = ""
    """Where it was written, for a host's kernel."""
    wrong: str = ""
    """What is wrong with it, where a finding is about it."""


@dataclass(frozen=True, slots=True)
class Window:
    """A hazard: the stretch of program between two accesses that must not overtake each other."""

    buffer: str
    kind: str
    """RAW, WAR or WAW."""
    producer: int
    """The line of the access that comes first,"""
    consumer: int
    """and of the one that must follow."""
    loop: tuple[int, int] | None
    """For a hazard from one iteration to a later one: the first and last line of the loop."""
    distance: int
    """How many iterations later."""
    in_flight: bool
    """Whether the first access is one of an async engine."""
    covered: str
    """What covers it, in words; empty if nothing does."""
    barriers: tuple[int, ...]
    """The lines of the barriers and waits that alone cover it."""
    text: str
    """What can happen if nothing covers it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line, and what a finding says about it."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that `check` has found."""

    code: str
    title: str
    marks: tuple[Mark, ...]
    notes: tuple[tuple[str, str], ...]
    scenario: int | None = None
    """The run that shows it."""
    allowed: str = ""
    """The reason of the comment that allows it; empty if none does."""


Cell = tuple[int, int, str, int]
"""What a wave does: the step that it begins with, the line, a letter of `recording.ACTIONS`, and how many steps."""


@dataclass(frozen=True, slots=True)
class Access:
    """An access of a run: from its issue until it is complete, and until every wave can rely on it."""

    wave: int
    line: int
    action: str
    step: int
    complete: int | None
    visible: int | None
    lanes: tuple[int, ...]
    """The slots that it touches, by their number in `Recording.slots`."""


@dataclass(frozen=True, slots=True)
class Phase:
    """What an mbarrier is like from a step on."""

    step: int
    complete: int
    """Phases that are complete."""
    arrived: int
    count: int
    """Arrivals that a phase takes."""
    bytes: int
    """Bytes that are expected and have not come."""


@dataclass(frozen=True, slots=True)
class Mbarrier:
    """The phases of one mbarrier."""

    name: str
    phases: tuple[Phase, ...]


@dataclass(frozen=True, slots=True)
class RunRace:
    """Two accesses of a run that nothing orders."""

    kind: str
    first: tuple[int, int, int]
    """Wave, line and step of the access that should come first,"""
    second: tuple[int, int, int]
    """and of the one that should follow."""
    text: str


@dataclass(frozen=True, slots=True)
class Recording:
    """One run of the kernel, step by step."""

    waves: tuple[int, ...]
    groups: tuple[int, ...]
    """For each of these waves, its wave group: those of one group run the same operations."""
    steps: int
    cells: tuple[tuple[Cell, ...], ...]
    slots: tuple[str, ...]
    accesses: tuple[Access, ...]
    mbarriers: tuple[Mbarrier, ...]
    races: tuple[RunRace, ...]
    stuck: tuple[tuple[int, int], ...]
    """Waves that wait for ever, and the line of each,"""
    hangs: str
    """and the same in words."""
    cut: bool
    """Whether the run goes on behind its last step."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run to look at."""

    title: str
    switched_off: tuple[int, ...]
    """The lines of the barriers that are switched off."""
    recording: Recording
    opposite: int | None = None
    """The same with that barrier on: wave by wave at the same speed."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A barrier or wait that can be switched off."""

    line: int
    lines: tuple[int, ...]
    """All lines that go off with it: the halves of a split barrier."""
    text: str
    off: int | None
    """The run without it, if there is a race in it,"""
    on: int | None
    """and the same run with it."""
    note: str = ""
    """Why there is nothing to see without it, or that it is what is wrong."""
    wrong: bool = False
    """Whether a finding is about it: it does too little, or waits for the wrong phase."""


@dataclass(frozen=True, slots=True)
class StrategyRow:
    """The barriers that one strategy puts into the kernel without its own."""

    name: str
    barriers: int
    executed: float
    cycles: int | None
    stall: float | None
    lines: tuple[str, ...]
    """What it puts in, and before which line."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class KernelPage:
    """One kernel of a page."""

    name: str
    title: str
    text: int
    """Its text, by its number in `Page.texts`."""
    first_line: int
    waves: int
    target: str
    verdict: str
    ok: bool
    proven: bool
    buffers: tuple[str, ...]
    barriers: tuple[Barrier, ...]
    windows: tuple[Window, ...]
    findings: tuple[Finding, ...]
    scenarios: tuple[Scenario, ...]
    switches: tuple[Switch, ...]
    strategies: tuple[StrategyRow, ...]
    origins: dict[int, str]
    """For lines of a host's kernel: where they were written."""
    left_out: tuple[str, ...]
    """What is not shown, and why."""
    other: int | None = None
    """The same kernel mended, or as it was before that, by its number in `Page.kernels`."""
    added: tuple[int, ...] = ()
    """Of a mended kernel: the lines that are new or changed."""
    launch: str = ""
    """Of a kernel in CUDA or PTX: its blocks, in the place of waves."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: the kernels of a file."""

    title: str
    version: str
    texts: tuple[Text, ...]
    kernels: tuple[KernelPage, ...]


def as_json(value: Any) -> Any:
    """Data as JSON has it."""
    if is_dataclass(value):
        return {each.name: as_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    return value
