"""PTX text → `Module`. Reads what compilers print and what inline assembly adds: scopes with their own registers,
several instructions on a line, line tables with the calls that were inlined."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import takewhile

from fencepost.hosts.ptx.reading.module import (
    Group,
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
from fencepost.hosts.ptx.reading.operand_counts import misshapen
from fencepost.hosts.ptx.reading.operands import read_integer, read_operand, split_at_commas
from fencepost.hosts.ptx.reading.statements import Cutter, Statement

LOC = re.compile(
    r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:\s*,\s*function_name\s+\S+?\s*,\s*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?"
)
FILE = re.compile(r'\.file\s+(\d+)\s+"((?:\\.|[^"\\])*)"(?:\s+"((?:\\.|[^"\\])*)")?')
REGISTER = re.compile(r"\.reg\s*(?:\.v(?P<vector>[24]))?\s*\.(?P<type>\w+)\s+(?P<names>.*)")
VARIABLE = re.compile(
    r"(?:\.(?:extern|visible|weak|common)\s+)*\.(?P<space>shared|local|const|global|param)"
    r"(?:::\w+)?\s*(?P<rest>.*)"
)
DECLARED = re.compile(
    r"(?:\.align\s+(?P<align>\d+)\s*)?(?:\.(?P<vector>v[24])\s*)?\.(?P<type>\w+)\s+(?P<names>[^=]+)"
    r"(?:=(?P<values>.*))?",
    re.DOTALL,
)
INITIAL = re.compile(r"\s*(?:\{([^{}]*)\}|([^{},]*))\s*;?\s*")
ROUTINE = re.compile(r"\.(?P<kind>entry|func)\b(?P<rest>.*)", re.DOTALL)
GUARD = re.compile(r"@\s*(!?)\s*([%\w$.]+)\s+(.*)", re.DOTALL)
OPCODE = re.compile(r"[A-Za-z_][\w.:]*(?=[\s(\[{]|$)")
Coordinates = tuple[int, int, int]


@dataclass
class LineTable:
    """What `.file` and `.loc` have said so far."""

    files: dict[int, str] = field(default_factory=dict)
    callers: dict[Coordinates, Coordinates] = field(default_factory=dict)
    current: Location | None = None
    own: tuple[int, int] | None = None
    """The file of the routine that is read, and the last line of it; debug builds do not say who inlined what."""

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
                chain = self._chain(here)
                near = takewhile(lambda each: each[0] == here[0], chain)
                lines = tuple(each[1] for each in chain)
                self.current = Location(
                    self.files.get(here[0], "source"), here[1], lines, sum(1 for _ in near)
                )
            if here[1] and (self.own is None or self.own[0] == here[0]):
                self.own = here[:2]

    def end_routine(self) -> None:
        """What follows belongs to another routine."""
        self.current = self.own = None

    def _chain(self, here: Coordinates) -> list[tuple[int, int]]:
        """The calls around a place, innermost first: their files and lines."""
        if here not in self.callers and self.own is not None and self.own[0] != here[0]:
            return [self.own]
        calls: list[tuple[int, int]] = []
        caller = self.callers.get(here)
        while caller is not None and len(calls) < 32:
            calls.append(caller[:2])
            caller = self.callers.get(caller)
        return calls


@dataclass
class Scope:
    """What is declared in one `{ }`: registers, families of them such as `%r<15>`, vectors, and variables."""

    number: int
    names: dict[str, str] = field(default_factory=dict)
    families: dict[str, tuple[str, int]] = field(default_factory=dict)
    vectors: dict[str, int] = field(default_factory=dict)
    variables: set[str] = field(default_factory=set)

    def unique(self, name: str) -> str:
        """A name that no other scope of the routine has; those of the outermost one stay as they are."""
        return name if self.number <= 1 else f"{name}@{self.number}"

    def lookup(self, name: str) -> Register | Group | None:
        """The register or vector of that name declared in this scope."""
        if (count := self.vectors.get(name)) is not None:
            kind = self.names[name]
            return Group(tuple(Register(f"{self.unique(name)}.{part}", kind) for part in "xyzw"[:count]))
        base, _, part = name.rpartition(".")
        if base in self.vectors and part in COMPONENTS:
            return Register(f"{self.unique(base)}.{COMPONENTS[part]}", self.names[base])
        declared = self.names.get(name) or self._of_family(name)
        return None if declared is None else Register(self.unique(name), declared)

    def _of_family(self, name: str) -> str | None:
        """The type of a member of a family. Digits may belong to the family's name: `%rd<9>` and `%r1x<3>`."""
        digits = len(name) - len(name.rstrip("0123456789"))
        for at in range(len(name) - digits, len(name)):
            family = self.families.get(name[:at])
            if family is not None and len(name) - at < 12 and int(name[at:]) < family[1]:
                return family[0]
        return None


COMPONENTS = {"x": "x", "y": "y", "z": "z", "w": "w", "r": "x", "g": "y", "b": "z", "a": "w"}
"""How components of vectors may be called, and how they are called here."""


@dataclass
class Body:
    """A routine while it is read."""

    routine: Routine
    items: list[Instruction | Label] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    scopes: list[Scope] = field(default_factory=list)
    labels: dict[str, dict[int, str]] = field(default_factory=dict)
    """For each label, by the scope that it stands in, its unique name."""
    around: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """The scopes around each branch and table of targets, innermost first, by the number of the item."""
    tables: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The scopes around each table of branch targets."""
    single: bool = True
    """Whether decimal constants of the instruction that is being read are f32."""

    def register(self, name: str) -> Register | Group | None:
        """The register a name means here: the innermost scope that declares it."""
        for scope in reversed(self.scopes):
            if (found := scope.lookup(name)) is not None:
                return found
        return None

    def variable(self, name: str) -> str:
        """The variable that a name means here, by its unique name."""
        for scope in reversed(self.scopes):
            if name in scope.variables:
                return scope.unique(name)
        return name

    def around_here(self) -> tuple[int, ...]:
        """The numbers of the scopes around the statement that is read, innermost first."""
        return tuple(scope.number for scope in reversed(self.scopes))

    def add_label(self, name: str) -> None:
        """A label; the same name may stand once in each scope."""
        here = self.labels.setdefault(name, {})
        unique = name if not here else f"{name}@{self.scopes[-1].number}"
        if self.scopes[-1].number in here:
            raise PtxError(f"the label `{name}` stands here for the second time")
        here[self.scopes[-1].number] = unique
        self.items.append(Label(unique))

    def target(self, name: str, around: tuple[int, ...]) -> str:
        """The label that a name means in some scopes; labels may come after the branches to them."""
        here = self.labels.get(name, {})
        return next((here[number] for number in around if number in here), name)

    def resolved(self) -> tuple[Instruction | Label, ...]:
        """The items with branches to labels of their own scopes."""
        found: list[Instruction | Label] = []
        for at, item in enumerate(self.items):
            if isinstance(item, Instruction) and at in self.around:
                operands = tuple(
                    Symbol(self.target(each.name, self.around[at])) if isinstance(each, Symbol) else each
                    for each in item.operands
                )
                item = replace(item, operands=operands)
            found.append(item)
        return tuple(found)

    def resolved_tables(self) -> dict[str, tuple[str, ...]]:
        """The tables of branch targets with labels of their own scopes."""
        return {
            table: tuple(self.target(each, self.tables[table]) for each in names)
            for table, names in self.targets.items()
        }


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
        self.aliases: dict[str, str] = {}
        self.body: Body | None = None
        self.scopes = 0

    def module(self) -> Module:
        """The module of the whole text."""
        pending: Routine | None = None
        for statement in self.cutter.statements():
            try:
                pending = self._statement(statement, pending)
            except PtxError as error:
                raise error if str(error).startswith("line ") else statement.error(str(error)) from None
        if self.body is not None:
            raise PtxError(f"the body of {self.body.routine.name} is not closed", self.body.routine.line)
        if not self.target:
            raise PtxError("this is not PTX: there is no `.target`", 1)
        return Module(self.target, self.routines, tuple(self.variables), self.aliases)

    def _statement(self, statement: Statement, pending: Routine | None) -> Routine | None:
        """Takes in a statement; gives the routine whose body comes next."""
        if statement.kind == "directive":
            self._directive(statement)
            return pending
        if self.body is not None:
            self._in_body(self.body, statement)
        elif statement.kind == "open" and pending is not None:
            outermost = Scope(1, names={each.name: each.type for each in in_registers(pending)})
            self.scopes = 1
            self.body = Body(pending, scopes=[outermost])
        elif statement.kind == "code":
            return self._at_top(statement)
        else:
            raise PtxError(f"`{statement.text}` stands outside of a routine")
        return None

    def _directive(self, statement: Statement) -> None:
        if statement.text.startswith(".target"):
            self.target = statement.text.removeprefix(".target").split(",")[0].strip()
        else:
            self.lines.read(statement.text)

    def _at_top(self, statement: Statement) -> Routine | None:
        if statement.text.startswith(".alias"):
            names = split_at_commas(statement.text.removeprefix(".alias"))
            if len(names) == 2:
                self.aliases[names[0]] = names[1]
            return None
        match = ROUTINE.search(statement.text)
        if match is not None:
            routine = read_head(match["kind"] == "entry", match["rest"], statement.line)
            self.routines.setdefault(routine.name, routine)
            return routine
        if not statement.text.startswith("."):
            raise PtxError(f"`{shortened(statement.text)}` stands outside of a routine")
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
            body.add_label(statement.text)
        elif statement.text.startswith("."):
            self._declaration(body, statement)
        else:
            body.items.append(self._instruction(body, statement))

    def _finish(self, body: Body) -> None:
        done = body.routine
        if self.routines[done.name].defined:
            raise PtxError(f"{done.name} is defined for the second time")
        self.routines[done.name] = replace(
            done,
            body=body.resolved(),
            variables=tuple(body.variables),
            branch_targets=body.resolved_tables(),
            defined=True,
        )
        self.body = None
        self.lines.end_routine()

    def _declaration(self, body: Body, statement: Statement) -> None:
        scope = body.scopes[-1]
        if (match := REGISTER.match(statement.text)) is not None:
            if width_of(match["type"]) == 0:
                raise PtxError(f"registers of type `.{match['type']}` are not known")
            for name in split_at_commas(match["names"]):
                family = re.fullmatch(r"(.+?)\s*<\s*(\d{1,9})\s*>", name)
                if family is not None:
                    scope.families[family[1]] = (match["type"], int(family[2]))
                else:
                    scope.names[name] = match["type"]
                    if match["vector"]:
                        scope.vectors[name] = int(match["vector"])
        elif statement.text.startswith((".branchtargets", ".calltargets", ".callprototype")):
            label = body.items.pop() if body.items else None
            if not isinstance(label, Label):
                raise PtxError(f"`{shortened(statement.text)}` has no label before it")
            names = statement.text.partition(" ")[2]
            body.targets[label.name] = tuple(split_at_commas(names))
            body.tables[label.name] = body.around_here()
        else:
            for variable in read_variables(statement.text):
                scope.variables.add(variable.name)
                body.variables.append(replace(variable, name=scope.unique(variable.name)))

    def _instruction(self, body: Body, statement: Statement) -> Instruction:
        text, guard, negated = statement.text, None, False
        if text.startswith("@"):
            match = GUARD.fullmatch(text)
            found = body.register(match[2]) if match is not None else None
            if match is None or not isinstance(found, Register):
                raise PtxError(f"the predicate of `{shortened(text)}` is not a register")
            guard, negated, text = found, match[1] == "!", match[3]
        opcode, rest = OPCODE.match(text), ""
        if opcode is None:
            raise PtxError(f"`{shortened(text)}` is not an instruction")
        rest = text[opcode.end() :]
        body.single = not opcode[0].endswith("f64")
        operands: list[Operand] = [read_operand(piece, body) for piece in split_at_commas(rest)]
        parts = tuple(opcode[0].split("."))
        if (wrong := misshapen(parts, tuple(operands))) is not None:
            raise PtxError(wrong)
        if parts[0] in ("bra", "brx"):
            body.around[len(body.items)] = body.around_here()
        return Instruction(
            parts,
            tuple(operands),
            statement.line,
            statement.text,
            guard,
            negated,
            self.lines.current,
            statement.span,
        )


def shortened(text: str) -> str:
    """The beginning of a text, for a message."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def in_registers(routine: Routine) -> list[Parameter]:
    """Parameters and results that a function has in registers."""
    return [each for each in (*routine.parameters, *routine.results) if each.in_register]


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
        initial = _initial(declared["values"], max(width_of(declared["type"]), 8) // 8, size)
        found.append(Variable(array[1], match["space"], size, align, initial))
    return found if len(found) < 2 else [replace(each, initial=None) for each in found]


def _initial(values: str | None, element: int, size: int | None) -> bytes | None:
    """What a variable holds at first; None if that is not written as integers, in one list."""
    match = INITIAL.fullmatch(values) if values is not None else None
    if match is None or size is None:
        return None
    numbers = [read_integer(each) for each in split_at_commas(match[1] or match[2])]
    found = b""
    for number in numbers:
        if number is None:
            return None
        found += (number % (1 << 8 * element)).to_bytes(element, "little")
    return found.ljust(size, b"\0") if len(found) <= size else None


def read_head(is_kernel: bool, text: str, line: int) -> Routine:
    """A routine without its body, from the text after `.entry` or `.func`."""
    text = text.replace(".noreturn", " ").strip()
    results: tuple[Parameter, ...] = ()
    if text.startswith("("):
        inside, closed, text = text[1:].partition(")")
        if not closed:
            raise PtxError("the results of a function are not closed by `)`")
        results = _read_parameters(inside)
        text = text.strip()
    match = re.match(r"([\w$%]+)\s*(?:\(([^)]*)\))?(.*)", text, re.DOTALL)
    if match is None:
        raise PtxError("a routine has no name")
    return Routine(
        match[1],
        is_kernel,
        _read_parameters(match[2] or ""),
        results,
        required_block=_block(match[3], "reqntid"),
        largest_block=_block(match[3], "maxntid"),
        required_cluster=_block(match[3], "reqnctapercluster"),
        line=line,
    )


def _block(text: str, directive: str) -> tuple[int, int, int] | None:
    match = re.search(rf"\.{directive}\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", text)
    if match is None:
        return None
    x, y, z = (int(size or 1) for size in match.groups())
    return (x, y, z)


PARAMETER = re.compile(
    r"\.(?P<space>param|reg)\s+(?:\.align\s+\d+\s+)?(?:\.v[24]\s+)?\.(?P<type>\w+)\s*"
    r"(?:\.ptr\s*(?:\.\w+\s*(?:\d+\s*)?)*)?"
    r"(?P<name>[\w$%]+)\s*(?:\[\s*(?P<count>\d*)\s*\])?"
)


def _read_parameters(text: str) -> tuple[Parameter, ...]:
    found = []
    for piece in split_at_commas(text):
        match = PARAMETER.fullmatch(piece)
        if match is None:
            raise PtxError(f"`{shortened(piece)}` is not a parameter that can be read")
        element = max(width_of(match["type"]), 8) // 8
        size = element * int(match["count"] or 1)
        found.append(Parameter(match["name"], match["type"], size, match["space"] == "reg"))
    return tuple(found)


def parse(text: str) -> Module:
    """Reads a PTX text; raises `PtxError` if it is none."""
    return Parser(text).module()
