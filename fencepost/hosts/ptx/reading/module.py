"""PTX as it is written: a module, its kernels and functions, their instructions and operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fencepost.hosts.ptx.verdicts import Site


class PtxError(ValueError):
    """The text is not PTX that can be read; the message begins with the line and column, if these are known."""

    def __init__(self, message: str, line: int | None = None, column: int = 1) -> None:
        super().__init__(message if line is None else f"line {line}, column {column}: {message}")


@dataclass(frozen=True)
class Register:
    """A register; one that is declared in an inner `{ }` has the number of that scope in its name."""

    name: str
    type: str


@dataclass(frozen=True)
class Immediate:
    """A constant. Floating-point constants (`0f3F800000`) are their bits."""

    value: int


@dataclass(frozen=True)
class Symbol:
    """The name of a variable, parameter, label or function."""

    name: str


@dataclass(frozen=True)
class Special:
    """A special register such as `%tid.x`."""

    name: str


@dataclass(frozen=True)
class Address:
    """A memory operand: `[base + offset]`, and the coordinates that tensor copies add."""

    base: Register | Symbol | Immediate | Special
    offset: int = 0
    coordinates: tuple[Operand, ...] = ()


@dataclass(frozen=True)
class Group:
    """Several operands in braces (a vector) or in parentheses (the arguments of a call)."""

    items: tuple[Operand, ...]


@dataclass(frozen=True)
class Negated:
    """A predicate operand with `!` before it."""

    register: Register


Operand = Register | Immediate | Symbol | Special | Address | Group | Negated


@dataclass(frozen=True)
class Location:
    """A line of the source, and the calls through which it was inlined, innermost first."""

    file: str
    line: int
    inlined_at: tuple[int, ...] = ()
    near: int = 0
    """How many of these calls, innermost first, are in the same file."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: its opcode, split at the dots, its operands and where it stands."""

    parts: tuple[str, ...]
    operands: tuple[Operand, ...]
    line: int
    text: str
    guard: Register | None = None
    guard_negated: bool = False
    location: Location | None = None
    span: tuple[int, int] = field(default=(0, 0), compare=False)
    """Where it stands in the text, its semicolon included."""

    @property
    def opcode(self) -> str:
        """The whole opcode, as written."""
        return ".".join(self.parts)

    @property
    def name(self) -> str:
        """The opcode up to the first dot."""
        return self.parts[0]

    @property
    def written(self) -> tuple[object, ...]:
        """What the copies have in common that a compiler makes of one operation of the source."""
        where = self.location
        if where is None or where.line == 0:
            return (self.line,)
        return where.file, where.line, where.inlined_at, self.opcode

    @property
    def site(self) -> Site:
        """Where the instruction stands, for a report."""
        where = self.location
        if where is None or where.line == 0:
            return Site(self.line, self.text)
        return Site(self.line, self.text, where.file, where.line, where.inlined_at, where.near)


@dataclass(frozen=True)
class Label:
    """A place that branches name."""

    name: str


@dataclass(frozen=True)
class Variable:
    """A variable in shared, local, constant or global memory. `size` is None for `.extern .shared x[]`."""

    name: str
    space: str
    size: int | None
    align: int
    initial: bytes | None = None
    """What it holds at first, if the text says so, in numbers."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel or function and its size in bytes. Functions may have theirs in registers."""

    name: str
    type: str
    size: int
    in_register: bool = False


@dataclass(frozen=True)
class Routine:
    """A kernel (`.entry`) or a function (`.func`): parameters, variables and the body."""

    name: str
    is_kernel: bool
    parameters: tuple[Parameter, ...]
    results: tuple[Parameter, ...] = ()
    body: tuple[Instruction | Label, ...] = ()
    variables: tuple[Variable, ...] = ()
    branch_targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    required_block: tuple[int, int, int] | None = None
    largest_block: tuple[int, int, int] | None = None
    required_cluster: tuple[int, int, int] | None = None
    """Blocks of a cluster (`.reqnctapercluster`)."""
    line: int = 0
    defined: bool = False
    """Whether the text has its body, and not only its head."""

    def with_body(self, body: tuple[Instruction | Label, ...]) -> Routine:
        """The same routine with another body."""
        return replace(self, body=body)


@dataclass(frozen=True)
class Module:
    """Everything in one PTX text."""

    target: str
    routines: dict[str, Routine]
    variables: tuple[Variable, ...]
    aliases: dict[str, str] = field(default_factory=dict)
    """Other names of functions (`.alias`)."""

    @property
    def kernels(self) -> list[Routine]:
        """The kernels, in the order of the text."""
        return [routine for routine in self.routines.values() if routine.is_kernel]


WIDTHS = {"pred": 1, "8": 8, "16": 16, "16x2": 32, "32": 32, "32x2": 64, "64": 64, "128": 128}


def width_of(type_name: str) -> int:
    """The number of bits of a type such as `u32`, `b64`, `pred` or `f16x2`."""
    return WIDTHS.get(type_name.lstrip("bfsu") if type_name != "pred" else type_name, 0)


def registers_in(operand: Operand) -> Iterator[str]:
    """The names of the registers in an operand."""
    if isinstance(operand, Register):
        yield operand.name
    elif isinstance(operand, Negated):
        yield operand.register.name
    elif isinstance(operand, Address):
        yield from registers_in(operand.base)
    elif isinstance(operand, Group):
        for item in operand.items:
            yield from registers_in(item)
