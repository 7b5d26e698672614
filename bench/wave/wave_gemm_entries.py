"""Products: tiles, types, schedules, copies straight to LDS, ping-pong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import wave_products as products
import wave_templates as templates
from wave_lang.kernel.wave.constraints import MMAType, ScaledMMAType
from wave_model import Entry, Schedule
from wave_templates import Make

GEMMS: list[Entry] = []
COPIES = {"use_global_to_shared": True}
ALL: tuple[Schedule, ...] = ("none", "prefetch", "modulo", "four-stage")


def add(name: str, make: Make, target: str, schedules: Iterable[Schedule], **fields: Any) -> None:
    """One entry per schedule; what is no field of an entry is an option of Wave."""
    kept = {key: fields.pop(key) for key in ("fast", "note", "ping_pong", "race") if key in fields}
    GEMMS.extend(Entry(name, target, schedule, make, options=fields, **kept) for schedule in schedules)


# One tile on every target, under every schedule. On gfx950 and gfx1250 a product is 32 deep.
add("gemm_64x64x32", templates.gemm(), "gfx942", ALL, fast=True)
add("gemm_64x64x64", templates.gemm((64, 64, 64)), "gfx950", ALL, fast=True)
add("gemm_64x64x32", templates.gemm(), "gfx1201", ALL, fast=True)
add("gemm_64x64x64", templates.gemm((64, 64, 64)), "gfx1250", ALL, fast=True)
add("gemm_128x128x32", templates.gemm((128, 128, 32)), "gfx942", ("prefetch", "modulo"))
add("gemm_128x128x64", templates.gemm((128, 128, 64)), "gfx950", ("prefetch",))
add("gemm_128x128x32", templates.gemm((128, 128, 32)), "gfx1201", ("none", "prefetch", "modulo"))
add("gemm_128x128x64", templates.gemm((128, 128, 64)), "gfx1250", ("prefetch",))
add("gemm_128x128x32", templates.gemm((128, 128, 32)), "gfx942", ("none", "four-stage"))
add("gemm_128x128x64", templates.gemm((128, 128, 64)), "gfx950", ("none", "modulo", "four-stage"))
add("gemm_128x128x64", templates.gemm((128, 128, 64)), "gfx1250", ("none", "modulo"))
add(
    "gemm_256x128x32_8waves", templates.gemm((256, 128, 32), (4, 2)), "gfx942", ("none", "prefetch", "modulo")
)
add("gemm_256x256x32_8waves", templates.gemm((256, 256, 32), (4, 2)), "gfx950", ("prefetch",))

# Buffers that rotate.
add("gemm_64x64x32_2buf", templates.gemm(), "gfx942", ("prefetch", "modulo"), multi_buffer_count=2, fast=True)
add(
    "gemm_64x64x64_2buf",
    templates.gemm((64, 64, 64)),
    "gfx950",
    ("prefetch",),
    multi_buffer_count=2,
    fast=True,
)
add("gemm_64x64x32_2buf", templates.gemm(), "gfx1201", ("prefetch",), multi_buffer_count=2, fast=True)
add(
    "gemm_64x64x64_2buf",
    templates.gemm((64, 64, 64)),
    "gfx1250",
    ("prefetch",),
    multi_buffer_count=2,
    fast=True,
)
add("gemm_64x64x32_3buf", templates.gemm(), "gfx942", ("four-stage",), multi_buffer_count=3, fast=True)

# Copies straight to LDS: gathers on gfx950, tensor loads on gfx1250.
add("gemm_64x64x64_copies", templates.gemm((64, 64, 64)), "gfx950", ALL, fast=True, **COPIES)
add("gemm_64x64x64_copies_2buf", templates.gemm((64, 64, 64)), "gfx950", ("prefetch",),
    multi_buffer_count=2, fast=True, **COPIES)  # fmt: skip
# Wave cannot pipeline a loop with tensor loads yet: its scheduler stops with an error.
add("gemm_64x64x64_copies", templates.gemm((64, 64, 64)), "gfx1250", ("none",), fast=True, **COPIES)
add(
    "gemm_64x64x64_copies_8waves",
    templates.gemm((64, 64, 64), (4, 2)),
    "gfx1250",
    ("none",),
    fast=True,
    **COPIES,
)
add("gemm_128x128x64_copies", templates.gemm((128, 128, 64)), "gfx1250", ("none",), **COPIES)
add("gemm_128x128x64_copies", templates.gemm((128, 128, 64)), "gfx950", ALL, **COPIES)
add("gemm_64x64x32_copies", templates.gemm(), "gfx942", ("none", "prefetch"), fast=True, **COPIES)

# Types and shapes of the product.
add(
    "gemm_32x32x8",
    templates.gemm((64, 64, 32), mma=MMAType.F32_32x32x8_F16),
    "gfx942",
    ("none", "prefetch"),
    fast=True,
)
add("gemm_bf16", templates.gemm((64, 64, 64), mma=MMAType.F32_16x16x32_BF16, dtype=torch.bfloat16), "gfx950",
    ("none",), fast=True)  # fmt: skip
add("gemm_fp8", templates.gemm((64, 64, 64), mma=MMAType.F32_16x16x32_F8, dtype=torch.float8_e4m3fnuz), "gfx942",
    ("none", "prefetch"), fast=True)  # fmt: skip
add("gemm_dynamic", templates.gemm(dynamic=True), "gfx942", ("none", "prefetch", "modulo"), fast=True,
    note="sizes known only at launch")  # fmt: skip
add("gemm_1wave", templates.gemm((32, 32, 32), waves=(1, 1)), "gfx942", ("none", "prefetch"), fast=True,
    note="a single wave needs no barrier")  # fmt: skip
add("gemm_transposed", templates.gemm_transposed(), "gfx942", ("none", "prefetch"), fast=True)
add("gemm_transposed", templates.gemm_transposed(), "gfx950", ("none",), fast=True)
add("gemm_transposed", templates.gemm_transposed(), "gfx1201", ("none",), fast=True)
add("gemm_reordered_64x64x32", templates.gemm_reordered((64, 64, 32)), "gfx942", ("none", "prefetch"))
add(
    "gemm_chained",
    products.chained_gemm(),
    "gfx942",
    ("none",),
    fast=True,
    note="two loops on the same LDS",
)
add(
    "gemm_chained",
    products.chained_gemm(),
    "gfx1201",
    ("none",),
    fast=True,
    note="two loops on the same LDS",
)
add("moe_gemm", templates.moe_gemm(), "gfx942", ("none", "modulo"), fast=True)
add("convolution_nhwc", templates.convolution(), "gfx942", ("none",))
add("convolution_nchw", templates.convolution("nchw_fchw"), "gfx942", ("none",))
add("convolution_stride2", templates.convolution(stride=2), "gfx942", ("none",))
add("mxfp4_broadcast", templates.gemm_mxfp4(), "gfx950", ("none", "modulo"), fast=True)
add("mxfp4_32x32x64", templates.gemm_mxfp4(ScaledMMAType.F32_32x32x64_F8F6F4), "gfx950", ("none",))
add("mxfp4_256x128x256", products.gemm_mxfp4(), "gfx950", ("prefetch",), note="reordered, all waves in step")
add("mxfp4_128x128x256", products.gemm_mxfp4((128, 128, 256), (2, 2)), "gfx950", ("none", "prefetch"))

# Only one operand in LDS: with one read per iteration Wave's pass leaves a race.
add(
    "gemm_one_operand_32x32x16",
    products.gemm_one_operand((32, 32, 16)),
    "gfx942",
    ("none",),
    fast=True,
    race="a",
)
add(
    "gemm_one_operand_32x32x32",
    products.gemm_one_operand((32, 32, 32)),
    "gfx950",
    ("none",),
    fast=True,
    race="a",
)
add(
    "gemm_one_operand_32x32x16",
    products.gemm_one_operand((32, 32, 16)),
    "gfx1201",
    ("none",),
    fast=True,
    race="a",
)
add(
    "gemm_one_operand_32x32x32",
    products.gemm_one_operand((32, 32, 32)),
    "gfx1250",
    ("none",),
    fast=True,
    race="a",
)
add(
    "gemm_one_operand_64x64x32",
    products.gemm_one_operand((64, 64, 32)),
    "gfx942",
    ("none", "modulo"),
    fast=True,
)

# Ping-pong: eight waves, half of them one rendezvous behind.
add("ping_pong_128x256x64", templates.gemm((128, 256, 64), (4, 2), (512, 512, 1024)), "gfx942", ("prefetch",),
    ping_pong=True)  # fmt: skip
add("ping_pong_128x256x64", templates.gemm((128, 256, 64), (4, 2), (512, 512, 1024)), "gfx950", ("prefetch",),
    ping_pong=True)  # fmt: skip
add("ping_pong_async_128x256x64", templates.gemm((128, 256, 64), (4, 2), (512, 512, 1024)), "gfx950", ("prefetch",),
    ping_pong=True, race="f", **COPIES)  # fmt: skip
add("ping_pong_256x256x64", templates.gemm((256, 256, 64), (4, 2), (512, 512, 1024)), "gfx950", ("prefetch",),
    ping_pong=True)  # fmt: skip

# Schedules written by hand.
add("gemm_by_hand", templates.gemm_manual(), "gfx942", ("manual",), fast=True)
add("ping_pong_by_hand", templates.gemm_manual_ping_pong(), "gfx942", ("manual",), ping_pong=True)
