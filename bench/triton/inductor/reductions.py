"""Programs that reduce, scan or sort: in a loop, in one block (persistent), split over blocks, cooperative."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, bfloat16, empty, float16, int64

from inductor.program import Inputs, Program, program

LOOPED = {"triton.persistent_reductions": False}
COOPERATIVE = {"triton.cooperative_reductions": True, "triton.force_cooperative_reductions": True}

SHAPES = {
    "short": (4096, 64),
    "rows": (512, 1024),
    "long": (64, 65536),
    "one": (1, 1 << 20),
    "odd": (333, 777),
}
"""Rows and columns; inductor reduces short rows in one block, long ones in a loop, and splits what has few rows."""

REDUCTIONS: dict[str, Callable[[Tensor], object]] = {
    "sum": lambda x: x.sum(-1),
    "amax": lambda x: x.amax(-1),
    "argmax": lambda x: x.argmax(-1),
    "var_mean": lambda x: torch.var_mean(x, -1),
    "logsumexp": lambda x: x.logsumexp(-1),
    "softmax": lambda x: x.softmax(-1),
}


def tensor(*shape: int) -> Inputs:
    """One input of a shape."""
    return lambda: (empty(shape),)


def layer(width: int, parameters: int = 2, dtype: torch.dtype = torch.float32) -> Inputs:
    """Rows, and parameters that are as long as a row."""
    return lambda: (empty(256, width, dtype=dtype), *(empty(width, dtype=dtype) for _ in range(parameters)))


def rms_norm(x: Tensor, w: Tensor) -> Tensor:
    """Normalization by the root of the mean square."""
    return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6).to(x.dtype) * w


def per_shape() -> Iterator[Program]:
    """Every reduction of every shape."""
    for kind, function in REDUCTIONS.items():
        for shape, size in SHAPES.items():
            yield program(f"{kind}_{shape}", function, tensor(*size))


def forced() -> Iterator[Program]:
    """The same in the forms that inductor would choose for other sizes."""
    for kind, function in REDUCTIONS.items():
        for shape in ("short", "odd"):
            size = SHAPES[shape]
            yield program(f"{kind}_{shape}_looped", function, tensor(*size), options=LOOPED)
        size = SHAPES["long"]
        yield program(f"{kind}_cooperative", function, tensor(*size), options=COOPERATIVE)


def columns() -> Iterator[Program]:
    """Reductions of the outer dimension, where neighbours in memory are not reduced."""
    for shape, size in SHAPES.items():
        yield program(f"sum_columns_{shape}", lambda x: x.sum(0), tensor(*size))
        yield program(f"softmax_columns_{shape}", lambda x: x.softmax(0), tensor(*size))


def norms() -> Iterator[Program]:
    """Normalizations."""
    for width in (64, 1000, 4096, 32768):
        yield program(
            f"layer_norm_{width}",
            lambda x, w, b: F.layer_norm(x, w.shape, w, b),
            layer(width),
        )
        yield program(
            f"rms_norm_{width}",
            rms_norm,
            layer(width, 1, bfloat16),
        )
    yield program(
        "batch_norm", lambda x: F.batch_norm(x, None, None, training=True), lambda: (empty(16, 32, 28, 28),)
    )
    yield program("group_norm", lambda x: F.group_norm(x, 8), lambda: (empty(16, 32, 28, 28),))
    yield program("instance_norm", lambda x: F.instance_norm(x), lambda: (empty(16, 32, 28, 28),))
    yield program("normalize", lambda x: F.normalize(x, dim=-1), lambda: (empty(256, 300),))
    yield program(
        "add_layer_norm",
        lambda x, y: F.layer_norm(x + y.relu(), (768,)),
        lambda: (empty(512, 768), empty(512, 768)),
    )


def scans() -> Iterator[Program]:
    """Scans: in one block, split over several with a look back, and of other operations than addition."""
    for length in (100, 1024, 5000, 1 << 18):
        yield program(f"cumsum_{length}", lambda x: x.cumsum(-1), tensor(4, length))
    yield program("cumsum_one", lambda x: x.cumsum(0), lambda: (empty(1 << 20),))
    yield program("cumsum_columns", lambda x: x.cumsum(0), lambda: (empty(512, 64),))
    yield program("cumsum_int", lambda x: x.cumsum(-1), lambda: (empty(64, 1024, dtype=int64),))
    yield program("cumprod", lambda x: x.cumprod(-1), lambda: (empty(64, 1000),))
    yield program("cummax", lambda x: x.cummax(-1), lambda: (empty(64, 1000),))
    yield program("cummin_argument", lambda x: x.cummin(-1)[1], lambda: (empty(64, 200),))
    yield program("logcumsumexp", lambda x: x.logcumsumexp(-1), lambda: (empty(64, 1000),))
    yield program("cumsum_of_softmax", lambda x: x.softmax(-1).cumsum(-1), lambda: (empty(64, 1000),))


def sorts() -> Iterator[Program]:
    """Sorts of rows that fit into a block; longer ones are left to the library. Triton takes long for wide ones."""
    for length in (16, 64):
        yield program(f"sort_{length}", lambda x: x.sort(-1), tensor(64, length))
    yield program("argsort", lambda x: x.argsort(-1), lambda: (empty(64, 50),))
    yield program(
        "sort_stable_descending", lambda x: x.sort(stable=True, descending=True), lambda: (empty(64, 50),)
    )
    yield program("sort_f16", lambda x: x.sort(-1), lambda: (empty(64, 32, dtype=float16),))
    yield program("median_by_sort", lambda x: x.sort(-1)[0][:, 16], lambda: (empty(64, 33),))


def others() -> Iterator[Program]:
    """Losses, several reductions at once, two dimensions, other types."""
    yield program("cross_entropy", F.cross_entropy, lambda: (empty(256, 1000), empty(256, dtype=int64)))
    yield program("cross_entropy_large", F.cross_entropy, lambda: (empty(64, 50257), empty(64, dtype=int64)))
    yield program("mse", F.mse_loss, lambda: (empty(512, 512), empty(512, 512)))
    yield program(
        "kl_div",
        lambda x, y: F.kl_div(x.log_softmax(-1), y, reduction="batchmean"),
        lambda: (empty(128, 512), empty(128, 512)),
    )
    yield program("bce", F.binary_cross_entropy_with_logits, lambda: (empty(4096), empty(4096)))
    yield program("cosine", F.cosine_similarity, lambda: (empty(512, 300), empty(512, 300)))
    yield program("aminmax", torch.aminmax, lambda: (empty(1000, 100),))
    yield program("all_any", lambda x: (x > 0).all(-1) | (x < 0).any(-1), lambda: (empty(512, 300),))
    yield program("prod", lambda x: x.prod(-1), lambda: (empty(512, 300),))
    yield program("norm", lambda x: torch.linalg.vector_norm(x), lambda: (empty(512, 512),))
    yield program("mean_spatial", lambda x: x.mean((2, 3)), lambda: (empty(16, 64, 56, 56),))
    yield program("mean_channels", lambda x: x.mean(1), lambda: (empty(16, 64, 56, 56),))
    yield program("sum_middle", lambda x: x.sum(1), lambda: (empty(64, 100, 64),))
    yield program("sum_bf16", lambda x: x.sum(-1), lambda: (empty(512, 1000, dtype=bfloat16),))
    yield program(
        "sum_of_transposed", lambda x, y: (x + y.t()).sum(-1), lambda: (empty(512, 300), empty(300, 512))
    )
    yield program("argmin_int", lambda x: x.argmin(-1), lambda: (empty(512, 300, dtype=int64),))
    yield program(
        "quantize_rows",
        lambda x: (x / x.abs().amax(-1, keepdim=True) * 127).to(torch.int8),
        lambda: (empty(512, 1024, dtype=bfloat16),),
    )
    yield program(
        "mask_softmax",
        lambda x, m: x.masked_fill(m, float("-inf")).softmax(-1),
        lambda: (empty(16, 128, 128), empty(128, 128).bool()),
    )
    yield program(
        "topk_by_sort", lambda x: x.sort(-1, descending=True)[0][:, :8].sum(-1), lambda: (empty(256, 64),)
    )
    yield program("var_two_dimensions", lambda x: x.var((1, 2)), lambda: (empty(32, 40, 50),))
    yield program("welford_long", lambda x: torch.var_mean(x, (0, 2)), lambda: (empty(64, 32, 3000),))
    yield program("sum_dynamic", lambda x: x.sum(-1), lambda: (empty(100, 700),), dynamic=True)
    yield program("softmax_dynamic", lambda x: x.softmax(-1), lambda: (empty(100, 700),), dynamic=True)
    yield program("histogram_like", lambda i: F.one_hot(i, 64).sum(0), lambda: (empty(4096, dtype=int64),))
    yield program(
        "multi_kernel",
        lambda x: x.softmax(-1),
        lambda: (empty(256, 3000),),
        options={"triton.multi_kernel": 1},
    )
    yield program(
        "combo_reductions",
        lambda x, y: (x.sum(-1), y.amax(-1)),
        lambda: (empty(64, 500), empty(100, 300)),
        options={"combo_kernels": True},
    )


def programs() -> list[Program]:
    """All of this kind."""
    return [*per_shape(), *forced(), *columns(), *norms(), *scans(), *sorts(), *others()]
