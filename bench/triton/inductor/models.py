"""Small models and losses, trained: the kernels of their forward and backward graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, empty, int64, nn

from inductor.program import Program, program

TUNED = {"max_autotune": True, "max_autotune_conv_backends": "TRITON"}


def weights(*shape: int, **rest: Any) -> Tensor:
    """A tensor that gradients are asked of."""
    return empty(*shape, requires_grad=True, **rest)


class Mlp(nn.Module):  # type: ignore[misc]
    """Two layers and a loss."""

    def __init__(self, width: int = 256) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(128, width), nn.GELU(), nn.Dropout(0.1), nn.Linear(width, 10))

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return F.cross_entropy(self.layers(x), target)


class Block(nn.Module):  # type: ignore[misc]
    """A transformer block, attention written out."""

    def __init__(self, width: int = 256, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Attention, then the feed-forward layers."""
        batch, length, width = x.shape
        parts = self.qkv(self.first(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = (part.transpose(1, 2) for part in parts.unbind(2))
        scores = (q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5).softmax(-1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.second(x))))


class GatedBlock(nn.Module):  # type: ignore[misc]
    """What newer models have: normalization by the root mean square, a gated feed-forward layer."""

    def __init__(self, width: int = 512) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(width)
        self.gate, self.up = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """With the residual."""
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class ConvNet(nn.Module):  # type: ignore[misc]
    """Convolutions with batch normalization, pooling, a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(32, 64, 3, stride=2)
        self.norm, self.norm2 = nn.BatchNorm2d(32), nn.BatchNorm2d(64)
        self.classifier = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        x = F.max_pool2d(self.norm(self.first(x)).relu(), 2)
        return self.classifier(self.norm2(self.second(x)).relu().mean((2, 3)))


class RnnCell(nn.Module):  # type: ignore[misc]
    """A GRU cell, written out, a few steps of it."""

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.of_input, self.of_state = nn.Linear(width, 3 * width), nn.Linear(width, 3 * width)

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        """The state after all steps."""
        for step in x.unbind(0):
            ri, zi, ni = self.of_input(step).chunk(3, -1)
            rs, zs, ns = self.of_state(state).chunk(3, -1)
            z = (zi + zs).sigmoid()
            state = z * state + (1 - z) * torch.tanh(ni + (ri + rs).sigmoid() * ns)
        return state


class Recommender(nn.Module):  # type: ignore[misc]
    """Embeddings that are summed, and the products of all pairs."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(1000, 32) for _ in range(4))

    def forward(self, indices: Tensor) -> Tensor:
        """The score."""
        rows = torch.stack([table(indices[:, place]) for place, table in enumerate(self.tables)], 1)
        return (rows @ rows.transpose(1, 2)).sum((1, 2)).sigmoid()


def adam(p: Tensor, g: Tensor, m: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A step of an optimizer."""
    m, v = m * 0.9 + g * 0.1, v * 0.999 + g * g * 0.001
    return p - 1e-3 * m / (v.sqrt() + 1e-8), m, v


def model(name: str, make: Any, inputs: Any, **rest: Any) -> Program:
    """A module, trained."""
    return Program(name, make, inputs, training=True, **rest)


def models() -> Iterator[Program]:
    """Modules; some a second time with templates instead of library calls."""
    rows = lambda: (empty(64, 128), empty(64, dtype=int64))  # noqa: E731
    yield model("mlp", Mlp, rows)
    yield model("mlp_tuned", Mlp, rows, options=TUNED)
    yield model("mlp_wide_tuned", lambda: Mlp(1024), rows, options=TUNED, choice=5)
    for name, options in (("block", {}), ("block_tuned", TUNED)):
        yield model(name, Block, lambda: (empty(2, 128, 256),), options=options)
    yield model("gated_block_tuned", GatedBlock, lambda: (empty(2, 128, 512),), options=TUNED, choice=2)
    yield model("conv_net", ConvNet, lambda: (empty(8, 3, 32, 32),))
    yield model("conv_net_tuned", ConvNet, lambda: (empty(8, 3, 32, 32),), options=TUNED)
    yield model("rnn", RnnCell, lambda: (empty(3, 32, 128), empty(32, 128)))
    yield model("rnn_tuned", RnnCell, lambda: (empty(3, 32, 128), empty(32, 128)), options=TUNED, choice=1)
    yield model("recommender", Recommender, lambda: (empty(256, 4, dtype=int64),))
    yield program("adam", adam, lambda: tuple(empty(1000, 100) for _ in range(4)))


def layers() -> Iterator[Program]:
    """Single layers and losses with their gradients."""
    train = {"training": True}
    yield program("softmax_training", lambda x: x.softmax(-1), lambda: (weights(256, 1000),), **train)
    yield program("softmax_long_training", lambda x: x.softmax(-1), lambda: (weights(16, 40000),), **train)
    yield program(
        "layer_norm_training",
        lambda x, w, b: F.layer_norm(x, (768,), w, b),
        lambda: (weights(512, 768), weights(768), weights(768)),
        **train,
    )
    yield program(
        "rms_norm_training",
        lambda x, w: F.rms_norm(x, (1024,), w),
        lambda: (weights(512, 1024), weights(1024)),
        **train,
    )
    yield program(
        "group_norm_training",
        lambda x, w, b: F.group_norm(x, 4, w, b),
        lambda: (weights(8, 32, 20, 20), weights(32), weights(32)),
        **train,
    )
    yield program(
        "batch_norm_training",
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
        lambda: (weights(8, 32, 20, 20), weights(32), weights(32)),
        **train,
    )
    yield program(
        "embedding_training",
        lambda w, i: F.embedding(i, w),
        lambda: (weights(1000, 64), empty(64, 32, dtype=int64)),
        **train,
    )
    yield program("cumsum_training", lambda x: x.cumsum(-1), lambda: (weights(64, 512),), **train)
    yield program(
        "max_pool_training", lambda x: F.max_pool2d(x, 2), lambda: (weights(4, 16, 32, 32),), **train
    )
    yield program(
        "gelu_dropout_training",
        lambda x: F.dropout(F.gelu(x), 0.1, True),
        lambda: (weights(512, 512),),
        **train,
    )
    yield program(
        "attention_training",
        lambda q, k, v: (q @ k.mT).softmax(-1) @ v,
        lambda: tuple(weights(8, 128, 64) for _ in range(3)),
        options=TUNED,
        **train,
    )
    losses: dict[str, Any] = {
        "nll": lambda x, t: F.nll_loss(x.log_softmax(-1), t),
        "smooth": lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1),
        "hinge": lambda x, t: F.multi_margin_loss(x, t),
    }
    for name, loss in losses.items():
        yield program(f"{name}_training", loss, lambda: (weights(128, 500), empty(128, dtype=int64)), **train)
    yield program("huber_training", F.huber_loss, lambda: (weights(128, 500), empty(128, 500)), **train)
    yield program(
        "triplet_training", F.triplet_margin_loss, lambda: tuple(weights(128, 256) for _ in range(3)), **train
    )


def programs() -> list[Program]:
    """All of this kind."""
    return [*models(), *layers()]
