"""Compile the corpus without a GPU, and keep the modules as they are around Triton's membar pass.

    python bench/triton/build.py --out DIR [--only NAME] [--target T]

writes for every entry and target `NAME.TARGET.` followed by
`ttgir` (what the optimizer made), `before.mlir` (lowered to blocks, with addresses, right before membar),
`after.mlir` (right after it), `ptx` or `amdgcn`, and `json` (metadata), and one line into `DIR/INDEX.tsv`.

The backends build one pass manager for the whole lowering. While a kernel is compiled, they are handed a stand-in
that keeps the list of passes and, when told to run, runs the stretch up to membar, membar, and the rest one
after another on the same module. The passes and their order are Triton's own, so the binary is what Triton makes.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import multiprocessing
import os
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from corpus import CORPUS, TARGETS, Entry, Target

# A compilation that takes longer than this is taken as hung.
TIMEOUT = 300.0


@dataclass(frozen=True)
class Compiled:
    """A kernel for one target: the module at the stages that matter here, the assembly and the binary."""

    entry: str
    target: str
    ttgir: str
    before: str
    after: str
    assembly: str
    binary: bytes
    metadata: dict[str, Any]
    seconds: float

    @property
    def written(self) -> int:
        """How many barriers of any kind stood in the module before membar (`gl.barrier()` is `ttg.barrier all`)."""
        return len(re.findall(r"^\s*ttg\.barrier", self.before, re.MULTILINE))

    @property
    def barriers(self) -> int:
        """How many shared-memory barriers the module has after membar."""
        return len(re.findall(r"^\s*ttg\.barrier local", self.after, re.MULTILINE))


@dataclass(frozen=True)
class Outcome:
    """One line of the index."""

    state: str
    barriers: int = 0
    written: int = 0
    seconds: float = 0.0

    def line(self, entry: str, target: str) -> str:
        """The line as it stands in the file."""
        return f"{entry}\t{target}\t{self.state}\t{self.barriers}\t{self.written}\t{self.seconds:.2f}"


HEADER = "entry\ttarget\tstate\tbarriers after membar\twritten before\tseconds"


@dataclass
class _Capture:
    before: str = ""
    after: str = ""


@dataclass
class _Deferred:
    """Stands in for a pass manager: keeps what would be added to it until it is told to run."""

    make: Callable[[Any], Any]
    context: Any
    capture: _Capture
    passes: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = field(default_factory=list)

    def enable_debug(self) -> bool:
        """Printing between passes is left off."""
        return False

    def run(self, module: Any, label: str) -> None:
        """Run everything in order, and look at the module on both sides of membar."""
        at = next((i for i, (name, _, _) in enumerate(self.passes) if name == "add_membar"), None)
        if at is None:
            self._run(self.passes, module, label)
            return
        self._run(self.passes[:at], module, label)
        self.capture.before = str(module)
        self._run(self.passes[at : at + 1], module, label)
        self.capture.after = str(module)
        self._run(self.passes[at + 1 :], module, label)

    def _run(
        self, passes: list[tuple[str, Callable[..., Any], tuple[Any, ...]]], module: Any, label: str
    ) -> None:
        manager = self.make(self.context)
        for _, add, rest in passes:
            add(manager, *rest)
        manager.run(module, label)


class _Bindings:
    """A module of Triton's bindings whose pass-adding functions understand the stand-in."""

    def __init__(self, real: ModuleType, capture: _Capture) -> None:
        self._real = real
        self._capture = capture

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        if isinstance(value, ModuleType):
            return _Bindings(value, self._capture)
        if name == "pass_manager":
            return lambda context: _Deferred(value, context, self._capture)
        if not name.startswith("add_"):
            return value

        def add(manager: Any, *rest: Any) -> Any:
            if not isinstance(manager, _Deferred):
                return value(manager, *rest)
            manager.passes.append((name, value, rest))
            return None

        return add


@contextmanager
def _capturing(target: Target) -> Iterator[_Capture]:
    """Within it, whatever is compiled for the target leaves its module around membar in the capture."""
    vendor = "amd" if target.backend == "hip" else "nvidia"
    backend = importlib.import_module(f"triton.backends.{vendor}.compiler")
    names = ("ir", "passes", vendor)
    real = {name: getattr(backend, name) for name in names}
    capture = _Capture()
    try:
        for name in names:
            setattr(backend, name, _Bindings(real[name], capture))
        yield capture
    finally:
        for name in names:
            setattr(backend, name, real[name])


def compile_entry(entry: Entry, target: str) -> Compiled:
    """Compile one entry for one target in this process, past Triton's cache."""
    began = time.perf_counter()
    with _capturing(TARGETS[target]) as capture:
        kernel = compile_plain(entry, target)
    return Compiled(
        entry=entry.name,
        target=target,
        ttgir=kernel.asm["ttgir"],
        before=capture.before,
        after=capture.after,
        assembly=kernel.asm[TARGETS[target].assembly],
        binary=kernel.kernel,
        metadata=kernel.metadata._asdict(),
        seconds=time.perf_counter() - began,
    )


def compile_plain(entry: Entry, target: str, folder: str | None = None) -> Any:
    """What `triton.compile` makes of an entry, with whatever is installed in Triton; past its cache, or into one."""
    triton = importlib.import_module("triton")
    compiler = importlib.import_module("triton.backends.compiler")
    if entry.language == "gluon":
        source = importlib.import_module("triton.experimental.gluon._runtime").GluonASTSource
    else:
        source = importlib.import_module("triton.compiler").ASTSource
    machine = TARGETS[target]
    with tempfile.TemporaryDirectory() as cache, compiled_anew(folder or cache):
        return triton.compile(
            source(entry.kernel, entry.signature(target), entry.constants(target), entry.attributes()),
            target=compiler.GPUTarget(machine.backend, machine.arch, machine.warp_size),
            # Said outright because Triton warns about its default, which is about to change.
            options={"enable_fp_fusion": True, **entry.options},
        )


@contextmanager
def compiled_anew(cache: str) -> Iterator[None]:
    """Within it, nothing is taken from Triton's cache, which is a folder of its own."""
    if importlib.util.find_spec("triton.knobs") is None:
        # A release that reads it anew each time.
        with patch.dict(os.environ, {"TRITON_CACHE_DIR": cache, "TRITON_ALWAYS_COMPILE": "1"}):
            yield
        return
    knobs = importlib.import_module("triton.knobs")
    with knobs.cache.scope(), knobs.compilation.scope():
        knobs.cache.dir = cache
        knobs.compilation.always_compile = True
        yield


def write(compiled: Compiled, out: Path, binary: bool = False) -> None:
    """Put the stages of one compiled kernel into a directory."""
    stem = f"{compiled.entry}.{compiled.target}"
    suffix = TARGETS[compiled.target].assembly
    stages = {"ttgir": compiled.ttgir, "before.mlir": compiled.before, "after.mlir": compiled.after}
    for name, text in {**stages, suffix: compiled.assembly}.items():
        (out / f"{stem}.{name}").write_text(text)
    (out / f"{stem}.json").write_text(
        json.dumps(compiled.metadata, default=str, indent=1, sort_keys=True) + "\n"
    )
    if binary:
        (out / f"{stem}.{'hsaco' if suffix == 'amdgcn' else 'cubin'}").write_bytes(compiled.binary)


def _serve(pipe: Connection, out: Path, binary: bool) -> None:
    """Compile what the pipe asks for and answer with a line of the index, until the pipe closes."""
    while True:
        try:
            name, target = pipe.recv()
        except EOFError:
            return
        began = time.perf_counter()
        try:
            compiled = compile_entry(CORPUS[name], target)
            write(compiled, out, binary)
            pipe.send(Outcome("ok", compiled.barriers, compiled.written, compiled.seconds))
        except Exception as error:
            (out / f"{name}.{target}.error").write_text(traceback.format_exc())
            pipe.send(Outcome(f"error: {_headline(error)}", seconds=time.perf_counter() - began))


def _headline(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:200]


class Worker:
    """A process that compiles, replaced when the compiler takes it down or does not come back."""

    def __init__(self, out: Path, binary: bool) -> None:
        self._out = out
        self._binary = binary
        self._start()

    def _start(self) -> None:
        # Fresh interpreters: a fork would carry the state of LLVM's threads along.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._out, self._binary), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, entry: str, target: str) -> Outcome:
        """Compile one entry for one target."""
        began = time.perf_counter()
        self._pipe.send((entry, target))
        try:
            if self._pipe.poll(TIMEOUT):
                outcome: Outcome = self._pipe.recv()
                return outcome
            state = "error: timed out"
        except EOFError:
            self._process.join()
            state = f"error: the compiler ended the process ({self._process.exitcode})"
        self.close()
        self._start()
        return Outcome(state, seconds=time.perf_counter() - began)

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.kill()
        self._process.join()


def main(argv: list[str] | None = None) -> int:
    """Compile the chosen part of the corpus into a directory."""
    parser = argparse.ArgumentParser(description="Compile the Triton corpus without a GPU.")
    parser.add_argument("--out", type=Path, required=True, help="directory for the modules and INDEX.tsv")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this entry (may be repeated)")
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="only this target")
    parser.add_argument("--binary", action="store_true", help="write the binary (cubin, hsaco) as well")
    options = parser.parse_args(argv)
    unknown = [name for name in options.only or () if name not in CORPUS]
    if unknown:
        parser.error(f"no such entry: {', '.join(unknown)}")
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    jobs = [
        (name, target)
        for name, entry in CORPUS.items()
        if not options.only or name in options.only
        for target in entry.targets
        if not options.target or target in options.target
    ]
    index = _read_index(out / "INDEX.tsv")
    worker = Worker(out, options.binary)
    failed = 0
    try:
        for name, target in jobs:
            outcome = worker.ask(name, target)
            failed += outcome.state != "ok"
            index[(name, target)] = outcome.line(name, target)
            print(index[(name, target)], flush=True)
            _write_index(out / "INDEX.tsv", index)
    finally:
        worker.close()
    print(f"{len(jobs) - failed} compiled, {failed} failed", file=sys.stderr)
    return 1 if failed else 0


def _read_index(path: Path) -> dict[tuple[str, str], str]:
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    return {(line.split("\t")[0], line.split("\t")[1]): line for line in lines}


def _write_index(path: Path, index: dict[tuple[str, str], str]) -> None:
    path.write_text("\n".join([HEADER, *(index[key] for key in sorted(index))]) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
