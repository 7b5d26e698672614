"""Which releases of Wave are accepted, and the refusal of all others.

What we rely on (the arguments of Wave's operations, where its passes stand, what each barrier becomes) changes
between releases without notice, and a wrong reading would be silent. So a release is accepted once the tests have run
on it, and this is the only place that says so.
"""

from __future__ import annotations

from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from fencepost.hosts.common.releases import is_accepted
from fencepost.ir.source import FencepostError

ACCEPTED = ("3.9",)
"""Releases by their first two numbers; corrections (3.9.1) go with them."""

INSTALL = "pip install torch==2.13.0 wave-lang==3.9.1"
NEEDED = ("torch", "numpy", "sympy")
"""What Wave's traces are made of."""
LAYOUT = {
    "Allocate": (
        "shape",
        "distributed_shape",
        "dtype",
        "address_space",
        "padding",
        "parent",
        "offset",
        "tail_padding",
    ),
    "AtomicOp": ("lhs", "rhs", "elements_per_thread", "mapping", "mapping_dynamic_vals"),
    "Conditional": ("condition", "subgraph_name", "implicit_captures"),
    "GatherToLDS": (
        *(
            "src",
            "dst",
            "src_index",
            "dst_index",
            "dtype",
            "elements_per_thread",
            "src_mapping",
            "dst_mapping",
        ),
    ),
    "GetResult": ("value", "res_idx"),
    "Iterate": ("axis", "init_args", "subgraph_name", "implicit_captures", "step", "start"),
    "MemoryCounterWait": ("load", "store", "ds"),
    "Read": ("memory", "elements_per_thread", "mapping", "mapping_dynamic_vals"),
    "ScatterAdd": ("register_src", "register_idx", "dim", "memory", "mapping", "elements_per_thread"),
    "SharedMemoryBarrier": ("wait_async_ops",),
    "SharedMemoryBarrierSignal": ("barId", "tensor_wait"),
    "SharedMemoryBarrierWait": ("barId",),
    "TensorLoadToLDS": ("src", "dst", "element_type", "distributed_shape", "shared_tile_index"),
    "Write": ("register_", "memory", "elements_per_thread", "mapping", "mapping_dynamic_vals"),
}
"""The first arguments of Wave's operations, which are read where they stand."""


class MissingWave(FencepostError, ImportError):
    """Wave is not installed, or not in a release that is accepted."""


def require_wave() -> str:
    """The version of Wave that is installed; refuses with FP420 if there is none, FP421 if it is another."""
    found = installed_version()
    if found is None:
        raise MissingWave(
            f"the Wave host needs the package wave-lang, which is not installed: {INSTALL}",
            code="FP420",
            notes=[("help", INSTALL)],
        )
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingWave(
            f"the Wave host needs {', '.join(missing)}, which wave-lang is not installed with: {INSTALL}",
            code="FP420",
            notes=[("help", INSTALL)],
        )
    if not is_accepted(found, ACCEPTED):
        raise MissingWave(
            f"wave-lang {found} is installed; this version of fencepost works with wave-lang "
            f"{' or '.join(ACCEPTED)}: {INSTALL}",
            code="FP421",
            notes=[("help", INSTALL)],
        )
    return found


def require_layout() -> None:
    """Refuse a package whose operations have other arguments than those that are read (FP421)."""
    from wave_lang.kernel.ops import wave_ops

    for name, wanted in LAYOUT.items():
        cls = getattr(wave_ops, name, None)
        if cls is None:
            raise mismatch(f"it has no {name}")
        found = tuple(field.name for field in fields(cls) if field.init)[: len(wanted)]
        if found != wanted:
            raise mismatch(f"{name} has the arguments {', '.join(found)}; known are {', '.join(wanted)}")


def mismatch(what: str) -> MissingWave:
    """The refusal of a package that is not as the accepted releases are."""
    return MissingWave(
        f"wave-lang {installed_version()} differs from what fencepost knows: {what}",
        code="FP421",
        notes=[("help", INSTALL)],
    )


def installed_version() -> str | None:
    """The version, found without importing Wave; None if it is not installed."""
    try:
        found = version("wave-lang")
    except PackageNotFoundError:
        return None
    return found if find_spec("wave_lang") is not None else None
