"""CUDA C++ compiled to PTX by NVRTC, the compiler library that NVIDIA publishes as a Python package.

Neither a GPU nor the CUDA toolkit nor a host compiler is needed: `pip install "fencepost[cuda]"` brings the library
and the headers. NVRTC compiles device code alone: what only the host can use is left out (`cuda_sources`), and
standard headers are given as far as kernels use them (`standard_headers`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from fencepost.hosts.ptx.compiler.changed_tables import without_changed_values
from fencepost.hosts.ptx.compiler.compiled_launches import CompiledLaunches, compiled_launches
from fencepost.hosts.ptx.compiler.compiler_process import COMPILER, Attempt, CompilerEnded
from fencepost.hosts.ptx.cuda_source.annotations import ANNOTATIONS
from fencepost.hosts.ptx.cuda_source.cuda_sources import ERROR, CudaSources, cuda_sources
from fencepost.hosts.ptx.launches.launched_instances import (
    kernel_templates,
    launched_instances,
    undeclared_launches,
    used_templates,
)
from fencepost.hosts.ptx.launches.sibling_launches import files_that_include, sibling_launches
from fencepost.hosts.ptx.reading.kernel_names import function_name, instance_name, kernels_in
from fencepost.ir.source import FencepostError, Mark, Source, Span

MOST_NAMED = 5
"""Templates that a note names."""
INSTALL = 'pip install "fencepost[cuda]"; in a clone: pip install -e ".[cuda]"'
MOST_ERRORS = 8
"""Errors of the compiler that a message repeats."""
DEFAULT_ARCHITECTURE = "sm_80"
MOST_LISTED = 12
"""Names that a message lists."""
MOST_ATTEMPTS = 24
"""How often a file is compiled at most, each time without more that only the host can use."""
WITH_LAUNCHES = ("--relocatable-device-code=true",)
"""Without this, functions of the device cannot launch kernels."""
LAUNCHES_OF_KERNELS = "device-side kernel launch could not be processed"
"""What the compiler says of kernels that launch others, if it was not told that there are such."""
_UNKNOWN_INSTANCE = re.compile(r'Input name expression was: "(.*)"')
_HIP = re.compile(r"\s*#\s*include\s*[<\"]hip/")
_CONDITIONAL = re.compile(r"\s*#\s*(if|ifdef|ifndef|endif)\b")
_ARCHITECTURE = re.compile(r"sm_(\d+[af]?)")


@dataclass(frozen=True, slots=True)
class Compilation:
    """How a file is to be compiled."""

    architecture: str = DEFAULT_ARCHITECTURE
    defines: tuple[str, ...] = ()
    """Macros, as `NAME` or `NAME=value`."""
    includes: tuple[str, ...] = ()
    """Folders of headers, searched after the one that the file is in."""
    instances: tuple[str, ...] = ()
    """Kernels of templates to compile, as `reduce<256>`, beside those that the host code launches."""
    optimized: bool = True
    """Without optimization, every access stays where the source has it."""
    launched: tuple[str, ...] | None = None
    """The kernels of templates that the host code launches, if another build has shown them."""

    def like(self, ptx: str) -> Compilation:
        """The same for another build of a file whose PTX there is."""
        return replace(self, launched=tuple(filter(None, map(instance_name, kernels_in(ptx)))))


@dataclass(frozen=True, slots=True)
class Compiled:
    """What became of a CUDA file."""

    ptx: str
    cuda_text: str
    """The file and the headers of its own, one after the other."""
    left_out: tuple[str, ...] = ()
    """Declarations of the host that were not compiled."""
    missing: tuple[str, ...] = ()
    """Headers that were not found, and count as empty."""
    annotated: bool = False
    """Whether there are annotations for GPUVerify, most of which are not read."""
    unknown_instances: tuple[str, ...] = ()
    """Kernel templates that are launched, with arguments that are not known."""
    unknown_kernels: tuple[str, ...] = ()
    """Kernels that are launched, and that nothing in the file makes."""
    never_launched: tuple[str, ...] = ()
    """Kernel templates that nothing in the file launches: there is no instance to judge."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a verdict on the kernels has to say."""
        missing = [f"not found, and taken to be empty: {', '.join(self.missing)}"] if self.missing else []
        return (
            *missing,
            *(["of annotations for GPUVerify, only what is required is read"] if self.annotated else []),
            *(
                [f"not judged, as nothing launches them: {_named(self.never_launched)}"]
                if self.never_launched
                else []
            ),
        )


def compile_cuda(source: Source, how: Compilation | None = None) -> Compiled:
    """The PTX of a CUDA file, with line tables; FP431 if it does not compile, FP430 if there is no NVRTC."""
    how = how or Compilation()
    if Path(source.name).suffix == ".hip" or _is_hip(source.text):
        raise FencepostError(
            "this is HIP, which is not read",
            code="FP112",
            source=source,
            notes=[
                ("help", "write down what it does to shared memory, in text form (.fp): docs/tour-hip.md")
            ],
        )
    if "\0" in source.text:
        raise FencepostError("this is no CUDA: there is a NUL byte in it", code="FP112", source=source)
    try:
        found = _compiled(source, how)
        return replace(found, ptx=without_changed_values(found.ptx, found.cuda_text))
    except FencepostError as error:
        # The compiler that crashes or takes too long does not know on which file.
        error.source = error.source or source
        raise


def _compiled(source: Source, how: Compilation) -> Compiled:
    sources = cuda_sources(source, how.includes)
    launched = _launched(source, sources, how)
    ptx, log = _without_host(sources, how, launched)
    if ptx is not None:
        left_out, missing = tuple(sources.left_out), tuple(sources.missing)
        annotated = ANNOTATIONS in sources.first
        unknown = () if how.instances else _unknown_instances(sources.written, ptx, launched)
        made = _unknown_kernels(sources.written, ptx, unknown)
        idle = () if how.instances else _never_launched(sources.written, ptx, unknown)
        return Compiled(
            sources.with_paths(ptx), sources.written, left_out, missing, annotated, unknown, made, idle
        )
    if sources.left_out:
        # What looks like host code may be meant for the device: NVRTC can take functions without a word for those.
        whole = cuda_sources(source, how.includes)
        whole.text = source.text
        ptx = _run(whole, how, (*how.instances, *launched.certain)).ptx
        if ptx is not None:
            unknown = () if how.instances else _unknown_instances(whole.written, ptx, launched)
            made = _unknown_kernels(whole.written, ptx, unknown)
            return Compiled(
                whole.with_paths(ptx),
                whole.written,
                unknown_instances=unknown,
                unknown_kernels=made,
                never_launched=() if how.instances else _never_launched(whole.written, ptx, unknown),
            )
    if "invalid value for --gpu-architecture" in log:
        raise _no_gpu(how.architecture)
    raise _failure(source, log, sources)


def _no_gpu(architecture: str) -> FencepostError:
    return FencepostError(
        f"{architecture} is no GPU that CUDA is compiled for",
        code="FP110",
        notes=[("help", "name one as --target sm_80, sm_90 or sm_100")],
    )


@dataclass(frozen=True, slots=True)
class _Launched:
    """The instances of kernel templates that the host code launches."""

    certain: tuple[str, ...] = ()
    """Those that the compiler has named."""
    guessed: tuple[str, ...] = ()
    """Those that the text of launches names, where the compiler does not tell."""


def _launched(source: Source, sources: CudaSources, how: Compilation) -> _Launched:
    if how.launched is not None or how.instances or not kernel_templates(sources.written):
        return _Launched(how.launched or ())
    host = cuda_sources(source, how.includes, with_host=True)
    try:
        found = compiled_launches(host, lambda now: _run(now, how, (), WITH_LAUNCHES)) or CompiledLaunches()
    except CompilerEnded:
        # Functions of the host are not what it is made for; the text of launches is left.
        found = CompiledLaunches()
    told = {_template_name(each) for each in found.instances} - found.lost
    guessed = [each for each in launched_instances(sources.written) if _template_name(each) not in told]
    for template, there in sibling_launches(source.name, sources.written, how.includes).items():
        instances = launched_instances(f"{there.text}\n{sources.written}")
        guessed += [each for each in instances if _template_name(each) == template and "<" in each]
    return _Launched(found.instances, tuple(dict.fromkeys(guessed)))


def _unknown_instances(text: str, ptx: str, found: _Launched) -> tuple[str, ...]:
    """Kernel templates that are used in a text, and of which there is no instance in its PTX, or not every one that
    is launched for certain."""
    compiled = {function_name(each) for each in kernels_in(ptx)}
    names = {instance_name(each) for each in kernels_in(ptx)}
    missing = {_template_name(each) for each in found.certain if each not in names}
    return tuple(each for each in used_templates(text) if each not in compiled or each in missing)


def _unknown_kernels(text: str, ptx: str, templates: Sequence[str]) -> tuple[str, ...]:
    """Kernels that are launched by names that no kernel in the PTX has."""
    compiled = {function_name(each) for each in kernels_in(ptx)} | {*templates, *kernel_templates(text)}
    return tuple(each for each in undeclared_launches(text) if each not in compiled)


def _never_launched(text: str, ptx: str, unknown: Sequence[str]) -> tuple[str, ...]:
    """Kernel templates of which nothing asks for an instance."""
    compiled = {function_name(each) for each in kernels_in(ptx)} | {*unknown}
    return tuple(each for each in dict.fromkeys(kernel_templates(text)) if each not in compiled)


def _named(templates: Sequence[str]) -> str:
    """Some templates, and how to have one judged."""
    more = f" and {len(templates) - MOST_NAMED} more" if len(templates) > MOST_NAMED else ""
    listed = ", ".join(templates[:MOST_NAMED])
    return f"{listed}{more} (an instance of a template: --kernel '{templates[0]}<...>')"


def _template_name(instance: str) -> str:
    """The name of a template without namespaces and arguments."""
    return instance.partition("<")[0].strip().rpartition("::")[2]


def _is_hip(text: str) -> bool:
    """Whether a file includes headers of HIP, and not only where some macro asks for them."""
    depth = 0
    for line in text.split("\n"):
        directive = _CONDITIONAL.match(line)
        if directive is not None:
            depth += -1 if directive[1] == "endif" else 1
        elif depth == 0 and _HIP.match(line):
            return True
    return False


def _without_host(sources: CudaSources, how: Compilation, found: _Launched) -> tuple[str | None, str]:
    """The PTX once everything is left out that only the host can use, or None; what the compiler said."""
    launched = [each for each in (*found.certain, *found.guessed) if each not in how.instances]
    log = ""
    more: tuple[str, ...] = ()
    for _ in range(MOST_ATTEMPTS):
        attempt = _run(sources, how, (*how.instances, *launched), more)
        log = attempt.log
        if attempt.ptx is not None:
            return attempt.ptx, log
        if not more and LAUNCHES_OF_KERNELS in log:
            more = WITH_LAUNCHES
            continue
        if sources.leave_out(log):
            continue
        # The arguments of a launch can be names that only the host knows.
        unknown = {"".join(each.split()) for each in _UNKNOWN_INSTANCE.findall(log)}
        known = [each for each in launched if "".join(each.split()) not in unknown]
        if len(known) == len(launched):
            if not launched:
                break
            certain = [each for each in launched if each in found.certain]
            known = certain if len(certain) < len(launched) else []
        launched = known
    return None, log


def _run(
    sources: CudaSources, how: Compilation, instances: Sequence[str], more: Sequence[str] = ()
) -> Attempt:
    """One compilation of everything that is not left out."""
    library, root = _library()
    options = [*_options(sources.name, how, root), *more]
    return COMPILER.compile(
        {
            "library": str(library),
            "folder": str(Path.cwd()),
            "name": sources.name,
            "text": sources.text,
            "headers": sources.headers,
            "instances": list(instances),
            "options": [*options, *(f"--pre-include={each}" for each in sources.first)],
        }
    )


def _options(name: str, how: Compilation, root: Path) -> list[str]:
    match = _ARCHITECTURE.fullmatch(how.architecture)
    if match is None:
        raise _no_gpu(how.architecture)
    folders = [str(Path(name).parent), *how.includes, str(root / "include"), str(root / "include" / "cccl")]
    return [
        f"--gpu-architecture=compute_{match[1]}",
        # Without optimization the compiler wants debug information, which names lines as well.
        "--generate-line-info" if how.optimized else "--device-debug",
        # Functions that say neither __host__ nor __device__ are compiled as well: `host_code` has taken the others.
        "--device-as-default-execution-space",
        "--std=c++17",
        "--disable-warnings",
        # The first is of GCC; the second is an error since C++ 17, which nvcc only warns of.
        "--define-macro=__extension__=",
        "--define-macro=register=",
        *(f"--define-macro={each}" for each in how.defines),
        *(f"--include-path={each}" for each in folders),
    ]


@cache
def _library() -> tuple[Path, Path]:
    """NVRTC, and the folder that its package and that of the headers are in."""
    for root in _roots():
        for path in sorted((root / "lib").glob("libnvrtc.so*")):
            return path, root
    raise FencepostError(
        "compiling CUDA needs NVRTC, which is not installed", code="FP430", notes=[("help", INSTALL)]
    )


def _roots() -> list[Path]:
    """Where packages of NVIDIA's put CUDA 13: `nvidia/cu13` in a folder of packages."""
    try:
        import nvidia
    except ImportError:
        return []
    return [Path(each) / "cu13" for each in nvidia.__path__]


def _failure(source: Source, log: str, sources: CudaSources) -> FencepostError:
    """What the compiler said, with the lines of the file that it is about."""
    found = list(ERROR.finditer(log))
    if not found:
        return FencepostError(f"this does not compile: {log.strip()}", code="FP431", source=source)
    marks = [
        Mark(_whole_line(source, int(each["line"])), each["text"])
        for each in found[:MOST_ERRORS]
        if each["file"] == source.name
    ]
    elsewhere = [each for each in found[:MOST_ERRORS] if each["file"] != source.name]
    notes = [("also", f"{each['file']}:{each['line']}: {each['text']}") for each in elsewhere]
    if len(found) > MOST_ERRORS:
        notes.append(("note", f"{len(found) - MOST_ERRORS} more errors"))
    if sources.left_out:
        notes.append(("note", f"left out, as only the host can use it: {_listed(sources.left_out)}"))
    if sources.skipped:
        notes.append(("note", f"headers that NVRTC cannot compile are left out: {_listed(sources.skipped)}"))
    if sources.missing:
        notes.append(("note", f"headers that were not found: {_listed(sources.missing)}"))
        notes.append(("help", "--include FOLDER says where headers are"))
    if including := files_that_include(source.name):
        notes.append(("help", f"{_listed(including)} includes this file: check that one"))
    if sources.left_out or sources.skipped or sources.missing:
        notes.append(
            ("help", f"or compile it yourself: nvcc -ptx -lineinfo {source.name}, and check the .ptx")
        )
    return FencepostError(
        f"this does not compile: {found[0]['text']}",
        marks,
        code="FP431",
        source=source,
        notes=notes,
    )


def _listed(names: Sequence[str]) -> str:
    several = list(dict.fromkeys(names))
    more = len(several) - MOST_LISTED
    return ", ".join(several[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _whole_line(source: Source, line: int) -> Span:
    text = source.line(line)
    indent = len(text) - len(text.lstrip())
    return Span(line, indent + 1, line, max(len(text.rstrip()), indent + 1) + 1)
