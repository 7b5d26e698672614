"""Run the Triton kernels of the corpus on the CPU with Triton's interpreter and compare with the references.

    python bench/triton/interpret.py [--only NAME]

It shows that kernels and references agree on what is computed; whether the warps are synchronized does not matter
to it. Gluon kernels have no interpreter.
"""

from __future__ import annotations

import argparse
import importlib
import os
import time
from typing import Any

# Read when the kernels are decorated, so before they are imported.
os.environ["TRITON_INTERPRET"] = "1"

from arguments import arrays, materialize, mismatches
from corpus import CORPUS
from model import BYTES, Entry, Scalar, TensorMap

# The interpreter does not do these; the reason stands with each.
LEFT_OUT = {
    "matmul_bf16": "it multiplies the bits of bf16 as if they were integers",
    "add_descriptor": "it has no atomics through a descriptor",
}


class ElementType(str):
    """The name of a type that knows its size, as the type of a tensor does."""

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return BYTES[self]


class HostTensor:
    """As much of a tensor as the interpreter asks for, over a numpy array."""

    def __init__(self, array: Any, dtype: str) -> None:
        self.array = array
        self.dtype = ElementType(dtype)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self.array.ctypes.data)

    def untyped_storage(self) -> HostTensor:
        """Storage and tensor are one."""
        return self

    def cpu(self) -> HostTensor:
        """Already there."""
        return self

    def copy_(self, _other: HostTensor) -> None:
        """The interpreter has worked on the array itself, nothing is to be copied back."""

    def new_empty(self, *_: Any, **__: Any) -> HostTensor:
        """The copy that the interpreter is about to point at this storage."""
        return HostTensor(self.array, self.dtype)

    def set_(self, *_: Any) -> None:
        """It does already."""

    def storage_offset(self) -> int:
        """The array starts where its storage does."""
        return 0

    def size(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.array.shape)

    def stride(self) -> tuple[int, ...]:
        """Strides in elements."""
        return tuple(step // self.array.itemsize for step in self.array.strides)


def run(entry: Entry) -> dict[str, float]:
    """Interpret one entry; what is off, as `mismatches` says it."""
    descriptor = importlib.import_module("triton.tools.tensor_descriptor").TensorDescriptor
    before = materialize(entry)
    after = {name: array.copy() for name, array in before.items()}
    types = {name: array.dtype for name, array in arrays(entry).items()}
    values: dict[str, Any] = dict(entry.constants("sm_90"))
    for name, argument in entry.args.items():
        if isinstance(argument, Scalar):
            values[name] = argument.value
            continue
        tensor = HostTensor(after[name], types[name])
        values[name] = tensor
        if isinstance(argument, TensorMap):
            values[name] = descriptor(
                tensor, list(tensor.size()), list(tensor.stride()), list(argument.block)
            )
    entry.kernel[entry.grid](**values)
    return mismatches(entry, before, after)


def main(argv: list[str] | None = None) -> int:
    """Interpret the chosen entries and print what is off."""
    parser = argparse.ArgumentParser(description="Run the Triton corpus on the CPU.")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this entry (may be repeated)")
    options = parser.parse_args(argv)
    failed = 0
    for name, entry in CORPUS.items():
        if entry.language != "triton" or entry.reference is None or name in LEFT_OUT:
            continue
        if options.only and name not in options.only:
            continue
        began = time.perf_counter()
        try:
            wrong = run(entry)
            state = ", ".join(f"{output} off by {distance:.3g}" for output, distance in wrong.items()) or "ok"
        except Exception as error:
            state = f"{type(error).__name__}: {str(error)[:160]}"
        failed += state != "ok"
        print(f"{name:36} {time.perf_counter() - began:6.1f} s  {state}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
