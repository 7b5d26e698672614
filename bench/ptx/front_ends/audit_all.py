"""Kernels that Python packages compile to PTX, right and with one barrier missing, judged as `install("audit")` does.

    python bench/ptx/front_ends/audit_all.py [--only numba|cupy|cute|triton]

Needs the packages (`python scripts/cuda_front_ends.py` makes an environment that has them), and no GPU. A kernel that
is called `..._racy` lacks a barrier.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import time
import warnings

import fencepost.hosts.ptx as host

BLOCK = 256
FRONT_ENDS = {"numba": "numba-cuda", "cupy": "cupy-cuda13x", "cute": "nvidia-cutlass-dsl", "triton": "triton"}
"""The package of each."""


def main(argv: list[str] | None = None) -> int:
    """Compile and judge; 1 if a verdict is not the one that a kernel's name says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=FRONT_ENDS, action="append", help="one front end (default: all)")
    options = parser.parse_args(argv)
    found = host.install("audit", block=BLOCK, show=lambda audit: None)
    assert found is not None
    wrong = 0
    warnings.simplefilter("ignore", DeprecationWarning)
    for name in options.only or FRONT_ENDS:
        package, kernels = FRONT_ENDS[name], importlib.import_module(f"{name}_kernels")
        begin, before = time.process_time(), len(found.audits)
        # Triton says its block, which is not the one of the others.
        found.block = None if name == "triton" else BLOCK
        kernels.compile_all(*([found.tell] if name == "triton" else []))
        for each in found.audits[before:]:
            wanted = "race" if "racy" in each.kernel else "proven"
            wrong += each.verdict.verdict != wanted
            why = str(each.verdict.reasons[0])[:120] if each.verdict.reasons else ""
            mark = "" if each.verdict.verdict == wanted else f"NOT {wanted} {why}"
            print(f"{each.front_end:11} {each.kernel[:60]:60} {each.verdict.verdict:10} {mark}")
        release = importlib.metadata.version(package)
        seconds = time.process_time() - begin
        print(f"{package} {release}: {len(found.audits) - before} kernels, {seconds:.1f} s with the compiler")
        wrong += len(found.audits) == before
    host.uninstall()
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
