"""The corpus on a GPU: racecheck on everything, and kernels before and after `prune`, compared and timed.

    python bench/ptx/device_check.py build out/ptx           # here, once: cubins by ptxas, and a manifest (no GPU)
    python bench/ptx/device_check.py all out/ptx --out DIR   # there: everything, within --seconds (default 420)

`build` needs NVRTC (the extra `cuda`) and ptxas (of nvidia-cuda-nvcc, or the one that Triton brings); `all` needs
numpy, CuPy and compute-sanitizer, and nothing of fencepost, and no compiler. Its steps are `same`, `time` and `run`
(racecheck), which can be called by themselves. Each kernel runs in a process of its own: some with a planted mistake
never end. What was found is written after each step, so that an interrupted run is not lost; with `--earlier` and its
racecheck.json, `run` goes on with the kernels that it did not reach.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ARCHITECTURE = "sm_90a"
TOGETHER = 12
"""Race detectors that run at a time."""
SECONDS = 60
"""How long one may take; a kernel that hangs is ended then."""
LEAST = 10
"""Seconds that have to be left for another one to be started."""
PRUNED = "pruned"
LAUNCHES, ROUNDS = 500, 11
"""Launches in a row that are timed together, and how often."""
_ARGUMENT = re.compile(
    r"(?P<type>[fiu]\d+)(?:\[(?P<size>\d+)\](?::(?P<fill>[a-z]+)(?P<by>\d*))?|=(?P<value>.+))"
)
_HAZARD = re.compile(r"(Error|Warning): Race reported between (.*)")
_SUMMARY = re.compile(r"RACECHECK SUMMARY: (\d+) hazards? displayed \((\d+) errors?, (\d+) warnings?\)")
Record = dict[str, Any]


# ---------------------------------------------------------------- build


def build(folder: Path, only: str) -> int:
    """A cubin for every kernel and variant, and for every kernel without the barriers that `prune` takes out."""
    from ptx_corpus import corpus

    folder.mkdir(parents=True, exist_ok=True)
    records = []
    for entry in corpus(only):
        if _number(entry.target) > _number(ARCHITECTURE):
            print(f"{entry.name}: left out, it needs {entry.target}", flush=True)
            continue
        for variant in entry.variants:
            name = f"{entry.name}.{variant.name}"
            _assemble(_ptx(entry, variant), folder / f"{name}.cubin")
            records.append(
                {
                    "name": name,
                    "kernel": entry.name,
                    "expectation": variant.expectation,
                    "block": entry.block,
                    "grid": entry.grid,
                    "shared": entry.shared,
                    "arguments": entry.arguments,
                }
            )
        pruned = _pruned(entry)
        if pruned is not None:
            name = f"{entry.name}.{PRUNED}"
            _assemble(pruned, folder / f"{name}.cubin")
            records.append(records[-len(entry.variants)] | {"name": name})
        print(f"{entry.name}: {len(entry.variants)} cubins{', and one pruned' if pruned else ''}", flush=True)
    (folder / "manifest.json").write_text(json.dumps(records, indent=1), encoding="utf-8")
    print(f"{len(records)} cubins in {folder}")
    return 0


def _number(target: str) -> int:
    """90 of sm_90a."""
    return int(re.sub(r"\D", "", target))


def _ptx(entry: Any, variant: Any) -> str:
    from fencepost.hosts.ptx.compiler.nvrtc import Compilation, compile_cuda
    from fencepost.ir.source import Source

    how = Compilation(ARCHITECTURE, defines=variant.defines)
    return compile_cuda(Source(str(entry.path), entry.text), how).ptx


def _pruned(entry: Any) -> str | None:
    """A kernel without its redundant barriers; None if every one is needed."""
    from fencepost.hosts.ptx.asked_launch import AskedLaunch
    from fencepost.hosts.ptx.edits.text_edits import prune

    text = _ptx(entry, entry.variants[0])
    # The arrays of a launch are apart, so that pointers do not overlap.
    pruned = prune(text, entry.name, AskedLaunch(entry.block, distinct_pointers=True)).text
    return pruned if pruned != text else None


def _assemble(ptx: str, cubin: Path) -> None:
    source = cubin.with_suffix(".ptx")
    source.write_text(ptx, encoding="utf-8")
    subprocess.run([str(_ptxas()), f"-arch={ARCHITECTURE}", str(source), "-o", str(cubin)], check=True)
    source.unlink()


def _ptxas() -> Path:
    """ptxas of CUDA 13: NVIDIA's own package, or the one that Triton has for newer GPUs."""
    from importlib.util import find_spec

    import nvidia

    found = [path for root in nvidia.__path__ for path in Path(root).glob("cu13/bin/ptxas")]
    triton = find_spec("triton")
    if not found and triton is not None and triton.origin is not None:
        found = list(Path(triton.origin).parent.glob("backends/nvidia/bin/ptxas-blackwell"))
    if not found:
        raise SystemExit("there is no ptxas: pip install nvidia-cuda-nvcc")
    return found[0]


# ---------------------------------------------------------------- run


def run(folder: Path, out: Path, only: str, seconds: float, earlier: Path | None = None) -> int:
    """Racecheck on everything, pruned kernels first, those that should hang last; a table, and the same as JSON.

    What was not run is named.
    """
    end = time.monotonic() + seconds
    known = json.loads(earlier.read_text(encoding="utf-8")) if earlier else []
    done: dict[str, Record] = {each["name"]: each for each in known if each["said"] != "not run"}
    records = sorted(
        (each for each in _manifest(folder) if only in each["name"]),
        key=lambda each: (
            _wanted(each["expectation"]) == "hangs",
            not each["name"].endswith(PRUNED),
            not each["name"].endswith(".base"),
        ),
    )

    def look(record: Record) -> Record:
        if record["name"] in done:
            return done[record["name"]]
        left = end - time.monotonic()
        nothing = {"errors": 0, "warnings": 0, "first": ""}
        return _racecheck(folder, record, left) if left > LEAST else record | {"said": "not run"} | nothing

    with ThreadPoolExecutor(TOGETHER) as pool:
        found = list(pool.map(look, records))
    for each in found:
        said = f"{each['said']:8} {each['errors']:4} errors {each['warnings']:4} warnings"
        print(f"{each['name']:44} {each['expectation']:11} {said}  {each['first'][:90]}")
    _write(out, "racecheck", found)
    ran = [each for each in found if each["said"] != "not run"]
    agreed = sum(each["said"] == _wanted(each["expectation"]) for each in ran)
    print(f"racecheck: {len(ran)} of {len(found)} kernels, {agreed} as expected")
    return 0


def _write(out: Path, name: str, rows: list[Record]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")


def _wanted(expectation: str) -> str:
    """What racecheck should say of a kernel."""
    return {"race": "error", "warning": "warning", "divergence": "hangs", "deadlock": "hangs"}.get(
        expectation, "nothing"
    )


def _manifest(folder: Path) -> list[Record]:
    records: list[Record] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return records


def _racecheck(folder: Path, record: Record, left: float) -> Record:
    """One kernel under compute-sanitizer."""
    detector = ["compute-sanitizer", "--tool", "racecheck", "--racecheck-report", "analysis"]
    command = [*detector, sys.executable, __file__, "one", str(folder), "--only", record["name"]]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=min(SECONDS, left), check=False)
    except subprocess.TimeoutExpired:
        return record | {"said": "hangs", "errors": 0, "warnings": 0, "first": ""}
    except OSError as error:
        return record | {"said": "failed", "errors": 0, "warnings": 0, "first": str(error)}
    text = ran.stdout + ran.stderr
    summary, hazards = _SUMMARY.search(text), _HAZARD.findall(text)
    if summary is None:
        return record | {"said": "failed", "errors": 0, "warnings": 0, "first": text.strip()[-300:]}
    errors, warnings = int(summary[2]), int(summary[3])
    said = "error" if errors else "warning" if warnings else "nothing"
    first = hazards[0][1] if hazards else ""
    return record | {"said": said, "errors": errors, "warnings": warnings, "first": first}


def one(folder: Path, name: str) -> int:
    """AskedLaunch one kernel and wait for it."""
    (record,) = [each for each in _manifest(folder) if each["name"] == name]
    _launch(folder / f"{name}.cubin", record)
    return 0


def _launch(cubin: Path, record: Record) -> list[Any]:
    """The arrays of a kernel after it has run."""
    cupy = importlib.import_module("cupy")
    numpy = importlib.import_module("numpy")

    kernel = cupy.RawModule(path=str(cubin)).get_function(record["kernel"])
    arguments = [_argument(text, number, numpy) for number, text in enumerate(record["arguments"])]
    on_device = [cupy.asarray(each) if each.ndim else each[()] for each in arguments]
    kernel(tuple(record["grid"]), tuple(record["block"]), tuple(on_device), shared_mem=record["shared"])
    cupy.cuda.runtime.deviceSynchronize()
    return [cupy.asnumpy(each) for each in on_device if isinstance(each, cupy.ndarray)]


def _argument(text: str, number: int, numpy: Any) -> Any:
    """`f32[1024]` as numbers that are the same every time; `i32=3` as an array without dimensions."""
    match = _ARGUMENT.fullmatch(text)
    assert match, text
    kind = {"f": "float", "i": "int", "u": "uint"}[match["type"][0]]
    type_ = numpy.dtype(f"{kind}{match['type'][1:]}")
    if match["size"] is None:
        return numpy.array(float(match["value"]) if kind == "float" else int(match["value"]), type_)
    size, by = int(match["size"]), int(match["by"] or 0)
    random = numpy.random.default_rng(number)
    if match["fill"] == "zero":
        return numpy.zeros(size, type_)
    if match["fill"] == "steps":
        return (numpy.arange(size) * by).astype(type_)
    if match["fill"] == "below":
        return random.integers(0, by, size).astype(type_)
    if kind == "float":
        return random.standard_normal(size).astype(type_)
    return random.integers(0 if kind == "uint" else -100, 100, size).astype(type_)


# ---------------------------------------------------------------- same and time


def _pairs(folder: Path, only: str) -> list[tuple[Record, Record]]:
    """Kernels as they stand and as `prune` leaves them."""
    records = {each["name"]: each for each in _manifest(folder)}
    return [
        (records[f"{each['kernel']}.base"], each)
        for name, each in records.items()
        if name.endswith(PRUNED) and only in name
    ]


def _each_pair(folder: Path, what: str, only: str) -> list[Record]:
    """One step for each pair, in a process of its own; what it prints last is its result."""
    rows = []
    for before, _ in _pairs(folder, only):
        command = [sys.executable, __file__, what, str(folder), "--only", before["kernel"]]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
            lines = ran.stdout.strip().splitlines()
            found = json.loads(lines[-1]) if ran.returncode == 0 and lines else {"failed": ran.stderr[-300:]}
        except subprocess.TimeoutExpired:
            found = {"failed": f"not done in {SECONDS} s"}
        rows.append({"kernel": before["kernel"]} | found)
        print(f"{before['kernel']:24} {found}", flush=True)
    return rows


def same(folder: Path, out: Path, only: str) -> int:
    """Kernels before and after `prune` on the same inputs, bit for bit."""
    rows = _each_pair(folder, "same-one", only)
    _write(out, "same", rows)
    print(
        f"same: {len(rows)} pruned kernels, {sum(row.get('same', False) for row in rows)} with the same results"
    )
    return 0 if all(row.get("same") for row in rows) else 1


def same_one(folder: Path, kernel: str) -> int:
    """One kernel before and after."""
    (pair,) = [each for each in _pairs(folder, "") if each[0]["kernel"] == kernel]
    before, after = (_launch(folder / f"{each['name']}.cubin", each) for each in pair)
    equal = all(one.tobytes() == two.tobytes() for one, two in zip(before, after, strict=True))
    print(json.dumps({"same": equal}))
    return 0


def timed(folder: Path, out: Path, only: str) -> int:
    """Kernels before and after `prune`: microseconds of a launch, among many in a row."""
    rows = _each_pair(folder, "time-one", only)
    _write(out, "time", rows)
    known = [row for row in rows if "before" in row]
    faster = sum(row["after"] < row["before"] for row in known)
    print(f"time: {len(known)} of {len(rows)} kernels timed, {faster} faster without the barriers")
    return 0


def time_one(folder: Path, kernel: str) -> int:
    """One kernel before and after, in turns, so that clocks and neighbours trouble both alike."""
    (pair,) = [each for each in _pairs(folder, "") if each[0]["kernel"] == kernel]
    runs = [_repeated(folder / f"{each['name']}.cubin", each) for each in pair]
    for each in runs:
        each()
    times: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for each, found in zip(runs, times, strict=True):
            found.append(each())
    before, after = (sorted(each) for each in times)
    middle = ROUNDS // 2
    told = {
        "before": before[middle],
        "after": after[middle],
        "spread": [before[0], before[-1], after[0], after[-1]],
    }
    print(json.dumps({name: _rounded(value) for name, value in told.items()}))
    return 0


def _rounded(value: Any) -> Any:
    return [round(each, 3) for each in value] if isinstance(value, list) else round(value, 3)


def _repeated(cubin: Path, record: Record) -> Callable[[], float]:
    """A function that launches a kernel many times and returns microseconds for each."""
    cupy = importlib.import_module("cupy")
    numpy = importlib.import_module("numpy")
    kernel = cupy.RawModule(path=str(cubin)).get_function(record["kernel"])
    arguments = [_argument(text, number, numpy) for number, text in enumerate(record["arguments"])]
    given = tuple(cupy.asarray(each) if each.ndim else each[()] for each in arguments)
    grid, block = tuple(record["grid"]), tuple(record["block"])
    stream = cupy.cuda.Stream(non_blocking=True)

    def launch() -> None:
        for _ in range(LAUNCHES):
            kernel(grid, block, given, shared_mem=record["shared"])

    with stream:
        launch()
        stream.synchronize()
        stream.begin_capture()
        launch()
        graph = stream.end_capture()

    def run() -> float:
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        with stream:
            begin.record()
            graph.launch(stream)
            end.record()
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(begin, end)) * 1000 / LAUNCHES

    return run


def everything(folder: Path, out: Path, only: str, seconds: float) -> int:
    """All steps; racecheck gets the time that the others leave."""
    began = time.monotonic()
    code = same(folder, out, only)
    timed(folder, out, only)
    run(folder, out, only, seconds - (time.monotonic() - began))
    print(f"{time.monotonic() - began:.0f} s")
    return code


def main(argv: list[str] | None = None) -> int:
    """Build here, run there."""
    parser = argparse.ArgumentParser(description="The corpus of CUDA kernels on a GPU.")
    steps = ["build", "all", "same", "time", "run", "one", "same-one", "time-one"]
    parser.add_argument("what", choices=steps)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/ptx-device"))
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--earlier", type=Path, help="racecheck.json of a run that was not finished")
    parser.add_argument("--seconds", type=float, default=420.0, help="how long all of it may take")
    options = parser.parse_args(argv)
    if options.what == "run":
        return run(options.folder, options.out, options.only, options.seconds, options.earlier)
    if options.what == "all":
        return everything(options.folder, options.out, options.only, options.seconds)
    if options.what in ("same", "time"):
        return (same if options.what == "same" else timed)(options.folder, options.out, options.only)
    chosen = {"build": build, "one": one, "same-one": same_one, "time-one": time_one}[options.what]
    return chosen(options.folder, options.only)


if __name__ == "__main__":
    raise SystemExit(main())
