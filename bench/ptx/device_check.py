"""The corpus on a GPU: what compute-sanitizer's racecheck says of every kernel and variant, with small inputs.

    python bench/ptx/device_check.py build out/ptx            # here: cubins by ptxas, and a manifest
    python bench/ptx/device_check.py run out/ptx --out DIR    # there: racecheck on each, DIR/racecheck.json
    python bench/ptx/device_check.py same out/ptx --out DIR   # there: kernels before and after `prune`, bit for bit

`build` needs NVRTC and ptxas (the packages nvidia-cuda-nvrtc and nvidia-cuda-nvcc); the others need numpy, CuPy and
compute-sanitizer, and nothing of fencepost. Each kernel runs in a process of its own: some with a planted mistake
never end.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ARCHITECTURE = "sm_90"
TOGETHER = 8
"""Race detectors that run at a time."""
SECONDS = 60
"""How long one may take; a kernel that hangs is ended then."""
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
            _assemble(pruned, folder / f"{entry.name}.pruned.cubin")
    (folder / "manifest.json").write_text(json.dumps(records, indent=1), encoding="utf-8")
    print(f"{len(records)} cubins in {folder}")
    return 0


def _ptx(entry: Any, variant: Any) -> str:
    from fencepost.hosts.ptx.nvrtc import Compilation, compile_cuda
    from fencepost.ir.source import Source

    how = Compilation(ARCHITECTURE, defines=variant.defines)
    return compile_cuda(Source(str(entry.path), entry.text), how).ptx


def _pruned(entry: Any) -> str | None:
    """A kernel without its redundant barriers; None if every one is needed."""
    from fencepost.hosts.ptx.asked_launch import Launch
    from fencepost.hosts.ptx.edits import prune

    text = _ptx(entry, entry.variants[0])
    pruned = prune(text, entry.name, Launch(entry.block)).text
    return pruned if pruned != text else None


def _assemble(ptx: str, cubin: Path) -> None:
    source = cubin.with_suffix(".ptx")
    source.write_text(ptx, encoding="utf-8")
    subprocess.run([str(_ptxas()), f"-arch={ARCHITECTURE}", str(source), "-o", str(cubin)], check=True)
    source.unlink()


def _ptxas() -> Path:
    import nvidia

    (found, *_) = [path for root in nvidia.__path__ for path in Path(root).glob("cu13/bin/ptxas")]
    return found


# ---------------------------------------------------------------- run


def run(folder: Path, out: Path, only: str) -> int:
    """Racecheck on everything; a table, and the same as JSON."""
    records = [each for each in _manifest(folder) if only in each["name"]]
    with ThreadPoolExecutor(TOGETHER) as pool:
        found = list(pool.map(lambda record: _racecheck(folder, record), records))
    for each in found:
        said = f"{each['said']:8} {each['errors']:4} errors {each['warnings']:4} warnings"
        print(f"{each['name']:44} {each['expectation']:11} {said}  {each['first'][:90]}")
    out.mkdir(parents=True, exist_ok=True)
    (out / "racecheck.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    agreed = sum(each["said"] == _wanted(each["expectation"]) for each in found)
    print(f"{len(found)} kernels, {agreed} as expected")
    return 0


def _wanted(expectation: str) -> str:
    """What racecheck should say of a kernel."""
    return {"race": "error", "warning": "warning", "divergence": "hangs"}.get(expectation, "nothing")


def _manifest(folder: Path) -> list[Record]:
    records: list[Record] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return records


def _racecheck(folder: Path, record: Record) -> Record:
    """One kernel under compute-sanitizer."""
    detector = ["compute-sanitizer", "--tool", "racecheck", "--racecheck-report", "all"]
    command = [*detector, sys.executable, __file__, "one", str(folder), "--only", record["name"]]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return record | {"said": "hangs", "errors": 0, "warnings": 0, "first": ""}
    text = ran.stdout + ran.stderr
    summary, hazards = _SUMMARY.search(text), _HAZARD.findall(text)
    if summary is None:
        return record | {"said": "failed", "errors": 0, "warnings": 0, "first": text.strip()[-300:]}
    errors, warnings = int(summary[2]), int(summary[3])
    said = "error" if errors else "warning" if warnings else "nothing"
    first = hazards[0][1] if hazards else ""
    return record | {"said": said, "errors": errors, "warnings": warnings, "first": first}


def one(folder: Path, name: str) -> int:
    """Launch one kernel and wait for it."""
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


# ---------------------------------------------------------------- same


def same(folder: Path, out: Path, only: str) -> int:
    """Kernels before and after `prune` on the same inputs."""
    rows = []
    for record in _manifest(folder):
        pruned = folder / f"{record['kernel']}.pruned.cubin"
        if not record["name"].endswith(".base") or only not in record["name"] or not pruned.exists():
            continue
        before = _launch(folder / f"{record['name']}.cubin", record)
        after = _launch(pruned, record)
        equal = all(one.tobytes() == two.tobytes() for one, two in zip(before, after, strict=True))
        rows.append({"kernel": record["kernel"], "same": equal})
        print(f"{record['kernel']:24} {'the same' if equal else 'DIFFERENT'}")
    out.mkdir(parents=True, exist_ok=True)
    (out / "same.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print(f"{len(rows)} kernels, {sum(row['same'] for row in rows)} with the same results")
    return 0 if all(row["same"] for row in rows) else 1


def main(argv: list[str] | None = None) -> int:
    """Build here, run there."""
    parser = argparse.ArgumentParser(description="The corpus of CUDA kernels on a GPU.")
    parser.add_argument("what", choices=["build", "run", "same", "one"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/ptx-device"))
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    options = parser.parse_args(argv)
    if options.what == "build":
        return build(options.folder, options.only)
    if options.what == "one":
        return one(options.folder, options.only)
    return (run if options.what == "run" else same)(options.folder, options.out, options.only)


if __name__ == "__main__":
    raise SystemExit(main())
