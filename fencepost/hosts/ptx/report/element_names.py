"""Bytes of shared memory as elements of the array that CUDA declares: bytes 128..132 of `s` are `s[32]`.

PTX knows an array by its name and its size alone. Its dimensions and its type are read from the declaration in the
source, where these are constants and types that are known by name. What does not agree with the size in PTX is not
used: then a message names the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from fencepost.hosts.ptx.cuda_source.host_code import without_comments
from fencepost.hosts.ptx.cuda_source.host_expressions import number
from fencepost.hosts.ptx.launches.launch_sites import constants_of
from fencepost.hosts.ptx.reading.kernel_names import plain_text
from fencepost.hosts.ptx.verdicts import Finding, SharedVariable, bytes_of

_DECLARATION = re.compile(r"__shared__\b((?:[^;(){}=]|\([^;{}]*?\)+)*);")
_ATTRIBUTES = re.compile(
    r"\b(?:__align__|alignas|__attribute__)\s*(?:\(\([^()]*(?:\([^()]*\))?\)\)|\([^()]*(?:\([^()]*\))?\))"
    r"|\b(?:const|volatile|static|extern|typename|struct|__restrict__)\b"
)
_DECLARATOR = re.compile(r"^(.*?)\b([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$", re.DOTALL)
_VECTOR = re.compile(r"(u?(?:char|short|int|longlong|long)|float|double)([1-4])")
_SIZES = {
    1: "char bool int8_t uint8_t byte signed~char unsigned~char uchar std::byte",
    2: "short unsigned~short int16_t uint16_t half __half __nv_bfloat16 nv_bfloat16 ushort",
    4: "int unsigned float int32_t uint32_t uint unsigned~int signed half2 __half2 __nv_bfloat162 nv_bfloat162",
    8: "double long unsigned~long long~long unsigned~long~long int64_t uint64_t size_t ulong ptrdiff_t",
}
SIZE_OF = {name.replace("~", " "): size for size, names in _SIZES.items() for name in names.split()}
"""Bytes of the types that CUDA knows by name."""


@dataclass(frozen=True)
class Declared:
    """A declaration of a shared variable: its line, what it is called, its type, and its dimensions as written."""

    line: int
    name: str
    type: str
    dimensions: tuple[str, ...]


@dataclass(frozen=True)
class Elements:
    """What an array is made of: its dimensions, none for a single variable, and the bytes of an element."""

    name: str
    dimensions: tuple[int, ...]
    size: int

    def at(self, offset: int) -> str:
        """The element that a byte belongs to."""
        index, found = offset // self.size, []
        for length in reversed(self.dimensions[1:]):
            index, last = divmod(index, length)
            found.append(last)
        indices = [index, *reversed(found)] if self.dimensions else []
        return self.name + "".join(f"[{each}]" for each in indices)

    def between(self, start: int, end: int) -> str:
        """The elements that some bytes belong to."""
        first, last = self.at(start), self.at(end - 1)
        return f"`{first}`" if first == last else f"`{first}` to `{last}`"


def element_in(finding: Finding, text: str, line: int, kernel: str) -> str:
    """The element that both accesses of a finding touch, as CUDA text declares it above a line; or nothing.

    The kernel is named with its template arguments."""
    found = _elements(finding, text, line, kernel)
    return found.between(finding.bytes[0], sum(finding.bytes)) if found and finding.bytes else ""


def is_a_part(finding: Finding, text: str, line: int, kernel: str) -> bool:
    """Whether the accesses of a finding are narrower than an element, so that its bytes say more."""
    found = _elements(finding, text, line, kernel)
    widths = [width_of_access(site.instruction) for site in (finding.first, finding.second)]
    return found is not None and any(width is not None and width < found.size for width in widths)


def with_element(message: str, finding: Finding, element: str) -> str:
    """A message that says which element two accesses touch, where it said that they touch the same bytes."""
    said = re.escape(bytes_of(finding.variable))
    return re.sub(rf"(?:the same )?{said}", lambda _: element, message, count=1) if element else message


def width_of_access(instruction: str) -> int | None:
    """Bytes of one load, store or copy of a thread; None if its name does not say."""
    copied = re.match(r"(?:@\S+ )?cp\.async\.c[ag]\.\S+ [^,]*, [^,]*, (\d+)", instruction)
    if copied:
        return int(copied[1])
    loaded = re.match(r"(?:@\S+ )?(?:ld|st|atom|red)\.(\S*)", instruction)
    words = loaded[1].split(".") if loaded else []
    bits = [int(each[1:]) for each in words if re.fullmatch(r"[busf](?:8|16|32|64|128)", each)]
    vector = next((int(each[1:]) for each in words if re.fullmatch(r"v[248]", each)), 1)
    return bits[-1] * vector // 8 if bits else None


def _width_of_value(instruction: str) -> int:
    """Bytes of one of the values that are loaded or stored; 0 if its name does not say."""
    bits = re.findall(r"\.[busf](8|16|32|64)\b", instruction.partition(" [")[0].partition("[")[0])
    return int(bits[-1]) // 8 if bits else 0


def _elements(finding: Finding, text: str, line: int, kernel: str) -> Elements | None:
    if finding.variable is None or finding.bytes is None:
        return None
    arguments = template_arguments(text, kernel)
    found = elements_of(text, finding.variable, plain_text(finding.variable.name), line, arguments)
    if found is not None and finding.variable.is_dynamic:
        widths = [_width_of_value(site.instruction) for site in (finding.first, finding.second)]
        if max(widths) > found.size:
            return None  # It is another declaration of dynamic memory that the kernel uses.
    return found


@lru_cache(maxsize=16)
def template_arguments(text: str, kernel: str) -> Mapping[str, str]:
    """What the parameters of a kernel template stand for in the instance `blur<64, float>`, by their names."""
    name, _, inside = kernel.partition("<")
    given = [each.strip() for each in _pieces(inside.rpartition(">")[0])]
    plain = re.escape(name.rpartition("::")[2].strip())
    head = re.compile(rf"\btemplate\s*<([^<>]*)>[^;{{}}()]*\b__global__\b[^;{{}}]*?\b{plain}\s*\(")
    found = head.search(without_comments(text)) if inside else None
    if found is None:
        return {}
    named = [each.partition("=")[0].split() for each in found[1].split(",")]
    names = [words[-1] if len(words) > 1 else "" for words in named]
    return {name: value for name, value in zip(names, given, strict=False) if name.isidentifier()}


def elements_of(
    text: str, variable: SharedVariable, name: str, line: int, arguments: Mapping[str, str] | None = None
) -> Elements | None:
    """What a shared variable is made of, by the last declaration of that name above a line; None if it is not known.

    Dynamic memory goes by the name of the declaration. The arguments are those of the kernel's template.
    """
    above = [
        each
        for each in _declarations(text)
        if each.line <= line
        and (variable.is_dynamic == ("" in each.dimensions))
        and (variable.is_dynamic or each.name == name)
    ]
    known = arguments or {}
    constants = dict(_constants(text)) | {
        each: int(value) for each, value in known.items() if value.isdigit()
    }
    found = above[-1] if above else None
    return (
        _measured(replace(found, type=known.get(found.type, found.type)), variable, constants)
        if found
        else None
    )


def _measured(found: Declared, variable: SharedVariable, constants: Mapping[str, int]) -> Elements | None:
    """Dimensions and the size of an element; what is not known of them follows from the rest."""
    lengths = [number(each, constants) for each in found.dimensions]
    size = size_of(found.type)
    if variable.is_dynamic:
        return _of_unknown_length(found, lengths[1:], size)
    product = prod(each for each in lengths if each is not None)
    if product <= 0 or variable.size % (product * (size or 1)):
        return None
    rest = variable.size // (product * (size or 1))
    missing = lengths.count(None) + (size is None)
    if missing > 1 or (missing == 0 and rest != 1):
        return None
    dimensions = tuple(rest if each is None else each for each in lengths)
    return Elements(found.name, dimensions, rest if size is None else size)


def _of_unknown_length(found: Declared, inner: list[int | None], size: int | None) -> Elements | None:
    """An array of dynamic memory; one of bytes is room for others, whose bytes are not elements."""
    lengths = [each for each in inner if each]
    known = size is not None and size > 1 and len(lengths) == len(inner)
    return Elements(found.name, (0, *lengths), size or 0) if known else None


def size_of(name: str) -> int | None:
    """Bytes of a type, if it is one of CUDA's own."""
    plain = " ".join(name.split()).removeprefix("std::").removeprefix("cuda::std::")
    if vector := _VECTOR.fullmatch(plain):
        base = vector[1].removeprefix("u") if vector[1].startswith("u") else vector[1]
        return SIZE_OF[{"longlong": "long long"}.get(base, base)] * int(vector[2])
    if plain.startswith(("cuda::barrier", "barrier<")):
        return 8
    return SIZE_OF.get(plain)


@lru_cache(maxsize=4)
def _declarations(text: str) -> tuple[Declared, ...]:
    seen = without_comments(text)
    return tuple(
        each
        for match in _DECLARATION.finditer(seen)
        for each in _declared(match[1], seen.count("\n", 0, match.start()) + 1)
    )


@lru_cache(maxsize=4)
def _constants(text: str) -> Mapping[str, int]:
    return constants_of(text, without_comments(text))


def _declared(text: str, line: int) -> Iterator[Declared]:
    """The variables of one declaration: `float a[16], b[16][17]`."""
    type_ = ""
    for at, piece in enumerate(_pieces(_ATTRIBUTES.sub(" ", text))):
        match = _DECLARATOR.match(piece.strip())
        if match is None:
            return
        type_ = match[1].strip() if at == 0 else type_
        if type_:
            yield Declared(line, match[2], type_, tuple(re.findall(r"\[\s*([^\]]*?)\s*\]", match[3])))


def _pieces(text: str) -> list[str]:
    """Declarators, commas in brackets not counted."""
    depth, pieces = 0, [""]
    for character in text:
        depth += {"<": 1, "[": 1, "(": 1, ">": -1, "]": -1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return pieces
