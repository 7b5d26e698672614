"""What an entry of the corpus is: a kernel, how it is specialized, and how one would launch it.

Everything here is plain data, so that a runner on a machine with a GPU needs nothing of Triton but the compiled
binary: every argument comes with its shape, its type and how to fill it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Value = int | float | bool | str
Arrays = Mapping[str, NDArray[Any]]
# Takes the inputs (decoded to float32 where numpy lacks the type) and the scalars, gives the expected outputs.
Reference = Callable[[Arrays, Mapping[str, Value]], Arrays]

BYTES = {
    "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u32": 4,
    "fp8e5": 1, "fp8e4nv": 1, "fp16": 2, "bf16": 2, "fp32": 4,
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """One GPU that kernels are compiled for, as `GPUTarget` names it."""

    name: str
    backend: Literal["hip", "cuda"]
    arch: str | int
    warp_size: int

    @property
    def assembly(self) -> str:
        """The stage of Triton that holds the assembly."""
        return "amdgcn" if self.backend == "hip" else "ptx"


TARGETS = {
    target.name: target
    for target in (
        Target("gfx942", "hip", "gfx942", 64),
        Target("gfx950", "hip", "gfx950", 64),
        Target("gfx1201", "hip", "gfx1201", 32),
        Target("gfx1250", "hip", "gfx1250", 32),
        Target("sm_80", "cuda", 80, 32),
        Target("sm_90", "cuda", 90, 32),
    )
}
ALL = tuple(TARGETS)
AMD = tuple(name for name, target in TARGETS.items() if target.backend == "hip")
NVIDIA = tuple(name for name, target in TARGETS.items() if target.backend == "cuda")


@dataclass(frozen=True)
class Array:
    """A pointer argument: a dense row-major array, 16-byte aligned as an allocator hands it out."""

    shape: tuple[int, ...]
    dtype: str = "fp32"
    role: Literal["in", "out", "inout"] = "in"
    # "normal": mean 0, deviation 1 (small integers for integer types); "positive": uniform in bound / 2 .. bound;
    # "index": integers in 0 .. bound - 1; "exponent": e8m0 exponents around one, 125 .. 129.
    fill: Literal["normal", "positive", "zeros", "index", "exponent"] = "normal"
    bound: int = 0
    # The whole content, where it matters; takes the place of `fill`.
    values: tuple[int, ...] = ()

    @property
    def type(self) -> str:
        """The entry of Triton's signature."""
        return f"*{self.dtype}"

    @property
    def nbytes(self) -> int:
        """Bytes of device memory."""
        return prod(self.shape) * BYTES[self.dtype]


@dataclass(frozen=True)
class Scalar:
    """A number passed by value; the compiler may rely on it being a multiple of 16 where it is."""

    value: int | float
    dtype: str = "i32"

    @property
    def type(self) -> str:
        """The entry of Triton's signature."""
        return self.dtype

    @property
    def nbytes(self) -> int:
        """Scalars need no device memory."""
        return 0


@dataclass(frozen=True)
class TensorMap:
    """A tensor descriptor made on the host over a whole array; the metadata of the binary says how to encode it."""

    array: Array
    block: tuple[int, ...]
    # The Gluon layout of the shared-memory side, as its constructor is written; empty for Triton kernels.
    layout: str = ""

    @property
    def type(self) -> str:
        """The entry of Triton's signature."""
        block = ",".join(str(size) for size in self.block)
        layout = f",{self.layout}" if self.layout else ""
        return f"tensordesc<{self.array.dtype}[{block}]{layout}>"

    @property
    def nbytes(self) -> int:
        """Bytes of device memory behind the descriptor."""
        return self.array.nbytes


Argument = Array | Scalar | TensorMap


@dataclass(frozen=True)
class Mistake:
    """The one thing that is wrong with a kernel, and what a checker has to say about it."""

    # What follows "# MISTAKE: " in the source; the marker stands on the line at fault, or on a line of its own right
    # above it or where a line is missing.
    marker: str
    # "race": two accesses without order; "hang": a wait that nothing ends.
    report: Literal["race", "hang"]
    # One sentence: who touches what, and what was missing in between.
    says: str
    # Membar puts barriers into Gluon kernels too, and so repairs some mistakes: those can only be seen before it.
    repaired_by_membar: bool = False


@dataclass(frozen=True)
class Entry:
    """One kernel with one way to compile and launch it."""

    name: str
    # A JIT function of Triton or Gluon; neither has a type outside Triton.
    kernel: Any
    args: Mapping[str, Argument]
    grid: tuple[int, int, int]
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Value] = field(default_factory=dict)
    targets: tuple[str, ...] = ALL
    language: Literal["triton", "gluon"] = "triton"
    # Constexprs that differ on one target, for example because a warp has 64 lanes there.
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reference: Reference | None = None
    tolerance: float = 1e-2
    mistake: Mistake | None = None
    # The correct entry that a wrong one was derived from.
    correct: str = ""
    # The author's own barriers are enough: the module is free of races even before membar.
    complete: bool = False
    # How many times a loop has to run for the mistake to matter, or other remarks for the reader.
    note: str = ""

    @property
    def warps(self) -> int:
        """Waves of the workgroup (before warp specialization adds its own)."""
        return int(self.options.get("num_warps", 4))

    @property
    def nbytes(self) -> int:
        """Device memory that all arguments take together."""
        return sum(argument.nbytes for argument in self.args.values())

    @property
    def source(self) -> Path:
        """The file that the kernel is written in."""
        return Path(self.kernel.fn.__code__.co_filename)

    def constants(self, target: str) -> dict[str, Any]:
        """The constexprs on one target."""
        return {**self.constexprs, **self.overrides.get(target, {})}

    def signature(self, target: str) -> dict[str, str]:
        """Triton's signature: a type for every parameter, in their order."""
        constants = self.constants(target)
        names: list[str] = list(self.kernel.arg_names)
        unknown = set(names) ^ (set(constants) | set(self.args))
        if unknown:
            raise ValueError(f"{self.name}: arguments and parameters differ in {', '.join(sorted(unknown))}")
        return {name: "constexpr" if name in constants else self.args[name].type for name in names}

    def attributes(self) -> dict[tuple[int, ...], list[list[object]]]:
        """What a launch would tell the compiler: pointers and some numbers are multiples of 16."""
        aligned: dict[tuple[int, ...], list[list[object]]] = {}
        for position, name in enumerate(self.kernel.arg_names):
            argument = self.args.get(name)
            multiple = (
                isinstance(argument, Scalar) and isinstance(argument.value, int) and argument.value % 16 == 0
            )
            if isinstance(argument, Array) or multiple:
                aligned[(position,)] = [["tt.divisibility", 16]]
        return aligned

    def mistake_line(self) -> int:
        """The line of the source file where the mistake is marked."""
        if self.mistake is None:
            raise ValueError(f"{self.name} has no mistake planted")
        text = f"# MISTAKE: {self.mistake.marker}"
        lines = [
            number for number, line in enumerate(self.source.read_text().splitlines(), 1) if text in line
        ]
        if len(lines) != 1:
            raise ValueError(f"{self.source}: '{text}' found {len(lines)} times")
        return lines[0]


def decode(raw: NDArray[Any], dtype: str) -> NDArray[Any]:
    """An array as a runner holds it, with the types that numpy lacks (kept as bits) widened to float32."""
    if dtype == "bf16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    if dtype == "fp8e5":
        # e5m2 is the upper half of an fp16.
        return (raw.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    if dtype == "fp8e4nv":
        sign = np.where(raw & 0x80, -1.0, 1.0)
        exponent = ((raw >> 3) & 0xF).astype(np.int32)
        fraction = (raw & 0x7).astype(np.float32) / 8.0
        magnitude = np.where(exponent == 0, fraction * 2.0**-6, (1.0 + fraction) * 2.0 ** (exponent - 7.0))
        return np.asarray(sign * magnitude, dtype=np.float32)
    return raw
