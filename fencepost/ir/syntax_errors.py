"""Text that does not parse, put into words: what stands there, what could, and what was most likely meant."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from fencepost.ir.source import FencepostError, Mark, Source, Span, token_span

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

MEMORY_WORDS = (
    *("read", "write", "atomic", "exchange", "gather_to_lds", "tensor_load_to_lds"),
    *("async_mma", "tensor_store_from_lds"),
)
COMPUTE_WORDS = ("global_read", "global_write", "mma", "compute", "null_async_dep")
SYNC_WORDS = ("barrier", "workgroup_barrier", "signal", "wait", "wait_count", "commit")
MBARRIER_WORDS = ("mbarrier_init", "mbarrier_inval", "mbarrier_arrive", "mbarrier_expect", "mbarrier_wait")
ORDER_WORDS = ("sched_barrier", "set_wave_prio")
STATEMENT_WORDS = (
    *(*MEMORY_WORDS, *COMPUTE_WORDS, *SYNC_WORDS, *MBARRIER_WORDS, *ORDER_WORDS),
    *("loop", "next", "if", "give", "call", "br", "cond_br", "return"),
)
TERMINALS = {
    "_NL": ("the end of the line",),
    "VALUE": ("a name such as %a",),
    "LABEL": ("a block such as ^exit",),
    "KERNEL": ("a kernel name such as @gemm",),
    "FUNCTION": ("a function name such as @scan",),
    "NAME": ("a name such as load",),
    "INT": ("a number",),
    "NUMBER": ("a number",),
    "MEMORY": MEMORY_WORDS,
    "COMPUTE": COMPUTE_WORDS,
    "COMPARE": ("a comparison",),
    "BRACKET": ("']'",),
    "KERNEL_WORD": ("'kernel'",),
    "FUNC": ("'func'",),
    "$END": ("the end of the text",),
}
OPERATORS = frozenset({"XOR", "PLUS", "MINUS", "TIMES", "DIVIDE", "MOD"})
CHARACTER_HINTS = {
    "/": "division is written //, and comments begin with #",
    ";": "each statement stands on a line of its own",
    "!": "a condition is a comparison or a name; `!=` compares",
    "\r": "lines end in a line feed, with or without a carriage return before it",
}
SETTINGS = ("waves", "trip", "expect", "phase")
"""Words of the language that a number is set with."""
ELSEWHERE = {
    **dict.fromkeys(
        ("__syncthreads", "syncthreads", "bar", "s_barrier", "__builtin_amdgcn_s_barrier"), "barrier"
    ),
    **dict.fromkeys(("cp", "memcpy_async", "__pipeline_memcpy_async", "global_load_lds"), "gather_to_lds"),
    **dict.fromkeys(("wait_group", "__pipeline_wait_prior", "s_waitcnt"), "wait_count"),
    **dict.fromkeys(("commit_group", "__pipeline_commit"), "commit"),
    **dict.fromkeys(("load", "ld", "ds_read", "lds_read", "load_shared"), "read"),
    **dict.fromkeys(("store", "st", "ds_write", "lds_write", "store_shared"), "write"),
    **dict.fromkeys(("for", "while"), "loop"),
    **dict.fromkeys(("wgmma", "mfma", "wmma"), "mma"),
}
"""What CUDA, PTX and HIP call statements of the text form."""
CUDA = ("__global__", "__device__", "template", "extern", "using", "namespace", "__launch_bounds__")
"""How a file in CUDA C++ or HIP begins."""
MOST_SHOWN = 40


def unexpected_character(error: UnexpectedCharacters, source: Source) -> FencepostError:
    """A character that begins nothing."""
    span = Span(error.line, error.column, error.line, error.column + 1)
    character = source.text[error.pos_in_stream or 0]
    hint = CHARACTER_HINTS.get(character)
    return FencepostError(
        f"unexpected character {_character(character)}",
        [Mark(span)],
        code="FP101",
        notes=[("help", hint)] if hint else [],
    )


def unexpected_token(error: UnexpectedToken, source: Source) -> FencepostError:
    """A word, number or bracket where it does not belong, or the end of the text."""
    token, expected = error.token, set(error.accepts or error.expected)
    if token.type == "$END":
        return _ended(source, expected)
    span, what = token_span(token), _shown(str(token))
    if token.type == "_NL":
        # A comment may stand between the statement and the end of its line.
        end = len(source.line(span.line).partition("#")[0].rstrip()) + 1
        span, what = Span(span.line, end, span.line, end + 1), "end of line"
    if expected == {"EQUAL"}:
        before = _word_before(source.line(span.line)[: span.column - 1], span.line)
        if before is not None and before[0] not in SETTINGS:
            # What was read as the beginning of `group=...` is rather the mistake itself.
            word, span = before
            number = str(token)
            meaning = (
                f"a number stands behind `=`: `{word}={number}`"
                if number.isdigit()
                else _meaning_of_word(word)
            )
            return _syntax_error(f"unexpected {_shown(word)}", span, (), meaning)
    following = source.line(span.line)[span.end_column - 1 :].lstrip()
    return _syntax_error(f"unexpected {what}", span, expected, _meaning(str(token), expected, following))


def _ended(source: Source, expected: set[str]) -> FencepostError:
    number = max((n for n, line in enumerate(source.text.split("\n"), 1) if line.strip()), default=1)
    end = len(source.line(number).rstrip()) + 1
    error = _syntax_error("the text ends too early", Span(number, end, number, end + 1), expected)
    opened = _unclosed(source)
    if "CLOSE" in expected and opened is not None:
        error.marks = (*error.marks, Mark(opened, "this has no `}`"))
        error.notes = (("help", "each `{` needs a `}` on a line of its own"),)
    return error


def _unclosed(source: Source) -> Span | None:
    """The innermost line that opens a region which nothing closes."""
    opened: list[Span] = []
    for number, line in enumerate(source.text.split("\n"), 1):
        code = line.partition("#")[0].rstrip()
        for character in code:
            if character == "{":
                begin = len(code) - len(code.lstrip()) + 1
                opened.append(Span(number, begin, number, len(code) + 1))
            elif character == "}" and opened:
                opened.pop()
    return opened[-1] if opened else None


def _meaning(text: str, expected: set[str], following: str) -> str:
    """What somebody who wrote `text` here most likely meant; empty if there is no telling."""
    if "LOOP" in expected:
        return _meaning_of_statement(text, following)
    if "MEMORY" in expected and _is_word(text):
        return f"{text} yields no value" if text in STATEMENT_WORDS else _similar(text)
    if "KERNEL_WORD" in expected:
        if text == "}":
            return "every `{` before this is closed already"
        if text in CUDA:
            return (
                "this looks like CUDA C++ or HIP: CUDA is read from a file that ends in .cu; of a HIP kernel, write "
                "down what it does to shared memory (docs/tour-hip.md)"
            )
        return "a file holds kernels, `kernel @name waves=4 {` ... `}`, and functions, `func @name {` ... `}`"
    if text == "expect":
        return "`expect=` stands behind the bounds of a loop, or the condition of an `if`, or the targets of a branch"
    if text in ("warps", "wavefronts") and "WAVES" in expected:
        return "a warp or wavefront is called a wave here: `waves=4`"
    if text == "=" and "COMPARE" in expected:
        return "equality is written =="
    if _is_word(text) and "VALUE" in expected and not following.startswith("="):
        return _meaning_of_word(text)
    if text.isalnum() and "LABEL" in expected:
        return f"the names of blocks begin with ^: ^{text}"
    return ""


def _meaning_of_statement(text: str, following: str) -> str:
    if text == "else":
        return "`else` stands on the line of the brace before it: `} else {`"
    if text == "//":
        return "comments begin with #"
    if text.startswith("^"):
        return "blocks stand in kernels only: functions, loops and conditionals have none"
    if text in ("kernel", "func"):
        return "kernels and functions do not stand in each other; is a `}` missing above?"
    if text == "shared":
        return "buffers are declared at the top of the kernel or function, before its first statement"
    if text == "param":
        return "numbers are given to kernels: at the top, before the first statement"
    if _is_word(text):
        return _meaning_of_word(text) if following.startswith("=") else _similar(text)
    return ""


def _meaning_of_word(word: str) -> str:
    if word in STATEMENT_WORDS:
        return "each statement stands on a line of its own"
    return f"the names of buffers, values and loop variables begin with %: %{word}"


def _similar(word: str) -> str:
    if word in ELSEWHERE:
        return f"`{word}` is called `{ELSEWHERE[word]}` here"
    close = get_close_matches(word.lower(), STATEMENT_WORDS, n=1, cutoff=0.7)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"a statement begins with {_or(STATEMENT_WORDS)}"


def _is_word(text: str) -> bool:
    return text[:1].isalpha() or text[:1] == "_"


def _word_before(text: str, line: int) -> tuple[str, Span] | None:
    code = text.rstrip()
    word = code.split()[-1] if code else ""
    if not _is_word(word):
        return None
    return word, Span(line, len(code) - len(word) + 1, line, len(code) + 1)


def _syntax_error(message: str, span: Span, expected: Iterable[str], hint: str = "") -> FencepostError:
    words = _words(set(expected))
    # A long list of everything that could stand here helps nobody.
    notes = [("expected", _or(words))] if 0 < len(words) <= 9 else []
    if hint:
        notes.append(("help", hint))
    return FencepostError(message, [Mark(span)], code="FP101", notes=notes)


def _words(expected: set[str]) -> list[str]:
    from fencepost.ir.syntax import spelling

    if "KERNEL_WORD" in expected:
        # The end of the text and of the line are always fine between kernels.
        expected -= {"$END", "_NL"}
    words: list[str] = []
    # Where an operator can follow, `^` can; the parser may have ruled out those that bind tighter already.
    if "XOR" in expected:
        expected -= OPERATORS
        words.append("an operator")
    for name in sorted(expected):
        words += TERMINALS.get(name) or (f"'{spelling(name)}'",)
    return words


def _or(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…")


def _character(character: str) -> str:
    if character.isascii() and character.isprintable():
        return repr(character)
    code = f"U+{ord(character):04X}"
    # Signs that look like others (a no-break space, a long dash) are known by their names only.
    name = unicodedata.name(character, "")
    return f"{character!r} ({code}{' ' if name else ''}{name})"
