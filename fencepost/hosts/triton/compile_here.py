"""Modules as Triton compiles them, in this process: its own passes up to membar, and membar.

A mistake in a module may end the process; who reads text from elsewhere does it in a process that may end
(`lowering_worker`, `fencepost.audit.worker`).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fencepost.hosts.triton.generic import generic_form, text_file, touches_shared
from fencepost.hosts.triton.lowering import is_before_membar
from fencepost.hosts.triton.membar import membar_at
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.pipeline import AtMembar, PassRange, missing_names, running
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.scratch_sizes import with_sizes
from fencepost.hosts.triton.unparsable_layouts import repaired
from fencepost.ir.source import FencepostError, Source


def as_compiled(source: Source, metadata: dict[str, Any]) -> Module | None:
    """The module behind membar: as it stands if it is, else lowered with the options and the target that are noted.

    None if Triton has lowered it and it touches no shared memory: then there is nothing to judge.
    """
    context = new_context()
    live = _parsed(source, context)
    tree = read_module(generic_form(live, context), source.name)
    if not tree.functions():
        raise FencepostError("there is no kernel in this file", code="FP102", source=source)
    if not is_before_membar(tree):
        return tree
    try:
        stopped = lower(live, context, metadata)
    except (RuntimeError, ValueError, KeyError) as error:
        said = str(error).strip().rpartition("\n")[2]
        raise FencepostError(f"Triton could not lower it: {said}", code="FP413", source=source) from None
    text = generic_form(stopped.module, context)
    if not touches_shared(text):
        return None
    return read_module(with_sizes(membar_at(stopped, text).after), source.name)


def new_context() -> Any:
    """An MLIR context with everything that Triton's modules are made of."""
    libtriton = import_module("triton._C.libtriton")
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    for vendor in ("amd", "nvidia"):
        getattr(libtriton, vendor).load_dialects(context)
    return context


def _parsed(source: Source, context: Any) -> Any:
    ir = import_module("triton._C.libtriton").ir
    with text_file(repaired(source.text).text) as path:
        try:
            module = ir.parse_mlir_module(str(path), context)
        except RuntimeError as error:
            # The bindings do not pass on what is wrong; in a process of its own, what the parser prints is read.
            read_sources([source])
            said = str(error).strip().partition("\n")[0]
            raise FencepostError(
                f"Triton cannot read this module: {said}", code="FP402", source=source
            ) from None
    module.context = context
    return module


def lower(module: Any, context: Any, options: dict[str, Any]) -> AtMembar:
    """Run Triton's passes up to membar on a live module. `options` are those that it was compiled with, as far as
    they are known, and may have a `target`; the rest, and the number of warps, is what the module itself says."""
    compiler = import_module("triton.compiler.compiler")
    backend = compiler.make_backend(_target(module, context, options.get("target")))
    counts = {
        "num_warps": module.get_int_attr("ttg.num-warps"),
        "num_ctas": module.get_int_attr("ttg.num-ctas"),
    }
    # Said outright because Triton warns about its default, which is about to change.
    given = {"enable_fp_fusion": True, **options}
    # What is noted of warps includes those of partitions, which the module adds itself.
    given |= {name: count for name, count in counts.items() if count is not None}
    stages: dict[str, Any] = {}
    language = (compiler.Language.TRITON,) if installed_release().has_knobs else ()
    backend.add_stages(stages, backend.parse_options(given), *language)
    vendor = "amd" if backend.target.backend == "hip" else "nvidia"
    missing = missing_names(vendor)
    if missing:
        raise RuntimeError(f"its backend has no {missing}")
    module.context = context
    try:
        with running(vendor, PassRange(before=True)):
            stages["llir"](module, {})
    except AtMembar as stopped:
        return stopped
    raise RuntimeError("no membar pass ran")


def _named_target(module: Any, context: Any) -> str | None:
    """The GPU that a module names."""
    if hasattr(module, "get_operation"):
        found: str | None = module.get_operation().get_str_attr("ttg.target")
        return found
    # Old releases have no way to ask for it.
    return read_module(generic_form(module, context)).operation.string("ttg.target")


def _target(module: Any, context: Any, noted: Any) -> Any:
    """The GPU that was compiled for, or else the one that a module names: `cuda:90`, `hip:gfx942`."""
    make = import_module("triton.backends.compiler").GPUTarget
    if isinstance(noted, dict):
        return make(noted["backend"], noted["arch"], noted["warp_size"])
    kind, _, name = (_named_target(module, context) or "").partition(":")
    lanes = module.get_int_attr("ttg.threads-per-warp") or 32
    return make(kind, int(name) if kind == "cuda" else name, lanes)
