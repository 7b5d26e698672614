"""Text to kernels: the kernels and functions of a file, each put together by `elaborate`."""

from __future__ import annotations

from fencepost.ir.comments import attach_file_comments
from fencepost.ir.elaborate import File, read_function, read_kernel
from fencepost.ir.source import FencepostError, Mark, Source, UsageError
from fencepost.ir.syntax import Statement, opening, read_statements
from fencepost.ir.trace import Body, CapturedTrace, Function

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
