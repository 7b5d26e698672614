"""Programs without reductions: arithmetic, copies that rearrange, gathers and scatters, random numbers."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, bfloat16, empty, float16, int32, int64

from inductor.program import Program, program


def indices(*shape: int, below: int = 128) -> Tensor:
    """Row numbers; fake tensors have no values, so the bound is only said."""
    del below
    return empty(*shape, dtype=int64)


def rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding."""
    left, right = x.chunk(2, -1)
    return x * cos + torch.cat((-right, left), -1) * sin


def silu_and_mul(x: Tensor) -> Tensor:
    """What gates the feed-forward layers of many models."""
    gate, up = x.chunk(2, -1)
    return F.silu(gate) * up


def scatter_add(out: Tensor, index: Tensor, values: Tensor) -> Tensor:
    """Atomic additions to global memory."""
    return out.index_add(0, index, values)


def several(*tensors: Tensor) -> list[Tensor]:
    """Programs that do not depend on one another: with combo kernels one kernel runs all."""
    return [each * 2 + 1 for each in tensors]


def foreach_update(weights: list[Tensor], gradients: list[Tensor]) -> list[Tensor]:
    """What an optimizer does to all of its parameters."""
    moved = torch._foreach_mul(gradients, 0.1)
    return list(torch._foreach_sub(weights, moved))


def interpolate(x: Tensor) -> Tensor:
    """Bilinear upsampling."""
    return F.interpolate(x, scale_factor=2, mode="bilinear")


def programs() -> list[Program]:
    """All of this kind."""
    found: list[Program] = [
        program("gelu", lambda x: F.gelu(x) * 2, lambda: (empty(1024, 1024),)),
        program("gelu_bf16", lambda x: F.gelu(x) * 2, lambda: (empty(1024, 1024, dtype=bfloat16),)),
        program("add_broadcast", lambda x, b: x + b, lambda: (empty(1024, 768), empty(768))),
        program("add_transposed", lambda x, y: x + y.t(), lambda: (empty(1024, 512), empty(512, 1024))),
        program("transpose_copy", lambda x: x.t().contiguous(), lambda: (empty(1000, 777),)),
        program(
            "transpose_copy_f16", lambda x: x.t().contiguous(), lambda: (empty(4096, 2048, dtype=float16),)
        ),
        program("permute_4d", lambda x: x.permute(0, 2, 3, 1).contiguous(), lambda: (empty(8, 64, 56, 56),)),
        program(
            "permute_5d", lambda x: x.permute(4, 1, 3, 0, 2).contiguous(), lambda: (empty(4, 8, 16, 8, 32),)
        ),
        program(
            "channels_last_add",
            lambda x, y: x + y.contiguous(memory_format=torch.channels_last),
            lambda: (empty(8, 64, 28, 28), empty(8, 64, 28, 28)),
        ),
        program(
            "cat_rows", lambda x, y: torch.cat((x, y.relu())), lambda: (empty(300, 200), empty(100, 200))
        ),
        program(
            "cat_columns",
            lambda x, y, z: torch.cat((x, y, z), 1).sin(),
            lambda: (empty(256, 100), empty(256, 50), empty(256, 7)),
        ),
        program("stack_many", lambda *x: torch.stack(x, 1), lambda: tuple(empty(512) for _ in range(6))),
        program("embedding", lambda w, i: F.embedding(i, w) * 8, lambda: (empty(1000, 64), indices(32, 128))),
        program("gather", lambda x, i: x.gather(1, i), lambda: (empty(512, 512), indices(512, 16))),
        program(
            "index_put",
            lambda x, i, v: x.index_put((i,), v),
            lambda: (empty(512, 64), indices(32), empty(32, 64)),
        ),
        program("index_add", scatter_add, lambda: (empty(512, 64), indices(128), empty(128, 64))),
        program(
            "scatter_reduce",
            lambda x, i, v: x.scatter_reduce(0, i, v, "amax"),
            lambda: (empty(512, 64), indices(128, 64), empty(128, 64)),
        ),
        program(
            "masked_fill",
            lambda x, m: x.masked_fill(m, -1e9),
            lambda: (empty(64, 512), empty(64, 512).bool()),
        ),
        program(
            "where_int",
            lambda x, y: torch.where(x > y, x // 3, y % 7),
            lambda: (empty(4096, dtype=int32), empty(4096, dtype=int32)),
        ),
        program("triu", lambda x: x.triu(1), lambda: (empty(256, 256),)),
        program(
            "arange_grid",
            lambda x: x + torch.arange(512, device=x.device)[:, None],
            lambda: (empty(512, 64),),
        ),
        program("roll", lambda x: x.roll(3, 1), lambda: (empty(128, 333),)),
        program("flip", lambda x: x.flip(1), lambda: (empty(128, 333),)),
        program(
            "pad_reflect", lambda x: F.pad(x, (1, 2, 3, 4), mode="reflect"), lambda: (empty(4, 3, 32, 32),)
        ),
        program("upsample", interpolate, lambda: (empty(4, 16, 32, 32),)),
        program("max_pool", lambda x: F.max_pool2d(x, 3, 2, 1), lambda: (empty(4, 16, 56, 56),)),
        program("avg_pool", lambda x: F.avg_pool2d(x, 2), lambda: (empty(4, 16, 56, 56),)),
        program("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), lambda: (empty(4, 64, 32, 32),)),
        program("one_hot", lambda i: F.one_hot(i, 100).float(), lambda: (indices(256),)),
        program("bucketize", lambda x, b: torch.bucketize(x, b), lambda: (empty(2048), empty(64))),
        program("dropout", lambda x: F.dropout(x, 0.2, training=True), lambda: (empty(1024, 512),)),
        program("randn", lambda x: x + torch.randn_like(x), lambda: (empty(1024, 512),)),
        program("rotary", rotary, lambda: (empty(4, 16, 128, 64), empty(128, 64), empty(128, 64))),
        program("silu_and_mul", silu_and_mul, lambda: (empty(512, 2048, dtype=bfloat16),)),
        program(
            "complex_polar",
            lambda r, t: torch.stack((r * t.cos(), r * t.sin()), -1),
            lambda: (empty(1024), empty(1024)),
        ),
        program("special", lambda x: torch.erf(x) + torch.lgamma(x.abs() + 1), lambda: (empty(4096),)),
        program(
            "quantize",
            lambda x, s: (x / s).round().clamp(-128, 127).to(torch.int8),
            lambda: (empty(512, 512), empty(1)),
        ),
        program(
            "dequantize",
            lambda x, s: x.to(float16) * s,
            lambda: (empty(512, 512, dtype=torch.int8), empty(512, 1, dtype=float16)),
        ),
        program(
            "pack_int4",
            lambda x: (x[:, ::2] & 15) | (x[:, 1::2] << 4),
            lambda: (empty(256, 256, dtype=torch.uint8),),
        ),
        program(
            "combo",
            several,
            lambda: (empty(1024), empty(4000), empty(64, 64)),
            options={"combo_kernels": True},
        ),
        program(
            "foreach", foreach_update, lambda: ([empty(512), empty(64, 64)], [empty(512), empty(64, 64)])
        ),
        program(
            "dynamic_pointwise",
            lambda x, y: (x + y).tanh(),
            lambda: (empty(100, 200), empty(100, 200)),
            dynamic=True,
        ),
        program("dynamic_transpose", lambda x: x.t().contiguous(), lambda: (empty(100, 200),), dynamic=True),
        program(
            "tensor_descriptors",
            lambda x, y: x + y.t(),
            lambda: (empty(512, 512), empty(512, 512)),
            options={"triton.use_tensor_descriptor": True, "assume_aligned_inputs": True},
        ),
    ]
    return found
