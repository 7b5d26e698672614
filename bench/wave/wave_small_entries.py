"""Small kernels: reductions across waves, rows handed from wave to wave, atomics, branches."""

from __future__ import annotations

from typing import Any

import wave_kernels as kernels
import wave_templates as templates
from wave_model import Entry
from wave_templates import Make

SMALL: list[Entry] = []
# Wave cannot pack allocations that only an atomic or a scatter touches.
UNPACKED = {"minimize_shared_allocs": False}


def add(name: str, make: Make, *targets: str, **fields: Any) -> None:
    """One entry per target; what is no field of an entry is an option of Wave."""
    kept = {key: fields.pop(key) for key in ("note", "race") if key in fields}
    SMALL.extend(Entry(name, target, "none", make, options=fields, fast=True, **kept) for target in targets)


add("flip_rows", kernels.flip(), "gfx942", "gfx1201", race="a")
add(
    "flip_rows_barrier",
    kernels.flip(barrier=True),
    "gfx942",
    "gfx1201",
    race="a",
    note="the author's own barrier",
)
add("write_then_atomic", kernels.atomics(), "gfx942", "gfx1201", race="c", **UNPACKED)
add("branch_then_read", kernels.branch(), "gfx942", "gfx1201", race="d")
add("write_then_write", kernels.overwrite(), "gfx942", "gfx1201", race="e")
add("block_sum", kernels.block_reduce("sum"), "gfx942", "gfx950", "gfx1201", "gfx1250")
add("block_max", kernels.block_reduce("max", waves=8, columns=4096), "gfx942")
add("block_softmax", kernels.block_softmax(), "gfx942", "gfx1201")
add(
    "scatter_add",
    kernels.scatter(),
    "gfx942",
    race="g",
    **UNPACKED,
    note="one wave, memory given by the caller",
)
add("silu_and_mul", templates.silu_and_mul(), "gfx942", note="no LDS")
add(
    "speculative_sampling",
    templates.speculative_sampling(),
    "gfx942",
    note="loops and branches, one wave, no LDS",
)
