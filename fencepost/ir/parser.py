"""Text to kernels: the kernels and functions of a file, their regions, what these forward, branches and calls.

`syntax` makes statements of the text, `operation_statements` operations of those that are one; here they are put
together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer
from fencepost.ir.comments import attach_comments, attach_file_comments
from fencepost.ir.expr import Expr, Var
from fencepost.ir.limits import check_expected, check_frame, check_size, check_step, check_waves
from fencepost.ir.loop_carried import carry, follows, forward, misplaced
from fencepost.ir.operation_statements import OperationReader
from fencepost.ir.scopes import Names
from fencepost.ir.source import FencepostError, Mark, Source, Span, UsageError, token_span
from fencepost.ir.syntax import Statement, integer, opening, read_statements
from fencepost.ir.trace import Body, CapturedTrace, Function, Graph

if TYPE_CHECKING:
    from lark.lexer import Token


WORDS = {"kernel": "kernel", "func": "function"}


def parse(text: str, name: str = "<text>") -> CapturedTrace:
    """The one kernel in `text`."""
    kernels = parse_all(text, name)
    if len(kernels) != 1:
        second = kernels[1].blocks[0].span if kernels else None
        raise FencepostError(
            f"{len(kernels)} kernels where one was expected",
            [Mark(second, "the second one")],
            code="FP102",
            source=Source(name, text),
        )
    return kernels[0]


def parse_all(text: str, name: str = "<text>") -> list[CapturedTrace]:
    """Every kernel in `text`, in order."""
    if not isinstance(text, str):
        raise UsageError(f"a kernel in text form is a string, not {type(text).__name__}")
    source = Source(name, text)
    try:
        statements = read_statements(source)
        file = _declared(source, statements)
        # Functions first: a kernel may call one that stands below it. Among themselves they stand in order.
        for statement in statements:
            if statement.rule == "func":
                function = read_function(file, statement)
                file.functions[function.name] = function
        bodies: list[Body] = [
            file.functions[statement.parts[1][1:]]
            if statement.rule == "func"
            else read_kernel(file, statement)
            for statement in statements
        ]
    except FencepostError as error:
        error.source = source
        raise
    attach_file_comments(source, bodies, [(body.line, body.end_line) for body in statements])
    return _with_functions_around(bodies)


def _declared(source: Source, statements: list[Statement]) -> File:
    """What a file holds by name; nothing has been read yet."""
    file = File(source)
    for statement in statements:
        name, rule = statement.parts[1][1:], statement.rule
        span = opening(source, statement)
        if name in file.kinds:
            first = file.kinds[name]
            message = (
                f"a second {WORDS[rule]} is called @{name}"
                if first == rule
                else f"a {WORDS[first]} is called @{name} already"
            )
            raise FencepostError(message, [Mark(span), Mark(file.spans[name], "the first one")], code="FP102")
        file.kinds[name], file.spans[name] = rule, span
    return file


def _with_functions_around(bodies: list[Body]) -> list[CapturedTrace]:
    """The kernels of a file; each remembers the functions that stand above it, the last one those below."""
    kernels: list[CapturedTrace] = []
    above: list[Function] = []
    for body in bodies:
        if isinstance(body, CapturedTrace):
            body.above, above = tuple(above), []
            kernels.append(body)
        elif isinstance(body, Function):
            above.append(body)
    if kernels:
        kernels[-1].below = tuple(above)
    return kernels


@dataclass(slots=True)
class File:
    """What stands in a file, by name."""

    source: Source
    kinds: dict[str, str] = field(default_factory=dict)
    """The word that each kernel or function begins with."""
    spans: dict[str, Span] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    """Those that have been read."""


def read_kernel(file: File, statement: Statement) -> CapturedTrace:
    """The kernel that a statement describes."""
    _, name, waves, *rest, _ = statement.parts
    trace = CapturedTrace(name[1:], {}, [], file.source, waves=check_waves(integer(waves), token_span(waves)))
    _BodyReader.of(file, trace).read(statement, rest)
    return trace


def read_function(file: File, statement: Statement) -> Function:
    """The function that a statement describes."""
    _, name, *rest, _ = statement.parts
    function = Function(name[1:], {}, [], file.source)
    _BodyReader.of(file, function).read(statement, rest)
    return function


@dataclass(slots=True)
class _BodyReader:
    """One kernel or function while it is put together."""

    file: File
    body: Body
    names: Names
    operations: OperationReader
    targets: list[Token] = field(default_factory=list)
    """The labels that branches name."""
    ends: list[tuple[int, Graph]] = field(default_factory=list)
    """On which line each graph ends."""
    regions: int = 0

    @classmethod
    def of(cls, file: File, body: Body) -> _BodyReader:
        names = Names(body.buffers)
        return cls(file, body, names, OperationReader(file.source, names))

    def read(self, statement: Statement, parts: list[Any]) -> None:
        """Everything between the braces of `statement`."""
        body = self.body
        # Blocks may be named and their numbers used above them in the text.
        params = {str(part.parts[0]): self.params(part) for part in parts if _is_block(part)}
        for part in parts:
            if isinstance(part, list):
                body.blocks.append(Graph("entry", span=opening(self.file.source, statement)))
                self.fill(body.blocks[-1], part)
            elif part.rule == "buffer":
                self.buffer(part)
            elif part.rule == "given":
                self.given(part)
            else:
                label, _, statements = part.parts
                self.names.claim(str(label), token_span(label))
                self.ends.append((part.line, body.blocks[-1]))
                body.blocks.append(Graph(label[1:], span=token_span(label), params=params[str(label)]))
                self.fill(body.blocks[-1], statements)
        self.ends.append((statement.end_line, body.blocks[-1]))
        self.operations.resolve()
        self.check_targets()
        attach_comments(body, (statement.line, statement.end_line), self.ends)

    def params(self, block: Statement) -> tuple[ops.Carried, ...]:
        """The numbers that branches to a block forward, made known everywhere."""
        found: list[ops.Carried] = []
        for token in block.parts[1] or ():
            name = ops.Carried(name=token[1:], span=token_span(token))
            name.kind = ops.NUMBER
            self.names.announce(name)
            self.names.define_parameter(name)
            found.append(name)
        return tuple(found)

    def buffer(self, statement: Statement) -> None:
        _, name, slots, size, offset = statement.parts
        count, each = 1 if slots is None else integer(slots), integer(size)
        span = opening(self.file.source, statement)
        if each < 1 or count < 1:
            least = slots if count < 1 else size
            raise FencepostError(
                "a buffer has at least one slot of at least one byte", [Mark(token_span(least))]
            )
        check_size(name[1:], count * each, span)
        place = None if offset is None else integer(offset)
        buffer = Buffer(name[1:], each, count, place, span, number=len(self.names.buffers))
        self.names.define_buffer(buffer, token_span(name))

    def given(self, statement: Statement) -> None:
        _, name = statement.parts
        assert isinstance(self.body, CapturedTrace)
        self.names.define_given(name[1:], token_span(name))
        self.body.numbers[name[1:]] = token_span(name)

    # ------------------------------------------------------------ regions

    def fill(self, graph: Graph, statements: list[Statement]) -> None:
        """Put `statements` and what is nested in them into `graph`, without recursion: kernels nest deep."""
        operations = self.operations
        todo: list[tuple[Graph, Iterator[Statement]]] = [(graph, iter(statements))]
        while todo:
            into, rest = todo[-1]
            operations.here = into
            statement = next(rest, None)
            if statement is None:
                todo.pop()
                self.leave(into)
                continue
            if isinstance(into.last, (ops.Next, ops.Give)):
                raise follows(into.last, opening(self.file.source, statement))
            op = operations.read(statement)
            if op is not None:
                into.append(op)
            elif statement.rule == "loop":
                loop = self.loop(statement)
                into.append(loop)
                todo.append((loop.body, iter(statement.parts[7])))
            elif statement.rule == "conditional":
                conditional = self.conditional(statement)
                into.append(conditional)
                *_, then, _, orelse, _ = statement.parts
                # A side that is not written gives nothing, and has to be looked at as well.
                if orelse is not None or conditional.gives:
                    todo.append((conditional.orelse, iter(orelse or ())))
                todo.append((conditional.then, iter(then)))
            else:
                into.append(self.transfer(statement))

    def leave(self, graph: Graph) -> None:
        """Behind a loop or conditional, what it forwards can be used."""
        owner = graph.owner
        forward(graph)
        if isinstance(owner, ops.Iterate):
            names = owner.carried
        elif isinstance(owner, ops.Conditional) and graph is owner.orelse:
            names = owner.gives
        else:
            return
        for name in names:
            assert owner.graph is not None
            self.names.introduce(name, owner.graph)

    def loop(self, statement: Statement) -> ops.Iterate:
        _, var, start, stop, step, expected, bindings, _, _ = statement.parts
        self.names.claim(str(var), token_span(var))
        # What names begin as is said in terms of what stands outside.
        carried = tuple(
            carry(token[1:], self.handed(init, token_span(token)), token_span(token))
            for token, init in bindings or ()
        )
        stride = 1 if step is None else check_step(integer(step), token_span(step))
        loop = ops.Iterate(
            var[1:],
            start,
            stop if isinstance(stop, int) else None,
            stride,
            carried,
            body=self.region(),
            span=opening(self.file.source, statement),
        )
        if not isinstance(stop, int) and stop != "?":
            loop.upto = self.names.given_at(stop[1:], token_span(stop))
        _expect(loop, _settings(expected))
        loop.body.owner = loop
        self.ends.append((statement.end_line, loop.body))
        self.names.define_variable(loop.var, loop.body)
        for name in carried:
            self.names.announce(name)
            self.names.introduce(name, loop.body)
        return loop

    def conditional(self, statement: Statement) -> ops.Conditional:
        span = opening(self.file.source, statement)
        condition = self.names.check_condition(statement.parts[1], self.operations.here, span)
        op = ops.Conditional(condition, then=self.region(), orelse=self.region(), span=span)
        _expect(op, _settings(statement.parts[2]))
        op.then.owner = op.orelse.owner = op
        for token in statement.parts[3] or ():
            name = ops.Carried(name=token[1:], span=token_span(token))
            self.names.announce(name)
            op.gives += (name,)
        *_, closed, orelse, _ = statement.parts
        self.ends.append((closed.line, op.then))
        self.ends.append((statement.end_line, op.then if orelse is None else op.orelse))
        return op

    def region(self) -> Graph:
        self.regions += 1
        return Graph(f"region_{self.regions}")

    def handed(self, expr: Expr, span: Span) -> ops.Forwarded:
        """What an expression forwards: a name alone can be a buffer or a value as well."""
        if isinstance(expr, Var):
            return self.names.handed_at(expr.name, self.operations.here, span)
        self.names.check_numbers(expr, self.operations.here, span)
        return expr

    # ------------------------------------------------------------ going elsewhere

    def transfer(self, statement: Statement) -> ops.Operation:
        """The end of a region, a branch or a call."""
        rule, parts, span = statement.rule, statement.parts, opening(self.file.source, statement)
        if rule == "call":
            return self.call(parts, span)
        if rule in ("next", "give"):
            wanted: type[ops.Operation] = ops.Iterate if rule == "next" else ops.Conditional
            if not isinstance(self.operations.here.owner, wanted):
                raise misplaced(rule, span)
            values = tuple(self.handed(expr, span) for expr in parts[1:])
            return ops.Next(values, span=span) if rule == "next" else ops.Give(values, span=span)
        if isinstance(self.body, Function):
            raise FencepostError(
                f"{rule} in a function, which has no blocks and ends at its brace", [Mark(span)], code="FP106"
            )
        if rule == "return":
            return ops.Return(span=span)
        if rule == "br":
            self.targets.append(parts[1])
            for number in parts[2] or ():
                self.names.check_numbers(number, self.operations.here, span)
            return ops.Branch(parts[1][1:], tuple(parts[2] or ()), span=span)
        _, condition, then, first, orelse, second, weighed = parts
        if first or second:
            raise FencepostError(
                "cond_br forwards nothing",
                [Mark(span)],
                code="FP109",
                notes=[("help", "branch to a block of its own, and from there with `br`")],
            )
        condition = self.names.check_condition(condition, self.operations.here, span)
        self.targets += (then, orelse)
        branch = ops.CondBranch(condition, then[1:], orelse[1:], span=span)
        settings = _settings(weighed)
        if "trip" in settings:
            branch.trip = _whole(settings["trip"][1])
        _expect(branch, settings)
        return branch

    def call(self, parts: list[Any], span: Span) -> ops.Call:
        _, token, frame = parts
        function = self.file.functions.get(token[1:])
        if function is None:
            raise self.no_function(token)
        place = 0 if frame is None else check_frame(integer(frame), token_span(frame))
        return ops.Call(function, place, span=span)

    def no_function(self, token: Token) -> FencepostError:
        """A complaint about a call of something that cannot be called here."""
        name, at = token[1:], token_span(token)
        if isinstance(self.body, Function) and name == self.body.name:
            return FencepostError(f"{token} calls itself", [Mark(at)], code="FP108")
        defined = Mark(self.file.spans.get(name), "defined here")
        kind = self.file.kinds.get(name)
        if kind == "func":
            return FencepostError(
                f"{token} stands below: a function calls only those above it, so that none calls itself",
                [Mark(at), defined],
                code="FP108",
            )
        if kind == "kernel":
            return FencepostError(
                f"{token} is a kernel; only functions are called", [Mark(at), defined], code="FP104"
            )
        known = ", ".join(f"@{known}" for known, kind in self.file.kinds.items() if kind == "func") or "none"
        return FencepostError(
            f"there is no function {token}",
            [Mark(at)],
            code="FP104",
            notes=[("functions", known), ("help", "a function is written `func @name {` ... `}`")],
        )

    def check_targets(self) -> None:
        labels = {graph.name for graph in self.body.blocks[1:]}
        for target in self.targets:
            if target[1:] not in labels:
                known = ", ".join(f"^{graph.name}" for graph in self.body.blocks[1:]) or "none"
                raise FencepostError(
                    f"there is no block {target}",
                    [Mark(token_span(target))],
                    code="FP104",
                    notes=[("blocks", known)],
                )


def _is_block(part: Any) -> bool:
    return isinstance(part, Statement) and part.rule == "labelled"


def _settings(parts: list[tuple[Token, Token]]) -> dict[str, tuple[Token, Token]]:
    """Each word that sets a number, with the number."""
    settings: dict[str, tuple[Token, Token]] = {}
    for word, number in parts:
        if word in settings:
            raise FencepostError(f"attribute {str(word)!r} twice", [Mark(token_span(word))], code="FP105")
        settings[str(word)] = word, number
    return settings


def _whole(number: Token) -> int:
    if "." in number:
        raise FencepostError("a loop runs a whole number of times", [Mark(token_span(number))])
    return integer(number)


def _expect(
    op: ops.Iterate | ops.Conditional | ops.CondBranch, settings: dict[str, tuple[Token, Token]]
) -> None:
    """Give `op` what is expected of it."""
    if "expect" not in settings:
        return
    word, number = settings["expect"]
    if isinstance(op, ops.Iterate):
        op.expect = _whole(number)
    else:
        op.expect = float(number)
    check_expected(op, token_span(word), token_span(number))
