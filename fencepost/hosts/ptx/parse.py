"""PTX text → `Module`. Reads what compilers print and what inline assembly adds: scopes with their own registers,
several instructions on a line, line tables with the calls that were inlined."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fencepost.hosts.ptx.module import (
    Instruction,
    Label,
    Location,
    Module,
    Operand,
    Parameter,
    PtxError,
    Register,
    Routine,
    Symbol,
    Variable,
    width_of,
)
from fencepost.hosts.ptx.operands import read_integer, read_operand, split_at_commas
from fencepost.hosts.ptx.statements import Cutter, Statement

LOC = re.compile(
    r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:\s*,\s*function_name\s+\S+?\s*,\s*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?"
)
FILE = re.compile(r'\.file\s+(\d+)\s+"((?:\\.|[^"\\])*)"(?:\s+"((?:\\.|[^"\\])*)")?')
REGISTER = re.compile(r"\.reg\s*(?:\.v[24])?\s*\.(\w+)\s+(.*)")
VARIABLE = re.compile(
    r"(?:\.(?:extern|visible|weak|common)\s+)*\.(?P<space>shared|local|const|global|param)"
    r"(?:::\w+)?\s*(?P<rest>.*)"
)
DECLARED = re.compile(
    r"(?:\.align\s+(?P<align>\d+)\s*)?(?:\.(?P<vector>v[24])\s*)?\.(?P<type>\w+)\s+(?P<names>[^=]+)"
)
ROUTINE = re.compile(r"\.(?P<kind>entry|func)\b(?P<rest>.*)", re.DOTALL)
GUARD = re.compile(r"@\s*(!?)\s*([%\w$.]+)\s+(.*)", re.DOTALL)
Coordinates = tuple[int, int, int]


@dataclass
class LineTable:
    """What `.file` and `.loc` have said so far."""

    files: dict[int, str] = field(default_factory=dict)
    callers: dict[Coordinates, Coordinates] = field(default_factory=dict)
    current: Location | None = None

    def read(self, text: str) -> None:
        """Takes in a `.file` or `.loc` directive; `.loc` says where the next instructions come from."""
        if (match := FILE.match(text)) is not None:
            self.files[int(match[1])] = match[2] if match[3] is None else f"{match[2]}/{match[3]}"
        elif (match := LOC.match(text)) is not None:
            here = (int(match[1]), int(match[2]), int(match[3]))
            self.callers.pop(here, None)
            if match[4]:
                self.callers[here] = (int(match[4]), int(match[5]), int(match[6]))
            if here[1] or self.current is None:
                # Line 0 is code that the compiler moved: it is shown with what stands before it.
                self.current = Location(self.files.get(here[0], "source"), here[1], self._chain(here))

    def _chain(self, here: Coordinates) -> tuple[int, ...]:
        lines: list[int] = []
        caller = self.callers.get(here)
        while caller is not None and len(lines) < 32:
            lines.append(caller[1])
            caller = self.callers.get(caller)
        return tuple(lines)


@dataclass
class Scope:
    """The registers declared in one `{ }`: single names and families such as `%r<15>`."""

    number: int
    names: dict[str, str] = field(default_factory=dict)
    families: dict[str, tuple[str, int]] = field(default_factory=dict)

    def lookup(self, name: str) -> Register | None:
        """The register of that name declared in this scope."""
        declared = self.names.get(name)
        if declared is None:
            match = re.fullmatch(r"(.*?)(\d+)", name)
            # The digits of a family's name belong to the name: `%rd<9>` and `%r1x<3>`.
            while match is not None and declared is None:
                family = self.families.get(match[1])
                if family is not None and int(match[2]) < family[1]:
                    declared = family[0]
                match = re.fullmatch(rf"({re.escape(match[1])}\d)(\d+)", name)
        if declared is None:
            return None
        return Register(name if self.number <= 1 else f"{name}@{self.number}", declared)


@dataclass
class Body:
    """A routine while it is read."""

    routine: Routine
    items: list[Instruction | Label] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    scopes: list[Scope] = field(default_factory=list)

    def lookup(self, name: str) -> Register | None:
        """The register a name means here: the innermost scope that declares it."""
        for scope in reversed(self.scopes):
            if (found := scope.lookup(name)) is not None:
                return found
        return None


class Parser:
    """Reads one PTX text."""

    def __init__(self, text: str) -> None:
        self.cutter = Cutter(text)
        self.lines = LineTable()
        # Compilers print `.file` at the end.
        for match in FILE.finditer(text):
            self.lines.read(match[0])
        self.target = ""
        self.routines: dict[str, Routine] = {}
        self.variables: list[Variable] = []
        self.body: Body | None = None
        self.scopes = 0

    def module(self) -> Module:
        """The module of the whole text."""
        pending: Routine | None = None
        for statement in self.cutter.statements():
            if statement.kind == "directive":
                self._directive(statement)
            elif self.body is not None:
                self._in_body(self.body, statement)
            elif statement.kind == "open" and pending is not None:
                self.scopes += 1
                self.body = Body(pending, scopes=[Scope(1)])
                pending = None
            elif statement.kind == "code":
                pending = self._at_top(statement)
            else:
                raise PtxError(f"line {statement.line}: `{statement.text}` stands outside of a routine")
        if self.body is not None:
            raise PtxError(
                f"line {self.body.routine.line}: the body of {self.body.routine.name} is not closed"
            )
        if not self.target:
            raise PtxError("line 1: this is not PTX: there is no `.target`")
        return Module(self.target, self.routines, tuple(self.variables))

    def _directive(self, statement: Statement) -> None:
        if statement.text.startswith(".target"):
            self.target = statement.text.split(None, 1)[1].split(",")[0].strip()
        else:
            self.lines.read(statement.text)

    def _at_top(self, statement: Statement) -> Routine | None:
        match = ROUTINE.search(statement.text)
        if match is not None and not statement.text.startswith(".alias"):
            routine = read_head(match["kind"] == "entry", match["rest"], statement.line)
            self.routines.setdefault(routine.name, routine)
            return routine
        self.variables += read_variables(statement.text)
        return None

    def _in_body(self, body: Body, statement: Statement) -> None:
        if statement.kind == "open":
            self.scopes += 1
            body.scopes.append(Scope(self.scopes))
        elif statement.kind == "close":
            body.scopes.pop()
            if not body.scopes:
                self._finish(body)
        elif statement.kind == "label":
            body.items.append(Label(self._label(body, statement.text)))
        elif statement.text.startswith("."):
            self._declaration(body, statement)
        else:
            body.items.append(self._instruction(body, statement))

    def _label(self, body: Body, name: str) -> str:
        # Labels of inline assembly may repeat, each in its own scope.
        if len(body.scopes) > 1 and any(isinstance(item, Label) and item.name == name for item in body.items):
            return f"{name}@{body.scopes[-1].number}"
        return name

    def _finish(self, body: Body) -> None:
        done = body.routine
        self.routines[done.name] = Routine(
            done.name,
            done.is_kernel,
            done.parameters,
            done.results,
            tuple(body.items),
            tuple(body.variables),
            body.targets,
            done.required_block,
            done.largest_block,
            done.line,
        )
        self.body = None
        self.lines.current = None

    def _declaration(self, body: Body, statement: Statement) -> None:
        if (match := REGISTER.match(statement.text)) is not None:
            for name in split_at_commas(match[2]):
                family = re.fullmatch(r"(.+?)<(\d+)>", name)
                if family is not None:
                    body.scopes[-1].families[family[1]] = (match[1], int(family[2]))
                else:
                    body.scopes[-1].names[name] = match[1]
        elif statement.text.startswith(".branchtargets"):
            label = body.items.pop()
            assert isinstance(label, Label)
            names = split_at_commas(statement.text.removeprefix(".branchtargets"))
            body.targets[label.name] = tuple(names)
        else:
            body.variables += read_variables(statement.text)

    def _instruction(self, body: Body, statement: Statement) -> Instruction:
        text, guard, negated = statement.text, None, False
        if text.startswith("@"):
            match = GUARD.fullmatch(text)
            guard = body.lookup(match[2]) if match is not None else None
            if match is None or guard is None:
                raise PtxError(f"line {statement.line}: the predicate of `{text}` is not a register")
            negated, text = match[1] == "!", match[3]
        opcode, _, rest = text.partition(" ")
        operands: list[Operand] = [
            read_operand(piece, body.lookup, statement.line) for piece in split_at_commas(rest)
        ]
        if opcode.startswith("bra") and operands and isinstance(operands[0], Symbol):
            scoped = f"{operands[0].name}@{body.scopes[-1].number}"
            if Label(scoped) in body.items:
                operands[0] = Symbol(scoped)
        return Instruction(
            tuple(opcode.split(".")),
            tuple(operands),
            statement.line,
            statement.text,
            guard,
            negated,
            self.lines.current,
            statement.span,
        )


def read_variables(text: str) -> list[Variable]:
    """The variables of one declaration; nothing for other directives."""
    match = VARIABLE.match(text)
    if match is None or (declared := DECLARED.match(match["rest"])) is None:
        return []
    element = max(width_of(declared["type"]), 8) // 8
    if declared["vector"]:
        element *= int(declared["vector"][1:])
    found = []
    for name in split_at_commas(declared["names"]):
        array = re.fullmatch(r"([\w$%]+)\s*((?:\[\s*\w*\s*\]\s*)*)", name)
        if array is None:
            continue
        size: int | None = element
        for extent in re.findall(r"\[\s*(\w*)\s*\]", array[2]):
            number = read_integer(extent)
            size = size * number if size is not None and number is not None else None
        align = int(declared["align"] or element)
        found.append(Variable(array[1], match["space"], size, align))
    return found


def read_head(is_kernel: bool, text: str, line: int) -> Routine:
    """A routine without its body, from the text after `.entry` or `.func`."""
    text = text.replace(".noreturn", " ").strip()
    results: tuple[Parameter, ...] = ()
    if text.startswith("("):
        end = text.index(")")
        results = _read_parameters(text[1:end])
        text = text[end + 1 :].strip()
    match = re.match(r"([\w$%]+)\s*(?:\(([^)]*)\))?(.*)", text, re.DOTALL)
    if match is None:
        raise PtxError(f"line {line}: a routine has no name")
    return Routine(
        match[1],
        is_kernel,
        _read_parameters(match[2] or ""),
        results,
        required_block=_block(match[3], "reqntid"),
        largest_block=_block(match[3], "maxntid"),
        line=line,
    )


def _block(text: str, directive: str) -> tuple[int, int, int] | None:
    match = re.search(rf"\.{directive}\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", text)
    if match is None:
        return None
    x, y, z = (int(size or 1) for size in match.groups())
    return (x, y, z)


def _read_parameters(text: str) -> tuple[Parameter, ...]:
    found = []
    for piece in split_at_commas(text):
        match = re.fullmatch(
            r"\.(?:param|reg)\s+(?:\.align\s+\d+\s+)?\.(\w+)\s*(?:\.ptr\s*(?:\.\w+\s*(?:\d+\s*)?)*)?"
            r"([\w$%]+)\s*(?:\[\s*(\d*)\s*\])?",
            piece,
        )
        if match is not None:
            element = max(width_of(match[1]), 8) // 8
            found.append(Parameter(match[2], match[1], element * int(match[3] or 1)))
    return tuple(found)


def parse(text: str) -> Module:
    """Reads a PTX text; raises `PtxError` if it is none."""
    return Parser(text).module()
