"""Targets: barrier kinds, counters and their widths, with the fact behind each entry.

Counter widths are bits of the instruction field that a wait is encoded in; a wait can leave at most
2**bits - 1 operations outstanding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fencepost.did_you_mean import did_you_mean
from fencepost.ir.ops import GatherToLDS, GlobalRead, GlobalWrite, TensorLoadToLDS, TensorStoreFromLDS
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
