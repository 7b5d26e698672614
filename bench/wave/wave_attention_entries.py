"""Attention in the variants of the package's templates. Their wave size is 64, so they fit gfx942 and gfx950."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import wave_templates as templates
from wave_model import Entry, Schedule
from wave_templates import MIXED, WIDE, Make

ATTENTION: list[Entry] = []


def add(name: str, make: Make, target: str, schedules: Iterable[Schedule] = ("none",), **fields: Any) -> None:
    """One entry per schedule; what is no field of an entry is an option of Wave."""
    kept = {key: fields.pop(key) for key in ("fast", "note", "race") if key in fields}
    ATTENTION.extend(Entry(name, target, schedule, make, options=fields, **kept) for schedule in schedules)


add("attention", templates.vanilla_attention(), "gfx942", ("none", "modulo", "prefetch-attention"))
add("attention", templates.vanilla_attention(), "gfx950", ("none",))
add("attention", templates.vanilla_attention(), "gfx950", ("modulo", "prefetch-attention"))
add("attention_32x32", templates.vanilla_attention(WIDE), "gfx942", ("none", "modulo"))
add("attention_mixed", templates.vanilla_attention(MIXED), "gfx942")
add("attention_causal", templates.vanilla_attention(is_causal=True), "gfx942")
add("attention_window", templates.vanilla_attention(is_causal=True, sliding_window_size=64), "gfx942")
add("attention_v_transposed", templates.vanilla_attention(is_v_transposed=True), "gfx942", ("none", "modulo"))
add(
    "attention_dynamic",
    templates.vanilla_attention(dynamic=True),
    "gfx942",
    note="sizes known only at launch",
)
add("attention_copies", templates.vanilla_attention(), "gfx950", use_global_to_shared=True)
add("attention_packed", templates.vanilla_attention(), "gfx942", race="b", reorder_allocs=False,
    note="keys and values on the same bytes of LDS")  # fmt: skip
add("attention_packed", templates.vanilla_attention(), "gfx950", race="b", reorder_allocs=False,
    note="keys and values on the same bytes of LDS")  # fmt: skip
add("attention_bshd", templates.bshd_attention(), "gfx942", ("none", "modulo"))
add("attention_bshd_mask", templates.bshd_attention(is_custom_mask=True), "gfx942")
add("attention_bhsd", templates.bhsd_attention(is_causal=True), "gfx942")
add("attention_bshd", templates.bshd_attention(), "gfx950")
add("attention_alibi", templates.alibi_attention(), "gfx942")
add("attention_t5", templates.t5_attention(), "gfx942", ("none", "modulo"))
add("attention_fp8", templates.quantized_attention(), "gfx942")
add("attention_gqa", templates.gqa_attention(), "gfx942")
add("attention_gqa", templates.gqa_attention(), "gfx950")
add("attention_gqa_causal", templates.gqa_attention(is_causal=True), "gfx942")
add("attention_evoformer", templates.evoformer(), "gfx942")
add("attention_prefill", templates.prefill_attention(), "gfx942")
add("attention_prefill", templates.prefill_attention(), "gfx950")
add("attention_extend", templates.extend_attention(), "gfx942")
add("attention_extend", templates.extend_attention(), "gfx950")
add("attention_extend_causal", templates.extend_attention(is_causal=True), "gfx942")
add("attention_extend_32x32", templates.extend_attention(WIDE, waves=2), "gfx942")
add(
    "attention_extend_rpe",
    templates.extend_attention(rpe=True, max_rpe_context_length=10, is_causal=True),
    "gfx942",
)
add("decode_parts", templates.decode_attention(0), "gfx942")
add("decode_combine", templates.decode_attention(1), "gfx942", fast=True)
add("decode_gqa_parts", templates.gqa_decode_attention(0), "gfx942")
add("decode_gqa_combine", templates.gqa_decode_attention(1), "gfx942", fast=True)
add("decode_paged_parts", templates.paged_decode_attention(0), "gfx942")
add("decode_paged_combine", templates.paged_decode_attention(1), "gfx942", fast=True)
