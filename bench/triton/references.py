"""What the kernels should compute, in numpy: inputs and scalars by the kernel's parameter names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from model import Arrays, Value
from numpy.typing import NDArray

Scalars = Mapping[str, Value]


def _f32(array: NDArray[Any]) -> NDArray[np.float32]:
    return array.astype(np.float32)


def matmul(x: Arrays, _: Scalars) -> Arrays:
    """c = a @ b."""
    return {"c_ptr": _f32(x["a_ptr"]) @ _f32(x["b_ptr"])}


def matmul_transposed_b(x: Arrays, _: Scalars) -> Arrays:
    """c = a @ b.T, also with a batch in front."""
    return {"c_ptr": _f32(x["a_ptr"]) @ np.swapaxes(_f32(x["b_ptr"]), -1, -2)}


def matmul_epilogue(x: Arrays, _: Scalars) -> Arrays:
    """Bias, squared relu and a division by the row's maximum within a tile of 128 columns."""
    c = np.maximum(_f32(x["a_ptr"]) @ _f32(x["b_ptr"]) + x["bias_ptr"], 0.0) ** 2
    tiles = c.reshape(c.shape[0], -1, 128)
    return {"c_ptr": (tiles / (tiles.max(axis=2, keepdims=True) + 1.0)).reshape(c.shape)}


def sum_rows(x: Arrays, _: Scalars) -> Arrays:
    """One sum per row."""
    return {"out_ptr": x["x_ptr"].sum(axis=1)}


def sum_columns(x: Arrays, _: Scalars) -> Arrays:
    """One sum per column."""
    return {"out_ptr": x["x_ptr"].sum(axis=0)}


def sum_both_axes(x: Arrays, _: Scalars) -> Arrays:
    """Row sums, column sums, and the total plus the largest column sum."""
    rows, cols = x["x_ptr"].sum(axis=1), x["x_ptr"].sum(axis=0)
    return {"row_ptr": rows, "col_ptr": cols, "all_ptr": np.array([rows.sum() + cols.max()])}


def argmax_rows(x: Arrays, _: Scalars) -> Arrays:
    """The largest value of every row and its index."""
    return {"value_ptr": x["x_ptr"].max(axis=1), "index_ptr": x["x_ptr"].argmax(axis=1)}


def moments(x: Arrays, _: Scalars) -> Arrays:
    """Mean and variance of every row."""
    return {"mean_ptr": x["x_ptr"].mean(axis=1), "var_ptr": x["x_ptr"].var(axis=1)}


def sum_loop(x: Arrays, _: Scalars) -> Arrays:
    """Sum and maximum of everything."""
    return {"out_ptr": np.array([x["x_ptr"].sum(), x["x_ptr"].max()])}


def softmax(x: Arrays, _: Scalars) -> Arrays:
    """Softmax of every row."""
    rows = _f32(x["x_ptr"])
    e = np.exp(rows - rows.max(axis=1, keepdims=True))
    return {"out_ptr": e / e.sum(axis=1, keepdims=True)}


def layer_norm(x: Arrays, scalars: Scalars) -> Arrays:
    """Layer norm with its mean and reciprocal deviation."""
    rows = _f32(x["x_ptr"])
    mean = rows.mean(axis=1)
    rstd = 1.0 / np.sqrt(rows.var(axis=1) + float(scalars["eps"]))
    out = (rows - mean[:, None]) * rstd[:, None] * x["weight_ptr"] + x["bias_ptr"]
    return {"out_ptr": out, "mean_ptr": mean, "rstd_ptr": rstd}


def layer_norm_backward(x: Arrays, _: Scalars) -> Arrays:
    """The gradients of layer norm, for whatever mean and deviation are given."""
    normal = (_f32(x["x_ptr"]) - x["mean_ptr"][:, None]) * x["rstd_ptr"][:, None]
    dy = _f32(x["dy_ptr"])
    scaled = dy * x["weight_ptr"]
    along = (normal * scaled).mean(axis=1, keepdims=True)
    dx = (scaled - normal * along - scaled.mean(axis=1, keepdims=True)) * x["rstd_ptr"][:, None]
    return {"dx_ptr": dx, "dweight_ptr": (dy * normal).sum(axis=0), "dbias_ptr": dy.sum(axis=0)}


def _scores(x: Arrays, scalars: Scalars) -> NDArray[np.float32]:
    return _f32(x["q_ptr"]) @ np.swapaxes(_f32(x["k_ptr"]), 1, 2) * np.float32(scalars["scale"])


def _attention(x: Arrays, scores: NDArray[np.float32]) -> Arrays:
    peak = scores.max(axis=2, keepdims=True)
    p = np.exp(scores - peak)
    total = p.sum(axis=2, keepdims=True)
    return {"out_ptr": p / total @ _f32(x["v_ptr"]), "lse_ptr": (peak + np.log(total))[:, :, 0]}


def attention(x: Arrays, scalars: Scalars) -> Arrays:
    """Attention of every head, with the logarithm of the row sums."""
    return _attention(x, _scores(x, scalars))


def attention_causal(x: Arrays, scalars: Scalars) -> Arrays:
    """The same where a query sees only keys that are not after it."""
    scores = _scores(x, scalars)
    length = scores.shape[1]
    return _attention(x, np.where(np.tri(length, dtype=bool)[None], scores, -np.inf))


def _score_gradient(x: Arrays, scalars: Scalars) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    p = np.exp(_scores(x, scalars) - x["lse_ptr"][:, :, None])
    dp = _f32(x["do_ptr"]) @ np.swapaxes(_f32(x["v_ptr"]), 1, 2)
    return p, p * (dp - x["delta_ptr"][:, :, None]) * np.float32(scalars["scale"])


def attention_backward_kv(x: Arrays, scalars: Scalars) -> Arrays:
    """Gradients of keys and values, for whatever row sums and deltas are given."""
    p, ds = _score_gradient(x, scalars)
    return {
        "dk_ptr": np.swapaxes(ds, 1, 2) @ _f32(x["q_ptr"]),
        "dv_ptr": np.swapaxes(p, 1, 2) @ _f32(x["do_ptr"]),
    }


def attention_backward_q(x: Arrays, scalars: Scalars) -> Arrays:
    """Gradient of the queries."""
    _, ds = _score_gradient(x, scalars)
    return {"dq_ptr": ds @ _f32(x["k_ptr"])}


def matmul_descriptor(x: Arrays, _: Scalars) -> Arrays:
    """c = a @ b given as descriptors."""
    return {"c_desc": _f32(x["a_desc"]) @ _f32(x["b_desc"])}


def copy_descriptor(x: Arrays, _: Scalars) -> Arrays:
    """Everything doubled."""
    return {"out_desc": x["in_desc"] * 2}


def add_descriptor(x: Arrays, _: Scalars) -> Arrays:
    """The sum of the blocks of 64 rows."""
    return {"out_desc": x["in_desc"].reshape(-1, 64, x["in_desc"].shape[1]).sum(axis=0)}


def matmul_grouped(x: Arrays, _: Scalars) -> Arrays:
    """Every group of rows with its own right-hand side."""
    first = x["first_ptr"]
    parts = [
        _f32(x["a_ptr"][first[group] : first[group + 1]]) @ _f32(x["b_ptr"][group])
        for group in range(len(first) - 1)
    ]
    return {"c_ptr": np.concatenate(parts)}


def matmul_chained(x: Arrays, _: Scalars) -> Arrays:
    """(a @ b.T) @ c."""
    return {"d_ptr": _f32(x["a_ptr"]) @ _f32(x["b_ptr"]).T @ _f32(x["c_ptr"])}


def matmul_skip(x: Arrays, _: Scalars) -> Arrays:
    """A product over the blocks of K that are in use."""
    used = np.repeat(x["use_ptr"] != 0, x["a_ptr"].shape[1] // len(x["use_ptr"]))
    return {"c_ptr": _f32(x["a_ptr"][:, used]) @ _f32(x["b_ptr"][used])}


def matmul_scaled(x: Arrays, _: Scalars) -> Arrays:
    """A product of values with a shared exponent for 32 of them along K."""
    a_scale = np.repeat(2.0 ** (x["a_scale_ptr"].astype(np.float32) - 127.0), 32, axis=1)
    b_scale = np.repeat(2.0 ** (x["b_scale_ptr"].astype(np.float32) - 127.0), 32, axis=1).T
    return {"c_ptr": (_f32(x["a_ptr"]) * a_scale) @ (_f32(x["b_ptr"]) * b_scale)}


def transpose(x: Arrays, _: Scalars) -> Arrays:
    """The transposed matrix."""
    return {"out_ptr": x["x_ptr"].T}


def permute_reshape(x: Arrays, _: Scalars) -> Arrays:
    """(A, B, C) to (C, A * B)."""
    return {"out_ptr": x["x_ptr"].transpose(2, 0, 1).reshape(x["x_ptr"].shape[2], -1)}


def cumsum_rows(x: Arrays, _: Scalars) -> Arrays:
    """Running sums along axis 1."""
    return {"out_ptr": x["x_ptr"].cumsum(axis=1)}


def cumsum_columns_reversed(x: Arrays, _: Scalars) -> Arrays:
    """Running sums along axis 0 from the end."""
    return {"out_ptr": x["x_ptr"][::-1].cumsum(axis=0)[::-1]}


def recurrence(x: Arrays, _: Scalars) -> Arrays:
    """h[t] = decay[t] * h[t - 1] + x[t]."""
    out = np.zeros_like(x["x_ptr"])
    state = np.zeros(len(out), dtype=np.float32)
    for t in range(out.shape[1]):
        state = x["decay_ptr"][:, t] * state + x["x_ptr"][:, t]
        out[:, t] = state
    return {"out_ptr": out}


def sort_rows(x: Arrays, _: Scalars) -> Arrays:
    """Rows in rising order."""
    return {"out_ptr": np.sort(x["x_ptr"], axis=1)}


def top_k(x: Arrays, _: Scalars) -> Arrays:
    """The 16 largest values of every row in falling order."""
    return {"out_ptr": np.sort(x["x_ptr"], axis=1)[:, ::-1][:, :16]}


def histogram(x: Arrays, _: Scalars) -> Arrays:
    """How often each of the 64 values occurs."""
    return {"out_ptr": np.bincount(x["x_ptr"], minlength=64)}


def gather_rows(x: Arrays, _: Scalars) -> Arrays:
    """out[i, j] = table[index[i, j], j]."""
    return {"out_ptr": np.take_along_axis(x["table_ptr"], x["index_ptr"], axis=0)}


def flip_join(x: Arrays, _: Scalars) -> Arrays:
    """Running sums over a block of 256 interleaved with its own reverse."""
    blocks = x["x_ptr"].reshape(-1, 256)
    return {
        "out_ptr": np.stack([blocks, blocks[:, ::-1]], axis=2).reshape(len(blocks), -1).cumsum(axis=1).ravel()
    }


def call(x: Arrays, _: Scalars) -> Arrays:
    """The cosine between two rows, plus the largest value of the first."""
    a, b = x["x_ptr"], x["y_ptr"]
    cosine = (a * b).sum(axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    return {"out_ptr": cosine + a.max(axis=1)}


def call_in_loop(x: Arrays, _: Scalars) -> Arrays:
    """Running sums of the whole array."""
    return {"out_ptr": x["x_ptr"].cumsum()}


def call_nested(x: Arrays, _: Scalars) -> Arrays:
    """Every row transposed as 16 columns, plus the sum of distances to its maximum, less the maximum."""
    rows = x["x_ptr"]
    peak = rows.max(axis=1, keepdims=True)
    spread = (peak - rows).sum(axis=1, keepdims=True) - peak
    return {"out_ptr": rows.reshape(len(rows), -1, 16).swapaxes(1, 2).reshape(rows.shape) + spread}


def converge(x: Arrays, scalars: Scalars) -> Arrays:
    """Rows halved until the sum of their magnitudes is at most `limit`, and how often."""
    rows = x["x_ptr"].copy()
    steps = np.zeros(len(rows), dtype=np.int32)
    for number, row in enumerate(rows):
        while np.abs(row).sum() > float(scalars["limit"]):
            row *= 0.5
            steps[number] += 1
    return {"out_ptr": rows, "steps_ptr": steps}


def branch(x: Arrays, _: Scalars) -> Arrays:
    """Running sums or a transpose, by the sign of the sum, less the maximum."""
    rows = [row.cumsum() if row.sum() > 0 else row.reshape(-1, 16).T.ravel() for row in x["x_ptr"]]
    return {"out_ptr": np.stack([row - row.max() for row in rows])}


def branch_in_loop(x: Arrays, _: Scalars) -> Arrays:
    """Blocks of 256 that a flag says to add (1) or to take the maximum of (2)."""
    total = np.float32(0.0)
    for flag, block in zip(x["flags_ptr"], x["x_ptr"].reshape(-1, 256), strict=True):
        if flag == 1:
            total += block.sum()
        elif flag == 2:
            total = max(total, (block * total).max())
    return {"out_ptr": np.array([total, x["x_ptr"][:256].sum() if total > 0 else 0.0])}


def tickets(x: Arrays, _: Scalars) -> Arrays:
    """The sum of everything, and the counter at the number of programs."""
    return {"out_ptr": np.array([x["x_ptr"].sum()]), "count_ptr": np.array([len(x["x_ptr"])])}


def atomic_chain(x: Arrays, _: Scalars) -> Arrays:
    """Running maxima per lane; each round writes the sum of what was there before, plus the lane."""
    blocks = x["x_ptr"].reshape(-1, 256)
    seen = np.zeros(256, dtype=np.int32)
    out = []
    for block in blocks:
        out.append(seen.sum() + np.arange(256))
        seen = np.maximum(seen, block)
    return {"out_ptr": np.concatenate(out), "slots_ptr": np.concatenate([[0], seen])}


def tree_sum(x: Arrays, _: Scalars) -> Arrays:
    """One sum per row of a block."""
    return {"out_ptr": x["x_ptr"].sum(axis=1)}


def count(x: Arrays, _: Scalars) -> Arrays:
    """How often each of the 256 values occurs."""
    return {"out_ptr": np.bincount(x["x_ptr"], minlength=256)}


def scaled(x: Arrays, _: Scalars) -> Arrays:
    """Everything doubled."""
    return {"out_ptr": x["x_ptr"] * 2}


def scaled_to_descriptor(x: Arrays, _: Scalars) -> Arrays:
    """Everything doubled, into a descriptor."""
    return {"out_desc": x["x_ptr"] * 2}


def matmul_from_descriptors(x: Arrays, _: Scalars) -> Arrays:
    """c = a @ b with the operands given as descriptors."""
    return {"c_ptr": _f32(x["a_desc"]) @ _f32(x["b_desc"])}
