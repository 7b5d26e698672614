"""Compile the sm_90 kernels of the corpus with Triton's barriers and with fencepost's, for a machine with a GPU.

    python bench/triton/device_build.py --out out/h200 [--only NAME]

writes for every entry `NAME.stock.cubin` (Triton's own) and, where the binaries differ, `NAME.fencepost.cubin`, and
`NAME.bare.cubin` without any barrier of membar's: what a race detector has to complain about, if it sees the memory
in question at all. `kernels.json` says how to launch them. `device_run.py` needs those files, `model.py`,
`arguments.py` and `references.py`, but neither Triton nor fencepost.

Left out are kernels with a mistake that hangs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from build import compile_plain
from corpus import CORPUS, Argument, Array, Entry, Scalar, TensorMap

from fencepost.hosts.triton import installed
from fencepost.hosts.triton.choose_barriers import fencepost_barriers, fewer_or_membars

TARGET = "sm_90"
SECONDS = 300.0
"""A compilation that takes longer is taken as hung."""
MANY = 8
"""How much larger a product or a sequence is for timing: a GPU has far more processors than the corpus programs."""
PROGRAMS = 132
"""Programs of a persistent kernel when timed: as many as an H200 has multiprocessors."""

PERSISTENT = ("matmul_persistent", "matmul_flattened", "matmul_device_descriptor")
FIXED = ("matmul_batched", "matmul_grouped", "matmul_scaled", "matmul_skip", "matmul_split_k_lock")
"""Products with an array whose extent belongs to none of the sizes of the product."""
ROWS = (
    "softmax_row",
    "softmax_row_1warp",
    "softmax_loop",
    "argmax_rows",
    "moments",
    "sort_rows",
    "call_nested",
)
"""Kernels with a program for every row."""


def left_out(entry: Entry) -> str:
    """Why an entry cannot be run this way; empty if it can."""
    if entry.mistake is not None and entry.mistake.report == "hang":
        return "hangs, by the mistake planted"
    return ""


def no_barriers(before: object, after: object) -> list[Any]:
    """Leave a module as it is ahead of membar."""
    del before, after
    return []


DECIDING = {"chosen": fewer_or_membars, "ours": fencepost_barriers}
"""Whose barriers: what `replace` chooses, or always fencepost's."""


def build(name: str, out: Path, whose: str) -> dict[str, Any]:
    """Compile one entry in its variants, write the binaries, and say how to launch them."""
    entry = CORPUS[name]
    stock = compile_plain(entry, TARGET)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with installed("replace", decide=DECIDING[whose]):
            ours = compile_plain(entry, TARGET)
    # Without barriers it is wrong, and would not be passed on.
    unjudged = patch("fencepost.hosts.triton.installation.refuse_wrong", lambda *_, **__: "not judged")
    with unjudged, installed("replace", decide=no_barriers):
        bare = compile_plain(entry, TARGET)
    said = [str(one.message) for one in caught if str(one.message).startswith("fencepost left")]
    with warnings.catch_warnings(), installed("audit", show=lambda _: None) as made:
        warnings.simplefilter("ignore")
        compile_plain(entry, TARGET)
    found = made.audits[-1] if made is not None and made.audits else None
    record = launch(entry, stock.metadata)
    record |= {
        "same": stock.asm["cubin"] == ours.asm["cubin"],
        "kept": said[0].partition(": ")[2] if said else "",
        "audit": str(found) if found else "",
        "races": len(found.races) if found else 0,
        "barriers": {"stock": barriers(stock), "fencepost": barriers(ours), "bare": barriers(bare)},
        "variants": ["stock"],
    }
    (out / f"{name}.stock.cubin").write_bytes(stock.asm["cubin"])
    for variant, kernel in (("fencepost", ours), ("bare", bare)):
        if kernel.asm["cubin"] != stock.asm["cubin"]:
            (out / f"{name}.{variant}.cubin").write_bytes(kernel.asm["cubin"])
            record["variants"].append(variant)
    return record


def barriers(kernel: Any) -> int:
    """How many barriers of the whole block stand in the assembly, whoever wanted them."""
    return len(re.findall(r"\bbar(?:rier)?\.sync", kernel.asm["ptx"]))


def launch(entry: Entry, metadata: Any) -> dict[str, Any]:
    """Everything a launch needs besides the binary."""
    right = CORPUS[entry.correct] if entry.correct else entry
    large = enlarged(entry)
    return {
        "name": entry.name,
        "symbol": metadata.name,
        "shared": metadata.shared,
        "warps": metadata.num_warps,
        "scratch": metadata.global_scratch_size,
        "grid": entry.grid,
        "maps": list(getattr(metadata, "tensordesc_meta", None) or ()),
        "arguments": arguments(entry),
        "reference": right.reference.__name__ if right.reference is not None else "",
        "tolerance": entry.tolerance,
        "mistake": entry.mistake.says if entry.mistake is not None else "",
        "large": None if large is None else {"grid": large.grid, "arguments": arguments(large)},
    }


def arguments(entry: Entry) -> list[dict[str, Any]]:
    """The arguments in the order of the signature, without constexprs."""
    kinds = entry.signature(TARGET)
    return [
        {"name": name, "kind": type(entry.args[name]).__name__.lower(), **asdict(entry.args[name])}
        for name, kind in kinds.items()
        if kind != "constexpr"
    ]


def enlarged(entry: Entry) -> Entry | None:
    """The entry at a size worth timing; the binary does not depend on it. None where a size is built into it."""
    x, y, z = entry.grid
    if {"n", "k"} <= entry.args.keys() and entry.name not in FIXED:
        known = {size.value for size in map(entry.args.get, ("m", "n", "k")) if isinstance(size, Scalar)}
        grid = (PROGRAMS, 1, 1) if entry.name in PERSISTENT else (x * MANY, y * MANY, z)
        return replace(entry, grid=grid, args=_scaled(entry, known))
    if "length" in entry.args and "q_ptr" in entry.args:
        length = entry.args["length"]
        assert isinstance(length, Scalar)
        heads = _array(entry, "q_ptr").shape[0]
        args = _scaled(entry, {length.value})
        for name, argument in args.items():
            if isinstance(argument, Array):
                args[name] = replace(argument, shape=(heads * MANY, *argument.shape[1:]))
        return replace(entry, grid=(x * MANY, y * MANY, z), args=args)
    if entry.name in ROWS:
        return replace(entry, grid=(x * MANY**2, y, z), args=_scaled(entry, {x}, MANY**2, numbers=False))
    return None


def _array(entry: Entry, name: str) -> Array:
    argument = entry.args[name]
    assert isinstance(argument, Array)
    return argument


def _scaled(
    entry: Entry, sizes: Iterable[float], by: int = MANY, numbers: bool = True
) -> dict[str, Argument]:
    """The arguments with every extent that is one of the sizes multiplied."""
    known = set(sizes)
    args: dict[str, Argument] = {}
    for name, argument in entry.args.items():
        if isinstance(argument, Array):
            args[name] = _grown(argument, known, by)
        elif isinstance(argument, TensorMap):
            args[name] = replace(argument, array=_grown(argument.array, known, by))
        elif numbers and isinstance(argument, Scalar) and argument.value in known:
            args[name] = replace(argument, value=argument.value * by)
        else:
            args[name] = argument
    return args


def _grown(array: Array, known: set[float], by: int) -> Array:
    shape = tuple(extent * by if extent in known else extent for extent in array.shape)
    return replace(array, shape=shape)


def _pool() -> ProcessPoolExecutor:
    # A fresh interpreter that the compiler may take down.
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))


def main(argv: list[str] | None = None) -> int:
    """Compile the chosen part of the corpus into a directory."""
    parser = argparse.ArgumentParser(description="Compile the sm_90 kernels for a run on a GPU.")
    parser.add_argument("--out", type=Path, required=True, help="directory for the binaries and kernels.json")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this entry (may be repeated)")
    parser.add_argument("--whose", choices=list(DECIDING), default="chosen", help="whose barriers to compare")
    options = parser.parse_args(argv)
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    chosen = [entry for name, entry in CORPUS.items() if TARGET in entry.targets]
    if options.only:
        chosen = [entry for entry in chosen if entry.name in options.only]
    skipped = {entry.name: why for entry in chosen if (why := left_out(entry))}
    records: list[dict[str, Any]] = []
    pool = _pool()
    for entry in chosen:
        if entry.name in skipped:
            continue
        try:
            record = pool.submit(build, entry.name, out, options.whose).result(SECONDS)
        except BrokenProcessPool:
            skipped[entry.name] = "the compiler ended the process"
            pool = _pool()
            continue
        except Exception as error:
            skipped[entry.name] = f"{type(error).__name__}: {error}"[:300]
            continue
        records.append(record)
        counts = record["barriers"]
        note = "same binary" if record["same"] else ""
        note += f" kept: {record['kept'].splitlines()[0][:90]}" if record["kept"] else ""
        print(f"{entry.name:34} {counts['stock']:3} -> {counts['fencepost']:3} {note}", flush=True)
    pool.shutdown()
    text = json.dumps({"kernels": records, "left_out": skipped}, indent=1)
    (out / "kernels.json").write_text(text + "\n")
    same = sum(record["same"] for record in records)
    kept = sum(bool(record["kept"]) for record in records)
    print(f"{len(records)} compiled: {len(records) - same} differ, {same} have the same binary")
    print(f"{kept} left as Triton compiles them; {len(skipped)} left out")
    for name, why in skipped.items():
        print(f"  {name}: {why}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
