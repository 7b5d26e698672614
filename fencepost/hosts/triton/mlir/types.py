"""The types that matter for memory: tensors, and views of shared memory (`!ttg.memdesc`).

All other types stay text. A shape may have dimensions that are not known (`?`), which become None;
nothing may take them for a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fencepost.hosts.triton.mlir.attributes import Attribute, parse_dictionary
from fencepost.hosts.triton.mlir.memoized import memoized
from fencepost.hosts.triton.mlir.scan import STRING, split_list

Shape = tuple[int | None, ...]

_DIMENSION = re.compile(r"(\d+|\?)x")
_BITS = re.compile(r"(?:[su]?i|f|bf|tf)(\d+)")
_ALIAS = re.compile(rf"{STRING}|[#!][A-Za-z_$][\w$-]*(?![\w$.-])")
_ORDER = re.compile(r"order = \[([\d, ]*)\]")
_ENCODING = re.compile(r"#([\w$.-]+)(?:<(.*)>)?$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tensor:
    """`tensor<64x32xf16, #layout>`; `bits` of one element, None where its size is not known."""

    shape: Shape
    element: str
    bits: int | None
    encoding: str
    """The layout with its aliases spelled out; empty if there is none."""


@dataclass(frozen=True, slots=True)
class MemDesc:
    """`!ttg.memdesc<64x32xf16, #shared, #smem, mutable, 3x64x32>`: a view of a piece of memory."""

    shape: Shape
    element: str
    bits: int | None
    encoding: str
    memory_space: str
    mutable: bool
    alloc_shape: Shape
    """The shape of the allocation that the view is cut from; its own shape where none is written."""

    @property
    def elements(self) -> int | None:
        """How many elements the view has."""
        return _product(self.shape)

    @property
    def slots_lead(self) -> bool:
        """Whether the first dimension is the one whose steps are largest: what a layout leaves out is in front."""
        order = _ORDER.search(self.encoding)
        if order is None:
            return "nvmma_shared" in self.encoding
        dims = [int(dim) for dim in order[1].split(",")]
        return len(dims) < len(self.shape) or dims[-1] == 0

    @property
    def shared(self) -> bool:
        """Whether the memory is shared by the workgroup (not a tensor core's own)."""
        return self.memory_space == "#ttg.shared_memory"


@dataclass(frozen=True, slots=True)
class Encoding:
    """A layout: `#ttg.swizzled_shared<{vec = 8, ...}>` has that name and those parameters."""

    name: str
    parameters: Mapping[str, Attribute] = field(default_factory=dict)
    leading: str = ""
    """What stands before the braces, as in `#ttg.padded_shared<[128:+8] {...}>`."""


def parse_type(text: str, aliases: Mapping[str, str]) -> Tensor | MemDesc | None:
    """A tensor or a view of memory; None for every other type."""
    return _parsed(resolve(text, aliases).strip())


@memoized
def _parsed(text: str) -> Tensor | MemDesc | None:
    for opening in ("tensor<", "!ttg.memdesc<"):
        if text.startswith(opening) and text.endswith(">"):
            first, *rest = split_list(text[len(opening) : -1])
            shape, element = _shaped(first)
            if opening == "tensor<":
                return Tensor(shape, element, element_bits(element), rest[0] if rest else "")
            return _memdesc(shape, element, rest)
    return None


@memoized
def parse_encoding(text: str) -> Encoding | None:
    """A layout taken apart; None for text that is none. Aliases must be resolved before."""
    match = _ENCODING.match(text.strip())
    if match is None:
        return None
    inside = (match[2] or "").strip()
    brace = inside.find("{")
    if brace < 0 or not inside.endswith("}"):
        return Encoding(match[1], {}, inside)
    return Encoding(match[1], parse_dictionary(inside[brace + 1 : -1]), inside[:brace].strip())


def element_bits(element: str) -> int | None:
    """How many bits one element takes; pointers take 64; None for what has no size that we know."""
    if element.startswith(("!tt.ptr", "!llvm.ptr", "index")):
        return 64
    match = _BITS.match(element)
    return int(match[1]) if match else None


def resolve(text: str, aliases: Mapping[str, str]) -> str:
    """`text` with every alias in it spelled out, aliases of aliases too."""
    return text if "#" not in text and "!" not in text else _spelled(text, aliases, frozenset())


def _spelled(text: str, aliases: Mapping[str, str], inside: frozenset[str]) -> str:
    def replacement(match: re.Match[str]) -> str:
        alias = match[0]
        # An alias that stands for itself is a mistake of the text; left alone, it does no harm.
        if alias in inside or alias not in aliases:
            return alias
        return _spelled(aliases[alias], aliases, inside | {alias})

    return _ALIAS.sub(replacement, text)


def _memdesc(shape: Shape, element: str, rest: list[str]) -> MemDesc:
    encoding, space, *more = [*rest, "", ""][: max(len(rest), 2)]
    mutable = "mutable" in more
    cut_from = next((_shaped(item + "x")[0] for item in more if item != "mutable"), shape)
    return MemDesc(shape, element, element_bits(element), encoding, space, mutable, cut_from)


def _shaped(text: str) -> tuple[Shape, str]:
    """`3x64x32xf16` as its dimensions and the element."""
    shape: list[int | None] = []
    position = 0
    while match := _DIMENSION.match(text, position):
        shape.append(None if match[1] == "?" else int(match[1]))
        position = match.end()
    return tuple(shape), text[position:]


def _product(shape: Shape) -> int | None:
    total = 1
    for dimension in shape:
        if dimension is None:
            return None
        total *= dimension
    return total
