"""Programs that inductor has templates for: products, convolutions, attention; in several configurations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, bfloat16, empty, float16, float32
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from inductor.program import Program, program

TUNED = {"max_autotune": True, "max_autotune_conv_backends": "TRITON"}
CONFIGURATIONS = (0, 3, 7, 12)
"""Numbers of inductor's configurations (tile sizes, stages, warps)."""


def addmm_relu(b: Tensor, x: Tensor, w: Tensor) -> Tensor:
    """A product with a bias and what follows it fused in."""
    return torch.addmm(b, x, w).relu()


def products() -> Iterator[Program]:
    """`mm`, `addmm`, `bmm` and what is fused into them."""
    kinds: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Tensor, ...]]]] = {
        "mm_f16": (torch.mm, lambda: (empty(512, 512, dtype=float16), empty(512, 512, dtype=float16))),
        "mm_bf16_odd": (torch.mm, lambda: (empty(500, 300, dtype=bfloat16), empty(300, 700, dtype=bfloat16))),
        "mm_f32": (torch.mm, lambda: (empty(256, 1024, dtype=float32), empty(1024, 256, dtype=float32))),
        "mm_transposed": (
            lambda x, w: x @ w.t(),
            lambda: (empty(512, 512, dtype=float16), empty(768, 512, dtype=float16)),
        ),
        "addmm_relu": (
            addmm_relu,
            lambda: (
                empty(512, dtype=float16),
                empty(256, 512, dtype=float16),
                empty(512, 512, dtype=float16),
            ),
        ),
        "bmm_f16": (
            torch.bmm,
            lambda: (empty(8, 256, 128, dtype=float16), empty(8, 128, 256, dtype=float16)),
        ),
        "mm_int8": (
            torch._int_mm,
            lambda: (empty(256, 256, dtype=torch.int8), empty(256, 256, dtype=torch.int8)),
        ),
    }
    for kind, (function, inputs) in kinds.items():
        for number in CONFIGURATIONS:
            yield program(f"{kind}_{number}", function, inputs, options=TUNED, choice=number)


def more_products() -> Iterator[Program]:
    """Products in other forms."""
    half = {"dtype": float16}
    yield program(
        "mm_prologue",
        lambda x, w: (x * 2).to(float16) @ w,
        lambda: (empty(512, 512), empty(512, 512, **half)),
        options={**TUNED, "prologue_fusion": True},
    )
    yield program(
        "mm_gelu_add",
        lambda x, w, y: F.gelu(x @ w) + y,
        lambda: (empty(512, 512, **half), empty(512, 512, **half), empty(512, 512, **half)),
        options=TUNED,
    )
    yield program(
        "mm_plus_mm",
        lambda a, b, c, d: a @ b + c @ d,
        lambda: tuple(empty(256, 256, **half) for _ in range(4)),
        options=TUNED,
    )
    yield program(
        "mm_split_k", torch.mm, lambda: (empty(64, 16384, **half), empty(16384, 64, **half)), options=TUNED
    )
    for number in (0, 2):
        yield program(
            f"mm_persistent_tma_{number}",
            torch.mm,
            lambda: (empty(1024, 512, **half), empty(512, 1024, **half)),
            options={**TUNED, "triton.enable_persistent_tma_matmul": True},
            choice=-1 - number,
        )
    yield program(
        "native_matmul",
        torch.mm,
        lambda: (empty(512, 512, **half), empty(512, 512, **half)),
        options={"triton.native_matmul": True},
    )
    yield program(
        "native_matmul_relu_sum",
        lambda x, w: (x @ w).relu().sum(-1),
        lambda: (empty(512, 512, **half), empty(512, 512, **half)),
        options={"triton.native_matmul": True},
    )
    yield program(
        "mm_dynamic",
        torch.mm,
        lambda: (empty(500, 512, **half), empty(512, 700, **half)),
        options=TUNED,
        dynamic=True,
    )


def convolutions() -> Iterator[Program]:
    """Convolutions by template."""
    for number in CONFIGURATIONS[:3]:
        yield program(
            f"conv_{number}",
            lambda x, w: F.conv2d(x, w, padding=1).relu(),
            lambda: (empty(4, 64, 28, 28, dtype=float16), empty(128, 64, 3, 3, dtype=float16)),
            options=TUNED,
            choice=number,
        )
    yield program(
        "conv_1x1",
        lambda x, w: F.conv2d(x, w),
        options=TUNED,
        inputs=lambda: (empty(4, 64, 28, 28, dtype=float16), empty(128, 64, 1, 1, dtype=float16)),
    )
    yield program(
        "conv_strided",
        lambda x, w, b: F.conv2d(x, w, b, stride=2),
        options=TUNED,
        inputs=lambda: (empty(4, 32, 28, 28), empty(64, 32, 3, 3), empty(64)),
    )
    yield program(
        "conv_3d",
        lambda x, w: F.conv3d(x, w),
        options=TUNED,
        inputs=lambda: (empty(2, 16, 8, 16, 16), empty(32, 16, 3, 3, 3)),
    )


def causal(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
    """A score modification."""
    return torch.where(q >= k, score, float("-inf"))


def alibi(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
    """Another one: a bias that depends on the head."""
    return score + (k - q) * (h + 1) * 0.125


def heads(
    length: int, dtype: torch.dtype = float16, queries: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys, values."""
    return empty(2, 4, queries or length, 64, dtype=dtype), *(
        empty(2, 4, length, 64, dtype=dtype) for _ in range(2)
    )


def attention() -> Iterator[Program]:
    """Attention with scores that a function modifies, forward and decoding."""
    for name, modify in (("plain", None), ("causal", causal), ("alibi", alibi)):
        for number in (0, 2):
            yield program(
                f"flex_{name}_{number}",
                lambda q, k, v, modify=modify: flex_attention(q, k, v, modify),
                lambda: heads(512),
                options=TUNED,
                choice=number,
            )
    yield program(
        "flex_f32",
        lambda q, k, v: flex_attention(q, k, v, causal),
        lambda: heads(256, float32),
        options=TUNED,
    )
    yield program(
        "flex_decoding",
        lambda q, k, v: flex_attention(q, k, v),
        lambda: heads(1024, queries=1),
        options=TUNED,
    )
    yield program(
        "flex_grouped",
        lambda q, k, v: flex_attention(q, k, v, enable_gqa=True),
        options=TUNED,
        inputs=lambda: (
            empty(2, 8, 256, 64, dtype=float16),
            *(empty(2, 2, 256, 64, dtype=float16) for _ in range(2)),
        ),
    )
    yield program("flex_block_mask", masked_attention, lambda: heads(512), options=TUNED)


def masked_attention(q: Tensor, k: Tensor, v: Tensor) -> Any:
    """Blocks that are masked out are left out."""
    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 512, 512, device=q.device)
    return flex_attention(q, k, v, block_mask=mask)


def programs() -> list[Program]:
    """All of this kind."""
    return [*products(), *more_products(), *convolutions(), *attention()]
