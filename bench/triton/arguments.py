"""Concrete arguments for an entry, and the comparison of what a run left in them with the reference.

Arrays are held as a device holds them: types that numpy lacks (bf16, fp8) as their bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from model import Array, Entry, Scalar, TensorMap, Value, decode
from numpy.typing import NDArray

STORAGE: dict[str, Any] = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
    "u32": np.uint32, "fp8e5": np.uint8, "fp8e4nv": np.uint8, "fp16": np.float16, "bf16": np.uint16,
    "fp32": np.float32,
}  # fmt: skip


def arrays(entry: Entry) -> dict[str, Array]:
    """The arrays behind pointers and descriptors, by parameter."""
    found: dict[str, Array] = {}
    for name, argument in entry.args.items():
        if isinstance(argument, TensorMap):
            found[name] = argument.array
        elif isinstance(argument, Array):
            found[name] = argument
    return found


def scalars(entry: Entry) -> dict[str, Value]:
    """The numbers passed by value."""
    return {name: argument.value for name, argument in entry.args.items() if isinstance(argument, Scalar)}


def materialize(entry: Entry, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Every array with its first content; outputs begin with a value that no kernel leaves behind."""
    rng = np.random.default_rng(seed)
    return {name: _fill(array, rng) for name, array in arrays(entry).items()}


def _fill(array: Array, rng: np.random.Generator) -> NDArray[Any]:
    storage = STORAGE[array.dtype]
    if array.values:
        return np.array(array.values, dtype=storage).reshape(array.shape)
    if array.role == "out":
        # 0x7b is a large number in every floating-point type here, and no index.
        return np.frombuffer(b"\x7b" * array.nbytes, dtype=storage).reshape(array.shape).copy()
    if array.fill == "zeros":
        return np.zeros(array.shape, dtype=storage)
    if array.fill == "index":
        return rng.integers(0, array.bound, array.shape).astype(storage)
    if array.fill == "exponent":
        return rng.integers(125, 130, array.shape).astype(storage)
    if array.dtype.startswith(("i", "u")):
        return rng.integers(-4, 5, array.shape).astype(storage)
    if array.fill == "positive":
        return rng.uniform(array.bound / 2, array.bound, array.shape).astype(storage)
    return _encode(rng.standard_normal(array.shape, dtype=np.float32), array.dtype)


def _encode(values: NDArray[np.float32], dtype: str) -> NDArray[Any]:
    """Round towards zero into the bits of a type; exactness does not matter for inputs."""
    if dtype == "bf16":
        return (values.view(np.uint32) >> 16).astype(np.uint16)
    if dtype == "fp8e5":
        return (values.astype(np.float16).view(np.uint16) >> 8).astype(np.uint8)
    if dtype == "fp8e4nv":
        # Sign, four bits of exponent (biased by 7, kept to normal numbers), three bits of fraction.
        bits = values.view(np.uint32)
        exponent = np.clip((bits >> 23 & 0xFF).astype(np.int32) - 127 + 7, 1, 14)
        return ((bits >> 24 & 0x80) | (exponent << 3) | (bits >> 20 & 0x7)).astype(np.uint8)
    return values.astype(STORAGE[dtype])


def mismatches(
    entry: Entry, before: Mapping[str, NDArray[Any]], after: Mapping[str, NDArray[Any]]
) -> dict[str, float]:
    """For every output that is off by more than the tolerance, by how much, relative to its largest value."""
    if entry.reference is None:
        raise ValueError(f"{entry.name} has no reference")
    layout = arrays(entry)
    inputs = {name: decode(raw, layout[name].dtype) for name, raw in before.items()}
    wrong: dict[str, float] = {}
    for name, expected in entry.reference(inputs, scalars(entry)).items():
        got = decode(after[name], layout[name].dtype).astype(np.float64).reshape(expected.shape)
        distance = np.abs(got - expected).max() / max(1.0, float(np.abs(expected).max()))
        if not distance <= entry.tolerance:
            wrong[name] = float(distance)
    return wrong
