"""Lowers a module with Triton's passes up to membar, and membar; `lowering` runs this file as a script.

One JSON object in (`text`, and `blank`, the same without locations; `folder`, which the caller clears away), one out:
both in generic form, or why not.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from fencepost.hosts.triton.parsing_worker import die_with_parent, print_generic
from fencepost.hosts.triton.pipeline import AtMembar, PassRange, missing_names, running


def main() -> None:
    """Answer the request on standard input."""
    die_with_parent()
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Whatever the passes print goes to standard error: the answer must stay alone.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    path = Path(request["folder"]) / "module.mlir"
    try:
        found = {
            form: _lowered(path, request[text]) for form, text in (("generic", "text"), ("blank", "blank"))
        }
        print(json.dumps({"path": str(path), **found}), file=answer)
    except Exception as error:
        reason = str(error).strip().rpartition("\n")[2] or type(error).__name__
        print(json.dumps({"failed": reason}), file=answer)
    answer.flush()


def _lowered(path: Path, text: str) -> str:
    """A module behind membar, in generic form."""
    path.write_text(text, encoding="utf-8")
    libtriton = import_module("triton._C.libtriton")
    compiler = import_module("triton.compiler.compiler")
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    for vendor in ("amd", "nvidia"):
        getattr(libtriton, vendor).load_dialects(context)
    module = libtriton.ir.parse_mlir_module(str(path), context)
    module.context = context
    backend = compiler.make_backend(_target(module))
    counts = {
        "num_warps": module.get_int_attr("ttg.num-warps"),
        "num_ctas": module.get_int_attr("ttg.num-ctas"),
    }
    # Said outright because Triton warns about its default, which is about to change.
    given = {"enable_fp_fusion": True} | {name: count for name, count in counts.items() if count is not None}
    stages: dict[str, Any] = {}
    backend.add_stages(stages, backend.parse_options(given), compiler.Language.TRITON)
    vendor = "amd" if backend.target.backend == "hip" else "nvidia"
    missing = missing_names(vendor)
    if missing:
        raise RuntimeError(f"its backend has no {missing}")
    try:
        with running(vendor, PassRange(before=True)):
            stages["llir"](module, {})
    except AtMembar as stopped:
        stopped.membar(stopped.module)
        return print_generic(stopped.module, context)
    raise RuntimeError("membar was not met")


def _target(module: Any) -> Any:
    """The GPU that a module names: `cuda:90`, `hip:gfx942`."""
    kind, _, name = module.get_operation().get_str_attr("ttg.target").partition(":")
    lanes = module.get_int_attr("ttg.threads-per-warp") or 32
    arch = int(name) if kind == "cuda" else name
    return import_module("triton.backends.compiler").GPUTarget(kind, arch, lanes)


if __name__ == "__main__":
    main()
