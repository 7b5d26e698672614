"""Run what `device_build.py` compiled on a GPU: with Triton's barriers and with fencepost's, on the same inputs.

    python bench/triton/device_run.py check     out/h200 --out DIR   # results, bit for bit, and against numpy
    python bench/triton/device_run.py time      out/h200 --out DIR   # both in turns, small and large
    python bench/triton/device_run.py racecheck out/h200 --out DIR   # under compute-sanitizer
    python bench/triton/device_run.py stress    out/h200 --out DIR --only NAME   # one kernel, many times

Needs numpy and CuPy. Each prints a table and writes it as `DIR/MODE.json`. Kernels with a planted mistake are run
only if they are named (`--only`): some never end.

A kernel whose results depend on the order of atomics differs from itself, too: that is measured (does stock repeat
its own bits?), and only then, a tolerance of the size of a rounding error takes the place of equality.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import references
from arguments import STORAGE, arrays, materialize, mismatches, scalars
from model import Argument, Array, Arrays, Entry, Scalar, TensorMap, decode
from numpy.typing import NDArray
from tensor_maps import passed

SEEDS = 2
REPEATS = 20
ROUNDING = 1e-5
"""How far results may lie apart, relative to the largest, where only the order of additions differs."""
ROUNDS = 200
"""How often each variant is timed."""
SPAN = 300e-6
"""Seconds that a timed stretch should at least take; short kernels are launched several times for it."""
PLAIN = 48 * 1024
"""Shared memory that a kernel gets without asking."""
TOGETHER = 6
"""Race detectors that run at a time."""
DETECTOR_SECONDS = 90
HAZARDS = re.compile(r"(Error|Warning): Race reported between (.*)")
SUMMARY = re.compile(r"RACECHECK SUMMARY: (\d+) hazards? displayed \((\d+) errors?, (\d+) warnings?\)")

Record = dict[str, Any]
Host = Mapping[str, NDArray[Any]]
Row = dict[str, Any]


def cupy() -> Any:
    """CuPy, which has no types; only the modes that touch the GPU import it."""
    return importlib.import_module("cupy")


def argument(fields: Mapping[str, Any]) -> Argument:
    """One argument as the build wrote it."""
    rest = {name: value for name, value in fields.items() if name not in ("name", "kind")}
    if fields["kind"] == "scalar":
        return Scalar(**rest)
    if fields["kind"] == "tensormap":
        return TensorMap(_array(rest["array"]), tuple(rest["block"]), rest["layout"])
    return _array(rest)


def _array(fields: Mapping[str, Any]) -> Array:
    return Array(**{**fields, "shape": tuple(fields["shape"]), "values": tuple(fields["values"])})


def entry_of(record: Record, large: bool = False) -> Entry:
    """The entry without its kernel: arguments, grid and reference."""
    size = record["large"] if large else record
    return Entry(
        record["name"],
        None,
        {one["name"]: argument(one) for one in size["arguments"]},
        tuple(size["grid"]),
        reference=getattr(references, record["reference"]) if record["reference"] else None,
        tolerance=record["tolerance"],
    )


def expected(entry: Entry, before: Host) -> Arrays:
    """What the reference makes of the inputs."""
    assert entry.reference is not None
    layout = arrays(entry)
    inputs = {name: decode(raw, layout[name].dtype) for name, raw in before.items()}
    return entry.reference(inputs, scalars(entry))


class Launch:
    """One entry's arguments on the device, and what it takes to launch a variant with them."""

    def __init__(self, folder: Path, record: Record, large: bool = False, seed: int = 0) -> None:
        self.cp = cupy()
        self.folder, self.record = folder, record
        self.entry = entry_of(record, large)
        self.before = materialize(self.entry, seed)
        self.first = {name: self.cp.asarray(array) for name, array in self.before.items()}
        self.now = {name: array.copy() for name, array in self.first.items()}
        self.written = [name for name, one in arrays(self.entry).items() if one.role != "in"]
        self.expected: Arrays | None = None
        programs = int(np.prod(self.entry.grid))
        self.scratch = self.cp.zeros(max(1, record["scratch"] * programs), dtype=np.uint8)
        self.arguments = (
            *(value for name, one in self.entry.args.items() for value in self._passed(name, one)),
            self.scratch if record["scratch"] else np.intp(0),
            np.intp(0),
        )
        # Kernels may be launched into a stream that does not wait for the one that all this is done in.
        self.cp.cuda.runtime.deviceSynchronize()

    def _passed(self, name: str, one: Argument) -> list[Any]:
        if isinstance(one, Scalar):
            return [np.array(one.value, dtype=STORAGE[one.dtype])[()]]
        if isinstance(one, TensorMap):
            maps = [other for other, kind in self.entry.args.items() if isinstance(kind, TensorMap)]
            meta = self.record["maps"][maps.index(name)]
            return passed(self.now[name].data.ptr, one.array.dtype, one.array.shape, meta)
        return [self.now[name]]

    def variant(self, which: str) -> Callable[[], None]:
        """A variant, loaded and ready to be launched."""
        module = self.cp.RawModule(path=str(self.folder / f"{self.record['name']}.{which}.cubin"))
        function = module.get_function(self.record["symbol"])
        if self.record["shared"] > PLAIN:
            function.max_dynamic_shared_size_bytes = self.record["shared"]
        block = (32 * self.record["warps"],)
        shared = self.record["shared"]
        return lambda: function(self.entry.grid, block, self.arguments, shared_mem=shared)

    def reset(self) -> None:
        """Give everything that a kernel writes its first content."""
        for name in self.written:
            self.now[name].data.copy_from_device_async(
                self.first[name].data, self.first[name].nbytes, self.cp.cuda.get_current_stream()
            )

    def run(self, launch: Callable[[], None]) -> Host:
        """Launch once from the first content; what was written."""
        self.reset()
        launch()
        self.cp.cuda.get_current_stream().synchronize()
        return {name: self.now[name].get() for name in self.written}

    def distance(self, after: Host) -> float:
        """How far outputs lie from the reference; the entry's tolerance is what that should be below."""
        if self.expected is None:
            self.expected = expected(self.entry, self.before)
        known = self.expected
        entry = replace(self.entry, tolerance=-1.0, reference=lambda *_: known)
        off = mismatches(entry, self.before, {**self.before, **after})
        return max(off.values()) if off else float("inf")


def apart(one: Host, other: Host) -> float:
    """How far two results lie apart, relative to the largest value: 0 only if they have the same bits."""
    worst = 0.0
    for name, left in one.items():
        right = other[name]
        if left.tobytes() == right.tobytes():
            continue
        a, b = left.astype(np.float64), right.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            distance = np.abs(a - b).max() / max(1.0, float(np.abs(a).max()))
        worst = max(worst, float(distance) if distance > 0 else float("inf"))
    return worst


def check_kernel(folder: Path, record: Record, large: bool) -> Row:
    """Both variants on the same inputs, again and again."""
    repeats = 5 if large else REPEATS
    itself, between, off = 0.0, 0.0, {"stock": 0.0, "fencepost": 0.0}
    for seed in range(1 if large else SEEDS):
        at = Launch(folder, record, large, seed)
        launches = {which: at.variant(which) for which in ("stock", "fencepost")}
        first: Host | None = None
        for number in range(repeats):
            for which, launch in launches.items():
                got = at.run(launch)
                first = first or got
                distance = apart(first, got)
                if which == "stock":
                    itself = max(itself, distance)
                else:
                    between = max(between, distance)
                if at.entry.reference is not None and not large and (number == 0 or distance > 0):
                    off[which] = max(off[which], at.distance(got))
    referenced = bool(record["reference"]) and not large
    right = not referenced or all(one <= record["tolerance"] for one in off.values())
    equal = between == 0.0 or (itself > 0.0 and between <= ROUNDING)
    return {
        "name": record["name"], "large": large, "stock_against_itself": itself, "fencepost_against_stock": between,
        "reference": off if referenced else None, "tolerance": record["tolerance"], "ok": equal and right,
    }  # fmt: skip


def time_kernel(folder: Path, record: Record, large: bool) -> Row:
    """Median microseconds a launch: stock, fencepost, and stock once more for what the method itself moves by."""
    at = Launch(folder, record, large)
    cp = at.cp
    counts = any(
        isinstance(one, Array) and one.role == "inout" and one.dtype.startswith("i")
        for one in at.entry.args.values()
    )
    launches = [at.variant(which) for which in ("stock", "fencepost", "stock")]
    stream = cp.cuda.Stream(non_blocking=True)
    start, end = cp.cuda.Event(), cp.cuda.Event()

    def captured(launch: Callable[[], None], times: int) -> Any:
        stream.begin_capture()
        for _ in range(times):
            launch()
        return stream.end_capture()

    def seconds(graph: Any) -> float:
        at.reset()
        start.record(stream)
        graph.launch(stream)
        end.record(stream)
        end.synchronize()
        return float(cp.cuda.get_elapsed_time(start, end)) * 1e-3

    with stream:
        for launch in launches:
            launch()
        stream.synchronize()
        probe = captured(launches[0], 1)
        once = min(seconds(probe) for _ in range(5))
        # A kernel that counts what it has done needs its counters back before it runs again.
        times = 1 if counts else max(1, min(100, round(SPAN / once)))
        graphs = [captured(launch, times) for launch in launches]
        for graph in graphs * 3:
            seconds(graph)
        taken: list[list[float]] = [[], [], []]
        for number in range(ROUNDS):
            for place in range(3):
                which = (place + number) % 3
                taken[which].append(seconds(graphs[which]) / times)
    stock, ours, again = (median(one) * 1e6 for one in taken)
    return {
        "name": record["name"],
        "large": large,
        "launches": times,
        "stock_us": stock,
        "fencepost_us": ours,
        "stock_again_us": again,
        "faster_percent": (stock / ours - 1) * 100,
        "noise_percent": (stock / again - 1) * 100,
    }


def detect(folder: Path, record: Record, which: str, number: int) -> tuple[Row, str]:
    """One variant of one kernel in a process of its own under the race detector, and the detector's log."""
    command = [
        str(shutil.which("compute-sanitizer")), "--tool", "racecheck", "--print-limit", "400", sys.executable,
        str(Path(__file__)), "one", str(folder), "--only", record["name"], "--variant", which,
    ]  # fmt: skip
    row: Row = {"name": record["name"], "variant": which, "hazards": None, "errors": None, "warnings": None}
    # A session of its own: what hangs is ended together with its children.
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            log = process.communicate(timeout=DETECTOR_SECONDS)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            log = f"{process.communicate()[0]}\ntimed out"
    if "launched" in log and (summary := SUMMARY.search(log)):
        row |= dict(zip(("hazards", "errors", "warnings"), map(int, summary.groups()), strict=True))
    row["accesses"] = sorted({re.sub(r"\+0x[0-9a-f]+", "", found[1]) for found in HAZARDS.findall(log)})
    return row, f"##### {number} {record['name']} {which}\n{log}\n"


def racecheck(folder: Path, kernels: list[Record], out: Path) -> list[Row]:
    """Under the race detector: the kernels whose binaries differ, and those that fencepost finds a race in."""
    jobs = [
        (record, which)
        for record in kernels
        if "fencepost" in record["variants"] or record["races"]
        for which in record["variants"]
    ]
    with ThreadPoolExecutor(TOGETHER) as pool:
        futures = [
            pool.submit(detect, folder, record, which, number) for number, (record, which) in enumerate(jobs)
        ]
        rows: list[Row] = []
        with (out / "racecheck.log").open("w") as log:
            for future in futures:
                row, text = future.result()
                rows.append(row)
                log.write(text[:200_000])
                log.flush()
    return rows


def stress(folder: Path, record: Record, launches: int, large: bool) -> list[Row]:
    """Stock and fencepost many times: how many results differ from the first, and from the reference."""
    rows: list[Row] = []
    seeds = 2 if large else 10
    each = launches // seeds // (10 if large else 1)
    for which in record["variants"]:
        if which == "bare":
            continue
        differing = wrong = 0
        worst = 0.0
        for seed in range(seeds):
            at = Launch(folder, record, large, seed)
            launch = at.variant(which)
            worst = max(worst, at.distance(at.run(launch)))
            first = {name: at.now[name].copy() for name in at.written}
            for _ in range(each):
                at.reset()
                launch()
                if all(bool((at.now[name] == kept).all()) for name, kept in first.items()):
                    continue
                differing += 1
                distance = at.distance({name: at.now[name].get() for name in at.written})
                worst = max(worst, distance)
                wrong += not distance <= record["tolerance"]
        rows.append(
            {
                "name": record["name"],
                "variant": which,
                "large": large,
                "launches": each * seeds,
                "differ_from_first": differing,
                "beyond_tolerance": wrong,
                "worst": worst,
            }
        )
        print(rows[-1], flush=True)
    return rows


def table(rows: list[Row]) -> str:
    """Rows as text, one column for every key."""
    if not rows:
        return ""
    keys = list(rows[0])
    cells = [keys, *([_cell(row[key]) for key in keys] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(keys))]
    return "\n".join(
        "  ".join(one.ljust(width) for one, width in zip(line, widths, strict=True)) for line in cells
    )


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1e-2 else f"{value:.2f}"
    if isinstance(value, dict):
        return " ".join(f"{one:.1e}" for one in value.values())
    if isinstance(value, list):
        return str(len(value))
    return str(value)


@dataclass(frozen=True)
class Chosen:
    """What the command line asks for."""

    mode: str
    folder: Path
    out: Path | None
    only: list[str]
    variant: str
    launches: int


def parse(argv: list[str] | None) -> Chosen:
    """The command line."""
    parser = argparse.ArgumentParser(description="Run the compiled corpus on a GPU.")
    parser.add_argument("mode", choices=["check", "time", "racecheck", "stress", "one"])
    parser.add_argument("folder", type=Path, help="what device_build.py wrote")
    parser.add_argument("--out", type=Path, help="directory for the table as JSON")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--variant", default="stock", help="for `one`: which variant to launch, once")
    parser.add_argument("--launches", type=int, default=2000, help="for `stress`: launches of each variant")
    options = parser.parse_args(argv)
    return Chosen(**vars(options))


def measured(chosen: Chosen, kernels: list[Record]) -> list[Row]:
    """The rows of a mode."""
    rows: list[Row] = []
    if chosen.mode == "racecheck":
        return racecheck(chosen.folder, kernels, chosen.out or Path())
    if chosen.mode == "stress":
        sizes = [
            (record, large) for record in kernels for large in (False, True) if not large or record["large"]
        ]
        return [
            row for record, large in sizes for row in stress(chosen.folder, record, chosen.launches, large)
        ]
    each = check_kernel if chosen.mode == "check" else time_kernel
    for record in kernels:
        if "fencepost" not in record["variants"]:
            continue
        for large in (False, True):
            if not large or record["large"]:
                print(record["name"], "large" if large else "", flush=True)
                rows.append(each(chosen.folder, record, large))
    return rows


def summary(rows: list[Row], kernels: list[Record]) -> str:
    """The slowest and the geometric means: a kernel with stock's own binary counts as 1, once for each size."""
    ratios = [1 + row["faster_percent"] / 100 for row in rows]
    others = sum(2 if record["large"] else 1 for record in kernels if "fencepost" not in record["variants"])
    gain = math.fsum(map(math.log, ratios))
    return (
        f"slowest {min(ratios):.3f}; geometric mean {math.exp(gain / len(ratios)):.4f} of {len(ratios)}, "
        f"and {math.exp(gain / (len(ratios) + others)):.4f} with the {others} that have stock's binary"
    )


def main(argv: list[str] | None = None) -> int:
    """Run one mode over the chosen kernels."""
    chosen = parse(argv)
    kernels: list[Record] = json.loads((chosen.folder / "kernels.json").read_text())["kernels"]
    if chosen.only:
        kernels = [record for record in kernels if record["name"] in chosen.only]
    else:
        # A mistake in mbarriers may hang.
        kernels = [record for record in kernels if not record["mistake"]]
    if chosen.mode == "one":
        at = Launch(chosen.folder, kernels[0])
        at.variant(chosen.variant)()
        at.cp.cuda.runtime.deviceSynchronize()
        print("launched")
        return 0
    rows = measured(chosen, kernels)
    print(table(rows))
    if chosen.mode == "time":
        print(summary(rows, kernels))
    if chosen.out is not None:
        (chosen.out / f"{chosen.mode}.json").write_text(json.dumps(rows, indent=1) + "\n")
    return int(any(row.get("ok") is False for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
