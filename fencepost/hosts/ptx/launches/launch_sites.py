"""The blocks that a CUDA file launches its kernels with, as far as its constants tell.

`reduce<<<blocks, 256>>>`, `dim3 block(16, 16)`, `#define THREADS 128`: what these say is used where the user says
nothing. A kernel that is launched with two different blocks, or with one that is computed at run time, has none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from fencepost.hosts.ptx.cuda_source.host_code import without_comments
from fencepost.hosts.ptx.cuda_source.host_expressions import Macro, number
from fencepost.hosts.ptx.launches.address_taken import with_address_taken
from fencepost.hosts.ptx.launches.argument_lists import inside, pieces
from fencepost.hosts.ptx.launches.gpuverify_comments import (
    Block,
    block_of_comments,
    grid_of_comments,
    is_a_block,
    three,
)
from fencepost.hosts.ptx.launches.handed_out import is_handed_out
from fencepost.hosts.ptx.launches.host_functions import ways_to
from fencepost.hosts.ptx.launches.launch import MOST_BLOCKS
from fencepost.hosts.ptx.launches.launch_macros import with_launches_of_macros

_LAUNCH = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<(?!<)[^;{}()]*?>)?\s*<<<")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n\\]+)$", re.MULTILINE)
_CONSTANT = re.compile(
    r"\b(?:const|constexpr|static|enum)\b[\w\s:]*?\b(\w+)\s*=\s*([^;,{}]+?)\s*[;,}]|\benum\s*\{\s*(\w+)\s*=\s*([^,}]+)"
)
_FLOAT = re.compile(r"\b(?:float|double|half)\b[^=]*=")
_NO_INTEGER = "."
"""In the place of a number that is none of the integers."""
_DIM3 = re.compile(r"\bdim3\s+(\w[^;]*);")
_MADE = re.compile(r"(\w+)\s*(?:=\s*(?:dim3\s*)?)?[({](.*)[)}]|(\w+)\s*(?:=\s*(.+))?", re.DOTALL)
"""A variable among those that a statement declares, with what it is made of, if anything."""
_NUMBER = r"(?:unsigned\s+|const\s+)*(?:int|long|short|unsigned|size_t|uint|uint32_t|auto)"
_NUMBERS = re.compile(rf"\b{_NUMBER}\s+(\w+\s*=[^;{{}}]*);")
_CLUSTER = re.compile(r"\bclusterDim\s*\.\s*([xyz])\s*=\s*([^;,]+?)\s*[;,]")
_OPERATORS = re.compile(r"->|<=|>=|<<|>>")
_LOOP = re.compile(r"\b(?:for|while)\s*\([^{}]*\)\s*$|\bdo\s*$")
_OF_DEVICE = re.compile(r"(?:\btemplate\s*<[^;{}()]*>\s*(?:\w+\s+)*)?\b__(?:global|device)__\b")
"""A function of the device from its beginning on: the parameters of a template are its own, too."""
EVERY = ""
"""What stands for every kernel of a file that no launch names."""


def launched_blocks(text: str) -> dict[str, Block]:
    """The block of each kernel whose launches all name the same one; of a template, also by instance, `sum<64>`."""
    text = with_launches_of_macros(text)
    seen = without_comments(text)
    known = _known(text, seen)
    found: dict[str, set[Block | None]] = {}
    for name, at, arguments in _launches(seen):
        for here in _ways_to(text, seen, at, known):
            block = _block(arguments[1], Context.of(seen, at), here) if len(arguments) > 1 else None
            found.setdefault(name, set()).add(block)
            instance = _instance(seen, at, here)
            if instance is not None:
                found.setdefault(instance, set()).add(block)
    of_all = block_of_comments(text)
    result = {EVERY: of_all} if of_all is not None else {}
    elsewhere = with_address_taken(of_the_host(seen), {name.partition("<")[0] for name in found}, text)
    for name, blocks in found.items():
        if name.partition("<")[0] in elsewhere:
            continue
        if len(blocks) == 1 and (only := blocks.pop()) is not None:
            result[name] = only
    return result


@dataclass(frozen=True)
class Launches:
    """What all launches of one kernel have in common."""

    numbers: dict[int, int]
    """Arguments that are the same number, by their place."""
    threads: dict[int, int]
    """Arguments that are so many times the threads of a row of the block, by their place."""
    blocks: tuple[Block, ...] = ()
    """The blocks, if all launches name some, and not one; none of templates, whose arguments may go with them."""


def common_launches(text: str) -> dict[str, Launches]:
    """What the launches in a file say about each kernel."""
    text = with_launches_of_macros(text)
    seen = without_comments(text)
    known = _known(text, seen)
    found: dict[str, Launches] = {}
    blocks: dict[str, set[Block | None]] = {}
    for name, at, configuration in _launches(seen):
        begin = seen.find("(", seen.find(">>>", at))
        if begin < 0 or len(configuration) < 2:
            continue
        arguments = _arguments_of(seen, begin)
        context = Context.of(seen, at)
        threads = _of_threads(_row(configuration[1], context), arguments)
        of_template = re.match(r"\w+\s*<(?!<)", seen[at:]) is not None
        for here in _ways_to(text, seen, at, known):
            values = {place: number(each, here) for place, each in enumerate(arguments)}
            numbers = {place: value for place, value in values.items() if value is not None and value >= 0}
            kept = found.setdefault(name, Launches(numbers, threads))
            found[name] = Launches(_shared(kept.numbers, numbers), _shared(kept.threads, threads))
            block = None if of_template else _block(configuration[1], context, here)
            blocks.setdefault(name, set()).add(block)
    elsewhere = with_address_taken(of_the_host(seen), found.keys(), text)
    several = {name: each for name, each in blocks.items() if len(each) > 1 and None not in each}
    return {
        name: replace(each, blocks=tuple(sorted(filter(None, several.get(name, ())))))
        for name, each in found.items()
        if name not in elsewhere
    }


def _known(text: str, seen: str) -> dict[str, int]:
    """What names stand for in the whole file: macros, constants, and variables that are given one number."""
    hidden = _hidden(text, seen)
    constants = {name: value for name, value in constants_of(text, seen).items() if name not in hidden}
    return {**constants, **_variables(seen, constants)}


def _arguments_of(seen: str, begin: int) -> list[str]:
    """The arguments of a launch, from its parenthesis on; none, if a comma of a template's may have parted them."""
    arguments = pieces(inside(seen, begin))
    plain = [_OPERATORS.sub("", each) for each in arguments]
    return arguments if all(each.count("<") == each.count(">") for each in plain) else []


@lru_cache(maxsize=4)
def _hidden(text: str, seen: str) -> frozenset[str]:
    """Constants that something else goes by the name of, somewhere: which of them is meant, scopes would tell."""
    host = of_the_host(seen)
    return frozenset(
        name for name in constants_of(text, seen) if not _is_macro(name, text) and _is_hidden(name, host)
    )


def _is_macro(name: str, text: str) -> bool:
    return re.search(rf"^[ \t]*#[ \t]*define[ \t]+{name}\b", text, re.MULTILINE) is not None


def _is_hidden(name: str, host: str) -> bool:
    """Whether a parameter or another variable goes by the name of a constant, or something is assigned to it."""
    assigned = re.findall(rf"\b{name}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)", host)
    parameter = rf"\b{_NUMBER}\s*&?\s*{name}\s*[,):>]|(?:\+\+|--)\s*{name}\b|\b{name}\s*(?:\+\+|--)"
    if len(assigned) > 1 or re.search(parameter, host) is not None:
        return True
    constant = rf"\b(?:const|constexpr|enum)\b[^;(){{}}]*\b{name}\s*=|\benum\b[^;()]*\b{name}\s*="
    return re.search(constant, host) is None and is_handed_out(name, host, host)


def _ways_to(text: str, seen: str, at: int, known: Mapping[str, int]) -> list[dict[str, int]]:
    """What is known at a launch, once for each way that the function around it is called."""
    hidden = _hidden(text, seen)
    return [
        {**known, **{name: value for name, value in here.items() if name not in hidden}}
        for here in ways_to(seen, at, known, lambda body, given: _variables(body, given, seen))
    ]


def _shared(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    return {place: value for place, value in one.items() if other.get(place) == value}


def _row(text: str, context: Context) -> str:
    """What stands for the threads of a row in the second argument of a launch."""
    made = re.fullmatch(r"dim3\s*[({](.*)[)}]", text, re.DOTALL)
    row = made[1] if made is not None else (_made_of(text, context.before) or text)
    return pieces(row)[0].replace(" ", "")


def _of_threads(row: str, arguments: Sequence[str]) -> dict[int, int]:
    """Arguments that a row of the block is written with: as they are, or a part of them."""
    found = {}
    for place, argument in enumerate(arguments):
        plain = argument.replace(" ", "")
        if not re.fullmatch(r"[A-Za-z_]\w*", plain):
            continue
        part = re.fullmatch(rf"\(?{plain}(?:/(\d+)|>>(\d))?\)?", row)
        if part is not None:
            found[place] = int(part[1]) if part[1] else 1 << int(part[2] or 0)
    return {place: factor for place, factor in found.items() if factor > 0}


def cluster_of_launches(text: str) -> Block | None:
    """The blocks of a cluster, where launches are given one (`attribute.val.clusterDim.x = 2`), and all the same."""
    seen = without_comments(text)
    constants = constants_of(text, seen)
    found: dict[str, set[int | None]] = {}
    for axis, value in _CLUSTER.findall(seen):
        found.setdefault(axis, set()).add(number(value, constants))
    sizes = [found.get(axis, {1}) for axis in "xyz"]
    if not found or any(len(each) != 1 or None in each for each in sizes):
        return None
    x, y, z = (next(iter(each)) or 0 for each in sizes)
    return (x, y, z) if 0 < x * y * z <= MOST_BLOCKS else None


def constants_and_grid(text: str) -> dict[str, int]:
    """Macros and constants with one value in the whole file, and the sizes of the grid that a comment names."""
    found = constants_of(text, without_comments(text))
    sizes = grid_of_comments(text)
    return found | (
        {f"gridDim.{axis}": size for axis, size in zip("xyz", sizes, strict=True)} if sizes else {}
    )


def _launches(seen: str) -> Iterator[tuple[str, int, list[str]]]:
    for match in _LAUNCH.finditer(seen):
        end = seen.find(">>>", match.end())
        if end >= 0:
            yield match[1], match.start(), pieces(seen[match.end() : end])


def constants_of(text: str, seen: str) -> dict[str, int]:
    """Macros and constants with one value in the whole file.

    A macro that stands for another one, of which there is no definition, is not defined like that: `#ifdef SIZE`.
    """
    written: dict[str, set[str]] = {}
    for match in _DEFINE.finditer(re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)):
        written.setdefault(match[1], set()).add(match[2].strip())
    macros = set(written)
    for match in _CONSTANT.finditer(seen):
        value = _NO_INTEGER if _FLOAT.search(match[0]) else (match[2] or match[4]).strip()
        written.setdefault(match[1] or match[3], set()).add(value)
    found: dict[str, int] = {}
    for _ in range(4):  # A constant may be made of others.
        for name, values in written.items():
            defined = {each for each in values if not each.isidentifier() or each in written}
            numbers = {number(value, found) for value in defined}
            if len(numbers) == 1 and (only := numbers.pop()) is not None:
                # Of several texts for one number, the compiler has chosen one.
                text_of_it = defined.pop() if len(defined) == 1 else str(only)
                found[name] = Macro.of(only, text_of_it) if name in macros else only
    return found


@dataclass(frozen=True)
class Context:
    """What stands around a launch, of the host unless a kernel launches it."""

    before: str
    after: str
    """What comes after it in a loop that it stands in; nothing, where there is none."""
    whole: str

    @staticmethod
    def of(seen: str, at: int) -> Context:
        """The context of a launch at a place."""
        host = of_the_host(seen)
        text = seen if host[at].isspace() else host
        return Context(text[:at], text[at : _end_of_loops(text, at)], text)


def _end_of_loops(text: str, at: int) -> int:
    """Where the outermost loop ends whose braces are around a place; the place itself, if there is none."""
    braces = _braces(text)
    here = bisect_left(braces, at)
    opening = list(_unmatched(text, reversed(braces[:here]), "{"))
    closing = list(_unmatched(text, braces[here:], "}"))
    around = zip(opening, [*closing, *[len(text)] * len(opening)], strict=False)
    loops = [end for begin, end in around if _LOOP.search(text, max(0, begin - 300), begin) is not None]
    return max(loops, default=at)


@lru_cache(maxsize=4)
def _braces(text: str) -> list[int]:
    return [match.start() for match in re.finditer("[{}]", text)]


def _unmatched(text: str, places: Iterable[int], brace: str) -> Iterator[int]:
    """The braces of one kind, among some on one side of a place, that none of the other kind comes before."""
    depth = 0
    for place in places:
        depth += -1 if text[place] == brace else 1
        if depth < 0:
            depth = 0
            yield place


def _block(text: str, context: Context, known: Mapping[str, int]) -> Block | None:
    """A block from the second argument of a launch: a number, `dim3(…)`, or a variable that was made so."""
    one = number(text, known)
    if one is not None:
        return _checked([one])
    made = re.fullmatch(r"dim3\s*[({](.*)[)}]", text, re.DOTALL)
    if made is not None:
        return _sizes(made[1], known)
    return _of_variable(text, context, known) if re.fullmatch(r"\w+", text) else None


def _of_variable(name: str, context: Context, known: Mapping[str, int]) -> Block | None:
    """What a variable of type dim3 was last made of, or what its parts were set to, if each was set to one number."""
    before, around = context.before, context.before + context.after
    made = _made_of(name, before)
    if (
        made is None
        or re.search(rf"(?<!dim3 )\b{name}\s*=(?!=)", around)
        or _is_other(name, around, context.whole)
    ):
        return None
    parts = re.findall(rf"\b{name}\s*\.\s*([xyz])\s*=(?!=)\s*([^;]+);", around)
    if not parts:
        return _sizes(made, known) if made else None
    values = {axis: {number(text, known) for of, text in parts if of == axis} or {1} for axis in "xyz"}
    if made or any(len(each) > 1 or None in each for each in values.values()):
        return None
    return _checked([size for axis in "xyz" for size in values[axis] if size is not None])


def _is_other(name: str, text: str, whole: str) -> bool:
    """Whether a variable of type dim3 is changed in place or handed out, or is a parameter or a reference."""
    part = rf"\b{name}\s*\.\s*[xyz]\b"
    changed = rf"{part}\s*(?:(?:[-+*/%&|^]|<<|>>)=|\+\+|--)|(?:\+\+|--)\s*{part}"
    declared = rf"\bdim3\s+(?:const\s*)?{name}\s*[,)]|\bdim3\s*(?:const\s*)?[&*]+\s*(?:const\s*)?{name}\b"
    return re.search(f"{changed}|{declared}", text) is not None or is_handed_out(name, text, whole)


def _made_of(name: str, before: str) -> str | None:
    """What stands in the parentheses where a variable of type dim3 is declared that is seen at the end of a text;
    None if it is not, or in two ways, of which the preprocessor takes one."""
    seen = _seen_at_the_end(before)
    made: dict[int, set[str]] = {}
    for statement in _DIM3.finditer(seen):
        for piece in pieces(statement[1]):
            match = _MADE.fullmatch(piece)
            if match is not None and name in (match[1], match[3]):
                scope = len(_braces(seen[: statement.start()]))
                made.setdefault(scope, set()).add(match[2] or match[4] or "")
    innermost = made[max(made)] if made else set()
    return innermost.pop() if len(innermost) == 1 else None


@lru_cache(maxsize=64)
def _seen_at_the_end(text: str) -> str:
    """A text with blanks for the blocks that are closed: what is declared there is not seen behind them."""
    opened: list[int] = []
    closed: list[tuple[int, int]] = []
    for place in _braces(text):
        if text[place] == "{":
            opened.append(place)
        elif opened and ";" in text[(begin := opened.pop()) : place]:
            closed.append((begin, place + 1))
        # Without a semicolon, it is what a variable is made of.
    kept, at = [], 0
    for begin, end in sorted(closed):
        if begin >= at:
            kept += [text[at:begin], ";" + " " * (end - begin - 1)]
            at = end
    return "".join([*kept, text[at:]])


def _variables(seen: str, constants: Mapping[str, int], whole: str | None = None) -> dict[str, int]:
    """Local variables of the host that are given one number where they are declared, and no other anywhere; of a part
    of a file, or of the whole one."""
    whole = seen if whole is None else whole
    seen = of_the_host(seen)
    written: dict[str, list[str]] = {}
    for statement in _NUMBERS.finditer(seen):
        for piece in pieces(statement[1]):
            name, _, value = piece.partition("=")
            written.setdefault(name.strip(), []).append(value.strip())
    found: dict[str, int] = {}
    for _ in range(3):  # One may be made of another.
        for name, texts in written.items():
            numbers = {number(text, {**constants, **found}) for text in texts}
            one = numbers.pop()
            if not numbers and one is not None and not _is_changed(name, seen, whole):
                found[name] = one
    return found


@lru_cache(maxsize=4)
def of_the_host(seen: str) -> str:
    """A text with blanks in the place of functions that run on the device: these have variables of their own."""
    kept, at = [], 0
    for match in _OF_DEVICE.finditer(seen):
        if match.start() >= at and (end := _end_of_function(seen, match.end())) is not None:
            kept += [seen[at : match.start()], " " * (end - match.start())]
            at = end
    return "".join([*kept, seen[at:]])


def _instance(seen: str, at: int, known: Mapping[str, int]) -> str | None:
    """The instance of a template that is launched here, without blanks; None if it is none."""
    match = re.match(r"(\w+)\s*<(?!<)([^;{}()]*?)>\s*<<<", seen[at:])
    if match is None:
        return None
    values = [(each, number(each, known)) for each in pieces(match[2])]
    return f"{match[1]}<{','.join(each if value is None else str(value) for each, value in values)}>"


def _end_of_function(seen: str, at: int) -> int | None:
    """Where the body of a function ends whose declaration goes on here; None if there is no body."""
    depth = 0
    for place in range(at, len(seen)):
        char = seen[place]
        if char == ";" and depth == 0:
            return None
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "}" and depth <= 0:
            return place + 1
    return None


def _is_changed(name: str, text: str, whole: str) -> bool:
    """Whether a variable is assigned or handed out beside its declarations, or is a parameter of a function."""
    if not re.fullmatch(r"\w+", name):
        return True
    declared = len(re.findall(rf"(?:\b{_NUMBER}\s+|,\s*){name}\s*=(?!=)", text))
    assigned = len(re.findall(rf"\b{name}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)", text))
    elsewhere = rf"\b{name}\s*(?:\+\+|--)|(?:\+\+|--)\s*{name}\b|>>\s*{name}\b"
    parameter = rf"\b{_NUMBER}\s*&?\s*{name}\s*[,):>]"
    seen_to_change = assigned != declared or re.search(f"{elsewhere}|{parameter}", text) is not None
    return seen_to_change or is_handed_out(name, text, whole)


def _sizes(text: str, constants: Mapping[str, int]) -> Block | None:
    sizes = [number(each, constants) for each in pieces(text)]
    return _checked([each for each in sizes if each is not None]) if None not in sizes else None


def _checked(sizes: list[int]) -> Block | None:
    block = three(sizes)
    return block if block is not None and is_a_block(block) else None
