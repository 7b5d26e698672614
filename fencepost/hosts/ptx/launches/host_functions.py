"""What the parameters and variables of a host function are, if its calls in the file give them numbers.

`run(data, 256)` and `void run(float *p, int threads) { k<<<n, threads>>>(p); }`: the launch is one of 256 threads. A
function with calls that give different numbers is looked at once for each of them. A parameter that the function
changes, that some call gives something unknown for, or of a function that is used other than by a call, has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from fencepost.hosts.ptx.cuda_source.host_code import declarations, function_name, is_function
from fencepost.hosts.ptx.cuda_source.host_expressions import number
from fencepost.hosts.ptx.launches.argument_lists import inside, pieces
from fencepost.hosts.ptx.launches.handed_out import is_handed_out

Numbers = dict[str, int]
DEEPEST = 3
"""Functions that call one another, that are followed."""
MOST_WAYS = 6
"""So many different numbers that callers give are looked at."""
_OF_DEVICE = re.compile(r"\b__(?:global|device)__\b")
_PARAMETER = re.compile(
    r"(?:const\s+)?(?:unsigned|signed|int|long|short|size_t|u?int\d*_t|uint|auto)\b[\w\s]*?\b(\w+)\s*(?:=[^=].*)?"
)


@dataclass(frozen=True)
class HostFunction:
    """A function with a body."""

    name: str
    parameters: tuple[str, ...]
    """Their names; empty for one that is not passed as an integer."""
    start: int
    """Where the body begins."""
    end: int


@lru_cache(maxsize=4)
def host_functions(seen: str) -> tuple[HostFunction, ...]:
    """The functions of a text without comments that run on the host alone."""
    found = []
    for head, start, end in declarations(seen, 0, len(seen)):
        name = function_name(head)
        if name is None or not is_function(head) or seen[end - 1] != "}" or _OF_DEVICE.search(head):
            continue
        opened = re.search(rf"{re.escape(name)}\s*\(", head)
        written = pieces(inside(head, opened.end() - 1)) if opened is not None else []
        matches = [_PARAMETER.fullmatch(each) for each in written]
        names = tuple(match[1] if match is not None else "" for match in matches)
        found.append(HostFunction(name.rpartition("::")[2], names, start + len(head), end))
    return tuple(found)


def ways_to(
    seen: str, at: int, known: Mapping[str, int], variables: Callable[[str, Mapping[str, int]], Numbers]
) -> list[Numbers]:
    """What is known of the numbers of the function around a place, once for each way that it is called."""
    return _ways_to(seen, at, known, variables, DEEPEST)


def _ways_to(
    seen: str,
    at: int,
    known: Mapping[str, int],
    variables: Callable[[str, Mapping[str, int]], Numbers],
    depth: int,
) -> list[Numbers]:
    around = next((each for each in host_functions(seen) if each.start <= at < each.end), None)
    if around is None:
        return [{}]
    found: list[Numbers] = []
    for given in _given(seen, around, known, variables, depth) or [{}]:
        body = seen[around.start : around.end]
        here = {name: value for name, value in given.items() if not _changes(name, body, seen)}
        here |= variables(body, {**known, **here})
        if here not in found:
            found.append(here)
    return found if len(found) <= MOST_WAYS else [{}]


def _given(
    seen: str,
    function: HostFunction,
    known: Mapping[str, int],
    variables: Callable[[str, Mapping[str, int]], Numbers],
    depth: int,
) -> list[Numbers]:
    """The numbers that calls give a function, those that every call gives one; nothing if there is no such call."""
    if not depth or not any(function.parameters):
        return []
    found: list[Numbers] = []
    for at, arguments in _calls(seen, function):
        if arguments is None:
            return []
        for numbers in _ways_to(seen, at, known, variables, depth - 1):
            values = [number(each, {**known, **numbers}) for each in arguments]
            given = zip(function.parameters, values, strict=False)
            found.append({name: value for name, value in given if name and value is not None})
    common = set.intersection(*map(set, found)) if found else set()
    return [{name: each[name] for name in sorted(common)} for each in found]


def _calls(seen: str, function: HostFunction) -> Iterator[tuple[int, list[str] | None]]:
    """Where a function is called, and with what; None where it is used otherwise."""
    name = re.compile(
        rf"(?<![\w.>~])(?:\w+::)*{re.escape(function.name)}\b\s*(?:<(?!<)[^;{{}}()]*?>\s*)?(\()?"
    )
    for each in host_functions(seen):
        if each is function:
            continue  # What it passes on to itself it was given.
        for match in name.finditer(seen, each.start, each.end):
            yield match.start(), pieces(inside(seen, match.start(1))) if match[1] else None


def _changes(name: str, body: str, seen: str) -> bool:
    """Whether a body assigns a parameter, hands it out to be changed, or declares another of that name."""
    assigned = rf"\b{name}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\b{name}\s*(?:\+\+|--)|(?:\+\+|--)\s*{name}\b"
    changed = re.search(rf"{assigned}|(?<!>)>>\s*{name}\s*[;>]", body) is not None
    return changed or is_handed_out(name, body, seen)
