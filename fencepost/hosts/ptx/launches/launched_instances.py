"""Which instances of kernel templates a CUDA file launches: a compiler makes what is used of a template.

A launch inside of a template of the host (`sort<T><<<…>>>` in `run<T>`) stands for those that its callers name. Where
nobody names a type, it is deduced from arguments that say it, `run(data, Square{})`; otherwise it is `float`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.hosts.ptx.cuda_source.host_code import (
    closing_brace,
    declarations,
    function_name,
    template_parameters,
    without_comments,
)
from fencepost.hosts.ptx.launches.launch_macros import with_launches_of_macros

_LAUNCH = re.compile(r"(\b[A-Za-z_][\w:]*\s*<(?!<)[^;{}()]*?>)\s*<<<")
_BARE_LAUNCH = re.compile(r"\b([A-Za-z_][\w:]*)\s*<<<")
_ANY_LAUNCH = re.compile(r"(?<![\w.>])(?:\w+::)*([A-Za-z_]\w*)\s*(?:<(?!<)[^;{}()]*?>\s*)?<<<")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_NAMESPACE = re.compile(r"\bnamespace\s+([\w:]+)\s*\{")
_OF_A_TYPE = re.compile(r"(?:typename|class)\b")
_LAST_NAME = re.compile(r"(\w+)\s*(?:=.*)?$", re.DOTALL)
_OF_PARAMETER = re.compile(r"(?:const\s+)?(\w+)\s*(?:const\s*)?&{0,2}\s*\w*")
"""A parameter of a type that stands alone, `Op op` or `const Op &op`."""
_MADE_HERE = re.compile(r"([A-Za-z_][\w:]*(?:<[^<>]*>)?)\s*[{(].*[)}]", re.DOTALL)
USUAL_TYPE = "float"
DEEPEST = 3
"""Templates of the host that call one another, that are followed."""


@dataclass(frozen=True, slots=True)
class _Template:
    """A function template, by where its body is."""

    name: str
    parameters: tuple[str, ...]
    types: frozenset[str]
    start: int
    end: int
    is_kernel: bool
    signature: tuple[str, ...] = ()
    """What the function is declared to be called with."""


def launched_instances(text: str) -> tuple[str, ...]:
    """The kernels of templates that a file launches, as `reduce<256>`."""
    seen = without_comments(with_launches_of_macros(text))
    every = list(_templates(seen))
    kernels = {each.name: each for each in every if each.is_kernel}
    hosts = [each for each in every if not each.is_kernel]
    found: list[str] = []
    for match in _LAUNCH.finditer(seen):
        found += _instances(" ".join(match[1].split()), match.start(), seen, hosts, DEEPEST)
    for match in _BARE_LAUNCH.finditer(seen):
        kernel = kernels.get(match[1].rpartition("::")[2])
        if kernel is not None and kernel.types.issuperset(kernel.parameters):
            found.append(f"{match[1]}<{', '.join([USUAL_TYPE] * len(kernel.parameters))}>")
    for name in kernels:
        for match in re.finditer(rf"[=(,&]\s*({re.escape(name)}\s*<(?!<)[^;{{}}()<>]*>)\s*[;,)]", seen):
            # A kernel that is named is launched through a pointer.
            found += _instances(" ".join(match[1].split()), match.start(), seen, hosts, DEEPEST)
    return tuple(dict.fromkeys(_qualified(each, kernels, seen) for each in found))


def kernel_templates(text: str) -> tuple[str, ...]:
    """The names of the kernels in a text that are templates."""
    return tuple(dict.fromkeys(each.name for each in _templates(without_comments(text)) if each.is_kernel))


def used_templates(text: str) -> tuple[str, ...]:
    """Those of them that the text names elsewhere than where it declares them."""
    seen = without_comments(text)
    heads = [head for head, _, _ in declarations(seen, 0, len(seen)) if "__global__" in head]
    declared = Counter(name.rpartition("::")[2] for name in map(function_name, heads) if name is not None)
    return tuple(
        each for each in kernel_templates(text) if len(re.findall(rf"\b{each}\b", seen)) > declared[each]
    )


def undeclared_launches(text: str) -> tuple[str, ...]:
    """The kernels that a text launches by names that it declares nowhere: those of macros, or of other files."""
    seen = without_comments(with_launches_of_macros(text))
    found = dict.fromkeys(match[1] for match in _ANY_LAUNCH.finditer(seen))
    macros = set(_MACRO.findall(text))
    return tuple(each for each in found if each not in macros and not _is_declared(each, seen))


def _is_declared(name: str, seen: str) -> bool:
    """Whether a type, or what looks like one, is written in front of a name somewhere; or it is given a value."""
    before = re.compile(rf"(?:[\w>)][ \t\n]+|[*&]\s*){name}\b(?!\s*(?:<[^;{{}}()]*>\s*)?<<<)")
    return before.search(seen) is not None or re.search(rf"\b{name}\s*(?:=|\{{)", seen) is not None


def _qualified(instance: str, kernels: dict[str, _Template], seen: str) -> str:
    """An instance with the namespaces that its kernel is in: whoever names it from outside has to name these."""
    name, _, arguments = instance.partition("<")
    kernel = kernels.get(name.strip())
    if kernel is None:
        return instance
    around = [
        match[1]
        for match in _NAMESPACE.finditer(seen, 0, kernel.start)
        if closing_brace(seen, match.end() - 1, len(seen)) > kernel.start
    ]
    return "::".join([*around, f"{name.strip()}<{arguments}"])


def _instances(instance: str, at: int, seen: str, templates: list[_Template], depth: int) -> Iterator[str]:
    """An instance with the values of the parameters of the template around it, once for each of its callers."""
    around = next((each for each in templates if each.start <= at < each.end), None)
    used = [each for each in around.parameters if re.search(rf"\b{each}\b", instance)] if around else []
    if around is None or not used or not depth:
        yield instance
        return
    called = False
    for call in re.finditer(rf"\b{re.escape(around.name)}\s*<(?!<)([^;{{}}()]*?)>\s*\(", seen):
        called = True
        given = dict(zip(around.parameters, split_arguments(call[1]), strict=False))
        named = _replaced(instance, _completed(given, used, around))
        if named is not None:
            yield from _instances(named, call.start(), seen, templates, depth - 1)
    if not called:
        for given in _deduced(around, seen) or [{}]:
            named = _replaced(instance, _completed(given, used, around))
            if named is not None:
                yield named


def _deduced(template: _Template, seen: str) -> list[dict[str, str]]:
    """The types of a template's parameters, for each call whose arguments are objects made on the spot."""
    found = []
    for call in re.finditer(rf"\b{re.escape(template.name)}\s*\(", seen):
        arguments = split_arguments(_called_with(seen, call.end()))
        types = {}
        for declared, argument in zip(template.signature, arguments, strict=False):
            plain = _OF_PARAMETER.fullmatch(declared)
            made = _MADE_HERE.fullmatch(argument)
            if plain is not None and plain[1] in template.types and made is not None:
                types[plain[1]] = made[1]
        if types and types not in found:
            found.append(types)
    return found


def _called_with(seen: str, at: int) -> str:
    """The arguments of a call, from its parenthesis on."""
    depth = 1
    for place in range(at, len(seen)):
        depth += {"(": 1, ")": -1}.get(seen[place], 0)
        if not depth:
            return seen[at:place]
    return ""


def _completed(given: dict[str, str], used: list[str], around: _Template) -> dict[str, str] | None:
    """The parameters that are used, those that nobody names as the usual type; None if one is no type."""
    missing = [each for each in used if each not in given]
    if any(each not in around.types for each in missing):
        return None
    return given | dict.fromkeys(missing, USUAL_TYPE)


def _replaced(instance: str, values: dict[str, str] | None) -> str | None:
    if values is None:
        return None
    return re.sub(r"\w+", lambda word: values.get(word[0], word[0]), instance)


def _templates(seen: str) -> Iterator[_Template]:
    for head, start, end in declarations(seen, 0, len(seen)):
        parameters = template_parameters(head)
        name = function_name(head)
        if not parameters or name is None:
            continue
        named = [(_LAST_NAME.search(each), _OF_A_TYPE.match(each) is not None) for each in parameters]
        names = tuple(match[1] for match, _ in named if match is not None)
        types = frozenset(match[1] for match, is_type in named if match is not None and is_type)
        inside = re.search(rf"\b{re.escape(name.rpartition('::')[2])}\s*\(", head)
        signature = tuple(split_arguments(_called_with(head, inside.end()))) if inside is not None else ()
        is_kernel = "__global__" in head
        yield _Template(name.rpartition("::")[2], names, types, start, end, is_kernel, signature)


def split_arguments(text: str) -> list[str]:
    """The arguments of a template, as they are separated by commas."""
    found, depth = [""], 0
    for letter in text:
        depth += {"<": 1, ">": -1, "(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [each.strip() for each in found if each.strip()]
