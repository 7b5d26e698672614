"""What each GPU has: barrier kinds, counters and their widths, latencies; with the fact behind each entry.

Counter widths are bits of the instruction field that a wait is encoded in; a wait can leave at most
2**bits - 1 operations outstanding.

Latencies are rough. Each is one figure for what varies with sizes, clocks, bank conflicts and cache hits, taken from
vendors' public instruction and architecture guides and from published microbenchmarks, and rounded. One operation
stands for one wide instruction of a wave (16 bytes a lane, one matrix instruction), however many bytes its
views name. They serve to compare two versions of one kernel, not to predict a measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.did_you_mean import did_you_mean
from fencepost.ir import ops
from fencepost.ir.ops import (
    GatherToLDS,
    GlobalRead,
    GlobalWrite,
    Operation,
    TensorLoadToLDS,
    TensorStoreFromLDS,
)
from fencepost.ir.source import FencepostError


@dataclass(frozen=True, slots=True)
class TargetConfig:
    """One GPU, as far as synchronization goes."""

    name: str
    vendor: str
    barrier: str
    """The instruction or operation that a monolithic barrier becomes."""
    split_barriers: bool
    """Whether a wave can signal a barrier and wait for it later."""
    named_barriers: int
    """Barriers with a number besides the workgroup's own."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """Counter widths in bits. NVIDIA counts commit groups; a wait takes any number of them."""
    counted_on: Mapping[str, str] = field(default_factory=dict)
    """The counter that each kind of operation touches, by its name in the text form."""
    facts: tuple[str, ...] = ()
    signal: str = ""
    """What the first half of a split barrier becomes."""
    wait: str = ""
    """What its second half becomes."""
    prefers_split: bool = False
    """Whether barriers are put in as halves unless something else is asked for."""

    def widest_waits(self) -> dict[str, int]:
        """For each counter, the greatest count that a wait can be given; a kernel's own names are known, too."""
        found = {name: 2**bits - 1 for name, bits in self.counters.items()}
        for op in (GatherToLDS, TensorLoadToLDS, TensorStoreFromLDS, GlobalRead, GlobalWrite):
            hardware = self.counted_on.get(op.mnemonic)
            if hardware is not None:
                name = op.default_counter
                found[name] = min(found[hardware], found.get(name, found[hardware]))
        return found

    def barriers_to_name(self) -> int:
        """How many named barriers are used for pairs that overlap: few are ever worth it."""
        return min(self.named_barriers, 3) if self.prefers_split else 0

    def __str__(self) -> str:
        return self.name


_GFX9 = {"vmcnt": 6, "lgkmcnt": 4}
_GFX12 = {"loadcnt": 6, "storecnt": 6, "dscnt": 6}
_ON_GFX9 = {
    "gather_to_lds": "vmcnt", "global_read": "vmcnt", "global_write": "vmcnt",
    "read": "lgkmcnt", "write": "lgkmcnt", "atomic": "lgkmcnt",
}  # fmt: skip
_ON_GFX12 = {
    "gather_to_lds": "loadcnt", "global_read": "loadcnt", "global_write": "storecnt",
    "read": "dscnt", "write": "dscnt", "atomic": "dscnt",
}  # fmt: skip
_ON_GFX1250 = {
    **_ON_GFX12, "gather_to_lds": "asynccnt", "tensor_load_to_lds": "tensorcnt", "tensor_store_from_lds": "tensorcnt",
}  # fmt: skip

_SPLIT_GFX12 = ("s_wait_dscnt 0; s_barrier_signal -1", "s_barrier_wait -1", True)
_SPLIT_SM90 = ("mbarrier.arrive", "mbarrier.try_wait.parity (the phase flips each time)", False)

_ENTRIES = (
    TargetConfig(
        "gfx90a", "amd", "s_waitcnt lgkmcnt(0); s_barrier", False, 0, _GFX9, _ON_GFX9,
        ("CDNA2: s_barrier neither waits for memory nor can be split; vmcnt counts loads and stores together",),
    ),
    TargetConfig(
        "gfx942", "amd", "s_waitcnt lgkmcnt(0); s_barrier", False, 0, _GFX9, _ON_GFX9,
        ("CDNA3: as gfx90a; global loads can write LDS directly (4 bytes a lane), counted on vmcnt",),
    ),
    TargetConfig(
        "gfx950", "amd", "s_waitcnt lgkmcnt(0); s_barrier", False, 0, _GFX9, _ON_GFX9,
        ("CDNA4: as gfx942; direct loads to LDS of 12 and 16 bytes a lane",),
    ),
    TargetConfig(
        "gfx1200", "amd", "s_wait_dscnt 0; s_barrier_signal -1; s_barrier_wait -1", True, 0, _GFX12, _ON_GFX12,
        ("RDNA4: the barrier instruction is split; -1 names the workgroup's barrier", "LDS has dscnt of its own"),
        *_SPLIT_GFX12,
    ),
    TargetConfig(
        "gfx1201", "amd", "s_wait_dscnt 0; s_barrier_signal -1; s_barrier_wait -1", True, 0, _GFX12, _ON_GFX12,
        ("RDNA4: as gfx1200",), *_SPLIT_GFX12,
    ),
    TargetConfig(
        "gfx1250", "amd", "s_wait_dscnt 0; s_barrier_signal -1; s_barrier_wait -1", True, 16,
        {**_GFX12, "asynccnt": 6, "tensorcnt": 6}, _ON_GFX1250,
        ("split barriers as gfx1200, and up to 16 named ones",
         "async loads to LDS count on asynccnt, TDM on tensorcnt; both taken to be as wide as the other counters"),
        *_SPLIT_GFX12,
    ),
    TargetConfig(
        "sm_80", "nvidia", "bar.sync 0", False, 15, {}, {},
        ("Ampere: bar.sync also orders shared memory among its threads; barriers 0 to 15, 0 is the block's",
         "cp.async completes by commit groups"),
    ),
    TargetConfig(
        "sm_90", "nvidia", "bar.sync 0", True, 15, {}, {},
        ("Hopper: as sm_80; an mbarrier in shared memory splits arrive and wait; TMA signals one when it is done",),
        *_SPLIT_SM90,
    ),
    TargetConfig(
        "sm_100", "nvidia", "bar.sync 0", True, 15, {}, {},
        ("Blackwell: as sm_90",), *_SPLIT_SM90,
    ),
)  # fmt: skip

TARGETS: dict[str, TargetConfig] = {entry.name: entry for entry in _ENTRIES}
DEFAULT_TARGET = "gfx942"
PRODUCTS = {
    "mi200": "gfx90a", "mi210": "gfx90a", "mi250": "gfx90a", "mi250x": "gfx90a", "cdna2": "gfx90a",
    "mi300": "gfx942", "mi300a": "gfx942", "mi300x": "gfx942", "mi325x": "gfx942", "cdna3": "gfx942",
    "mi350": "gfx950", "mi350x": "gfx950", "mi355x": "gfx950", "cdna4": "gfx950",
    "rdna4": "gfx1200", "a100": "sm_80", "ampere": "sm_80", "h100": "sm_90", "h200": "sm_90", "hopper": "sm_90",
    "b100": "sm_100", "b200": "sm_100", "blackwell": "sm_100",
}  # fmt: skip
"""What GPUs are sold as: no names of targets, but what somebody may have meant by one."""


def _written_otherwise(name: str) -> str | None:
    """The target that `sm90` or `sm_90a` means: without the underline, or with the letter of its own features."""
    digits = name.casefold().removeprefix("sm").lstrip("_").rstrip("a")
    return f"sm_{digits}" if name.casefold().startswith("sm") and f"sm_{digits}" in TARGETS else None


def target_named(name: str) -> TargetConfig:
    """The target called `name`; the empty name is the default."""
    config = TARGETS.get(name or DEFAULT_TARGET)
    if config is None:
        sold_as = PRODUCTS.get(name.casefold()) or _written_otherwise(name)
        meant = [("help", f"did you mean `{sold_as}`?")] if sold_as else did_you_mean(name, TARGETS)
        raise FencepostError(
            f"unknown target {name!r}", code="FP110", notes=[*meant, ("known targets", ", ".join(TARGETS))]
        )
    return config


UNITS = ("valu", "mma", "lds", "vmem", "tensor")
"""What operations run on: vector arithmetic, matrix arithmetic, shared memory, global memory, tensor engine."""
PER_SIMD = ("valu", "mma")
"""The units that every SIMD has for itself; of the others a compute unit has one."""


@dataclass(frozen=True, slots=True)
class Latency:
    """What one kind of operation costs, roughly, in cycles."""

    unit: str
    """What it runs on; empty for synchronization, which occupies nothing."""
    busy: int
    """How long it keeps its unit."""
    result: int
    """How long until its result is there, memory has it, or (for a barrier) the other waves know of the arrival."""
    source: str
    """Where the numbers come from."""
    stays: bool = False
    """Whether the wave goes on only when the unit is done: many instructions that it issues one after the other."""
    queued: bool = False
    """Whether the wave goes on at once even if the unit is busy: an engine with a queue of its own."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """The rough latencies of one target."""

    target: str
    issue: int
    """Cycles between two operations of one wave."""
    operations: Mapping[str, Latency]
    """By the operation's name in the text form."""
    simds: int = 4
    """How many SIMDs the waves of a workgroup are spread over."""

    def of(self, op: Operation) -> Latency:
        """What `op` costs; what the table does not know takes a wave its turn and nothing else."""
        return self.operations.get(op.mnemonic, NOTHING)


NOTHING = Latency("", 0, 0, "no instruction of its own")

_CDNA3 = {
    "read": Latency("lds", 8, 64, "64 lanes of 16 bytes at 128 bytes a cycle; published latencies are about 64"),
    "write": Latency("lds", 8, 64, "as read: the counter falls when the bytes are in the banks"),
    "atomic": Latency("lds", 16, 96, "two passes through the banks and an addition between them"),
    "global_read": Latency("vmem", 16, 600, "64 lanes of 16 bytes at 64 bytes a cycle; L2 some 300, HBM 800"),
    "global_write": Latency("vmem", 16, 600, "as global_read, until the write is acknowledged"),
    "gather_to_lds": Latency("vmem", 16, 650, "a global read, and then the write into shared memory"),
    "tensor_load_to_lds": Latency("tensor", 64, 750, "no such engine here; 8 KiB at 128 bytes a cycle", queued=True),
    "tensor_store_from_lds": Latency("tensor", 64, 750, "as tensor_load_to_lds", queued=True),
    "async_mma": Latency("mma", 32, 96, "no such instruction here; mma, and its operands from LDS", queued=True),
    "mma": Latency("mma", 32, 40, "32x32x8 of 16-bit numbers is 8 passes of 4 cycles, and the way to the registers"),
    "compute": Latency("valu", 16, 16, "a handful of instructions, 4 cycles each for 64 lanes", stays=True),
    "barrier": Latency("", 0, 16, "a few turns of the SIMDs until every wave is notified; a guess"),
    "workgroup_barrier": Latency("", 0, 16, "as barrier"),
    "signal": Latency("", 0, 16, "as barrier, which is a signal and a wait"),
    "wait": Latency("", 0, 0, "passes as soon as the last signal is known"),
    "wait_count": Latency("", 0, 0, "passes as soon as its counters allow"),
    "commit": Latency("", 0, 0, "takes its turn and no more"),
    "mbarrier_init": Latency("lds", 4, 64, "the write of one lane"),
    "mbarrier_inval": Latency("lds", 4, 64, "as mbarrier_init"),
    "mbarrier_arrive": Latency("lds", 4, 96, "an atomic, of one address for all lanes"),
    "mbarrier_expect": Latency("lds", 4, 96, "as mbarrier_arrive"),
    "mbarrier_wait": Latency("lds", 4, 96, "one look at the mbarrier; how long others take is not estimated"),
}  # fmt: skip

_CDNA2 = _CDNA3 | {
    "mma": Latency("mma", 64, 72, "32x32x8 of 16-bit numbers is 16 passes of 4 cycles"),
    "async_mma": Latency("mma", 64, 128, "no such instruction here; mma, and its operands from LDS", queued=True),
}  # fmt: skip

_CDNA4 = _CDNA3 | {
    "read": Latency("lds", 4, 64, "64 lanes of 16 bytes at 256 bytes a cycle; latency as on gfx942"),
    "mma": Latency("mma", 32, 40, "32x32x16 of 16-bit numbers, twice the work of gfx942 in the same 8 passes"),
}  # fmt: skip

_RDNA4 = _CDNA3 | {
    "read": Latency("lds", 4, 64, "32 lanes of 16 bytes at 128 bytes a cycle; latency as on gfx942"),
    "write": Latency("lds", 4, 64, "as read"),
    "atomic": Latency("lds", 8, 96, "two passes through the banks and an addition between them"),
    "global_read": Latency("vmem", 8, 600, "32 lanes of 16 bytes at 64 bytes a cycle; between L2 and memory"),
    "global_write": Latency("vmem", 8, 600, "as global_read, until the write is acknowledged"),
    "gather_to_lds": Latency("vmem", 8, 650, "a global read, and then the write into shared memory"),
    "mma": Latency("mma", 16, 24, "16x16x16 of 16-bit numbers at 256 multiplications a cycle"),
    "async_mma": Latency("mma", 16, 80, "no such instruction here; mma, and its operands from LDS", queued=True),
    "compute": Latency("valu", 8, 8, "a handful of instructions, a cycle each for 32 lanes", stays=True),
}  # fmt: skip

_AMPERE = _RDNA4 | {
    "read": Latency("lds", 4, 30, "32 lanes of 16 bytes at 128 bytes a cycle; published latencies are about 30"),
    "write": Latency("lds", 4, 30, "as read"),
    "atomic": Latency("lds", 8, 60, "two passes through the banks and an addition between them"),
    "global_read": Latency("vmem", 8, 470, "32 lanes of 16 bytes at 64 bytes a cycle; published: about 470"),
    "global_write": Latency("vmem", 8, 470, "as global_read, until the write is acknowledged"),
    "gather_to_lds": Latency("vmem", 8, 500, "cp.async: a global read, and then the write into shared memory"),
    "mma": Latency("mma", 8, 32, "m16n8k16 of 16-bit numbers at 256 multiplications a cycle; published: some 30"),
    "barrier": Latency("", 0, 20, "bar.sync: some 20 cycles if all warps come together; a guess"),
    "workgroup_barrier": Latency("", 0, 20, "as barrier"),
    "signal": Latency("", 0, 20, "as barrier"),
}  # fmt: skip

_HOPPER = _AMPERE | {
    "global_read": Latency("vmem", 8, 480, "32 lanes of 16 bytes at 64 bytes a cycle; published: about 480"),
    "global_write": Latency("vmem", 8, 480, "as global_read, until the write is acknowledged"),
    "gather_to_lds": Latency("vmem", 8, 510, "cp.async: a global read, and then the write into shared memory"),
    "tensor_load_to_lds": Latency("tensor", 64, 650, "TMA: 8 KiB at 128 bytes a cycle; a load and 170", queued=True),
    "tensor_store_from_lds": Latency("tensor", 64, 650, "TMA: as tensor_load_to_lds", queued=True),
    "async_mma": Latency("mma", 128, 128, "wgmma m64n256k16 at 2,048 multiplications a cycle", queued=True),
}  # fmt: skip

_TABLE = {
    "gfx90a": Latencies("gfx90a", 4, _CDNA2),
    "gfx942": Latencies("gfx942", 4, _CDNA3),
    "gfx950": Latencies("gfx950", 4, _CDNA4),
    "gfx1200": Latencies("gfx1200", 1, _RDNA4),
    "gfx1201": Latencies("gfx1201", 1, _RDNA4),
    # Nothing measured is public yet: as gfx1200, with a tensor engine like that of sm_90.
    "gfx1250": Latencies("gfx1250", 1, _RDNA4),
    "sm_80": Latencies("sm_80", 1, _AMPERE),
    "sm_90": Latencies("sm_90", 1, _HOPPER),
    # As sm_90 for want of better figures.
    "sm_100": Latencies("sm_100", 1, _HOPPER),
}


def latencies_for(target_name: str) -> Latencies:
    """The rough latencies of a target; the empty name is the default target."""
    return _TABLE[target_named(target_name).name]


class Pace(NamedTuple):
    """How long things take, as far as it decides where an arrive pays."""

    work: Callable[[ops.Operation], tuple[int, int]]
    """Cycles that an operation takes a wave by itself, and those that it takes only if more operations follow."""
    fence: int
    """Cycles until an access to shared memory is complete: what an arrive waits for if it comes right behind one."""


UNHURRIED = Pace(lambda op: (1, 0), 0)
"""Nothing is known: an arrive stands as early as it can."""


def pace_of(target: str) -> Pace:
    """How fast a wave gets on, on a target."""
    latencies = latencies_for(target)

    def work(op: ops.Operation) -> tuple[int, int]:
        cost = latencies.of(op)
        # A wave goes on once an operation has issued, unless it is many instructions; the next may find a busy unit.
        return (cost.busy, 0) if cost.stays else (latencies.issue, max(cost.busy - latencies.issue, 0))

    return Pace(work, latencies.of(ops.Write()).result)
