"""Which waves hold which elements of a tensor, as far as it decides whether waves meet in a change of layout."""

from __future__ import annotations

import re

from fencepost.hosts.triton.mlir.memoized import memoized
from fencepost.hosts.triton.mlir.tree import Module, Operation, Value
from fencepost.hosts.triton.mlir.types import Encoding, Tensor, parse_encoding

WMMA_TILE = (16, 16)
"""Rows and columns of what one matrix operation of RDNA makes."""


def may_stay_in_warps(module: Module, op: Operation) -> bool:
    """Whether a change of layout may hand values around within each wave only: then no waves meet in it.

    They do not if the same bits of the wave's number choose the same elements in both layouts, and none of them is
    idle. Other operations with scratch memory have it because waves meet.
    """
    if op.name != "ttg.convert_layout" or module.operation.integer("ttg.num-warps") == 1:
        # The threads of a single wave meet in it, too.
        return False
    before, after = (wave_bases(module, value) for value in (op.operands[0], op.results[0]))
    if before is None or after is None:
        return True
    idle = any(not any(basis) for basis in before | after)
    return not idle and before == after


def wave_bases(module: Module, value: Value) -> frozenset[tuple[int, ...]] | None:
    """How far each bit of a wave's number moves in a tensor; a zero for one that is idle, None if it is not known."""
    tensor = module.type_of(value)
    return _bases_in(tensor) if isinstance(tensor, Tensor) else None


@memoized
def _bases_in(tensor: Tensor) -> frozenset[tuple[int, ...]] | None:
    layout = parse_encoding(tensor.encoding)
    found = _bases(layout, tensor.encoding) if layout is not None else None
    if found is None or any(len(basis) != len(tensor.shape) for basis in found):
        return None
    # What lies beyond the end of a tensor is its beginning again.
    return frozenset(
        tuple(
            0 if size is not None and step >= size else step
            for step, size in zip(basis, tensor.shape, strict=True)
        )
        for basis in found
    )


Bases = list[tuple[int, ...]]


def _bases(layout: Encoding, text: str) -> Bases | None:
    kind = layout.name.removeprefix("ttg.")
    inner = re.search(r"parent = (#.*)\}>$", text)
    if inner is not None and kind in ("slice", "dot_op"):
        return _of_parent(layout, kind, re.sub(r", kWidth = \d+$", "", inner[1]))
    if kind == "linear":
        written = layout.parameters.get("warp")
        read = [_numbers(row) for row in written] if isinstance(written, tuple) else [None]
        return [step for step in read if step is not None] if None not in read else None
    if kind == "amd_wmma":
        return _of_wmma(text)
    return _of_tiles(_numbers(layout.parameters.get("warpsPerCTA")), _tile(layout, kind))


def _of_parent(layout: Encoding, kind: str, text: str) -> Bases | None:
    """A layout that is another one less a dimension, or with one that waves do not move in."""
    parent = parse_encoding(text)
    found = _bases(parent, text) if parent is not None else None
    parameters = layout.parameters
    at = parameters.get("dim") if kind == "slice" else 1 - int(str(parameters.get("opIdx")))
    if found is None or not isinstance(at, int):
        return None
    rest = () if kind == "slice" else (0,)
    return [(*basis[:at], *rest, *basis[at + 1 :]) for basis in found]


def _of_wmma(text: str) -> Bases | None:
    """Waves that are laid out in steps of a whole tile."""
    rows = re.search(r"\bwarp = \[((?:\[[\d, ]+\](?:, )?)*)\]", text)
    if rows is None:
        return None
    steps = [tuple(map(int, row.split(", "))) for row in re.findall(r"\[([\d, ]+)\]", rows[1])]
    if any(len(step) != len(WMMA_TILE) for step in steps):
        return None
    return [tuple(one * other for one, other in zip(step, WMMA_TILE, strict=True)) for step in steps]


def _tile(layout: Encoding, kind: str) -> tuple[int, ...] | None:
    """What one wave has, where waves are laid out in a grid; None if they are not, or it is not known."""
    parameters = layout.parameters
    tile = _numbers(parameters.get("instrShape"))
    if kind == "blocked":
        each, lanes = _numbers(parameters.get("sizePerThread")), _numbers(parameters.get("threadsPerWarp"))
        return tuple(one * other for one, other in zip(each or (), lanes or (), strict=False))
    if kind == "amd_mfma" and tile is not None:
        several = _numbers(parameters.get("tilesPerWarp")) or (1,) * len(tile)
        return tuple(one * other for one, other in zip(tile, several, strict=False))
    return tile if kind == "nvidia_mma" else None


def _of_tiles(warps: tuple[int, ...] | None, tile: tuple[int, ...] | None) -> Bases | None:
    if warps is None or tile is None or len(tile) < len(warps):
        return None
    return [
        tuple(tile[dim] << bit if dim == other else 0 for other in range(len(warps)))
        for dim, count in enumerate(warps)
        for bit in range(count.bit_length() - 1)
    ]


def _numbers(value: object) -> tuple[int, ...] | None:
    return value if isinstance(value, tuple) and all(isinstance(each, int) for each in value) else None
