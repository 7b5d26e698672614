"""A CUDA or PTX file, compiled and read, with what is said about how its kernels are launched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fencepost.hosts.kernel_files import is_ptx
from fencepost.hosts.ptx.asked_launch import AskedLaunch
from fencepost.hosts.ptx.compiler.architectures import notes_about, oldest_that_compiles
from fencepost.hosts.ptx.compiler.nvrtc import DEFAULT_ARCHITECTURE, Compilation, Compiled, compile_cuda
from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.launches.launch_sites import EVERY
from fencepost.hosts.ptx.launches.preconditions import ANNOTATED, Preconditions, preconditions
from fencepost.hosts.ptx.reading.kernel_names import function_name, plain_name
from fencepost.hosts.ptx.reading.module import PtxError
from fencepost.hosts.ptx.report.allowed_findings import without_allowed
from fencepost.hosts.ptx.verdicts import KernelVerdict, Reason
from fencepost.ir.source import FencepostError, Mark, Source, Span
from fencepost.phases import begin_phase

if TYPE_CHECKING:
    from fencepost.hosts.ptx.launches.launch_sites import Launches
    from fencepost.hosts.ptx.launches.sibling_launches import SiblingLaunches
    from fencepost.hosts.ptx.unoptimized import Builds

Result = TypeVar("Result")
LAUNCH = "its launch"


@dataclass(frozen=True)
class UserOptions:
    """What a user says about a file where it does not say so itself."""

    block: tuple[int, int, int] | None = None
    params: Mapping[str, int] = field(default_factory=dict)
    kernel: str | None = None
    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    target: str = ""
    distinct_pointers: bool = False
    as_compiled: bool = False
    """Whether the optimized code alone is judged, not the order of the source beside it."""
    cluster: tuple[int, int, int] | None = None
    warp_synchronous: bool = False
    """Whether the threads of a warp run in step."""

    @property
    def compilation(self) -> Compilation:
        """How CUDA is to be compiled."""
        template = (self.kernel,) if self.kernel and "<" in self.kernel else ()
        return Compilation(self.target or DEFAULT_ARCHITECTURE, self.defines, self.includes, template)


@dataclass(frozen=True)
class PtxFile:
    """A CUDA or PTX file: its PTX, and the kernels of it that are wanted."""

    file: str
    """As the user named it."""
    ptx: Source
    cuda: Source | None
    """The CUDA file that the PTX was compiled from here."""
    kernels: tuple[str, ...]
    asked: UserOptions
    cuda_text: str = ""
    """The text of the CUDA file and of the headers of its own: kernels and launches can stand in any of them."""
    notes: tuple[str, ...] = ()
    """What is to be said about how the CUDA file was compiled."""
    unknown_instances: tuple[str, ...] = ()
    """Kernel templates that are launched, with arguments that are not known: they are not in the PTX."""

    unknown_kernels: tuple[str, ...] = ()
    """Kernels that are launched and not in the PTX, because nothing in the file makes them."""

    @property
    def source(self) -> Source:
        """The file as it was read."""
        return self.cuda or self.ptx

    def parameter_names(self, kernel: str) -> tuple[str, ...]:
        """What CUDA calls the parameters of a kernel."""
        from fencepost.hosts.ptx.launches.parameters import parameter_names

        return parameter_names(self.cuda_text, kernel) if self.cuda is not None else ()

    def launch(self, kernel: str) -> AskedLaunch:
        """What the user says about the launch of a kernel."""
        from fencepost.hosts.ptx.launches import gpuverify_comments as comments
        from fencepost.hosts.ptx.launches.parameters import numbered, parameters_in, refuse_too_large

        asked, names = self.asked, self.parameter_names(kernel)
        params = numbered(asked.params, kernel, names, parameters_in(self.ptx.text, kernel))
        refuse_too_large(params, kernel, names, self.ptx.text)
        required = self.preconditions(kernel)
        params = {**required.values, **params}
        text = self.cuda_text if self.cuda is not None else ""
        grid = None if comments.is_about_one_block(text) else comments.grid_of_comments(text)
        in_step = asked.warp_synchronous or comments.is_warp_synchronous(text)
        # What is required and could not be read may be what keeps a race away.
        open_ = comments.block_of_comments(text) is not None and not required.left_out
        about = (asked.distinct_pointers, asked.cluster, required.conditions, grid, in_step, open_)
        return AskedLaunch(asked.block, params, self.ptx.name, *about)

    def preconditions(self, kernel: str) -> Preconditions:
        """What a CUDA file requires of the launches of a kernel, as annotations say it."""
        from fencepost.hosts.ptx.launches.launch_sites import constants_and_grid
        from fencepost.hosts.ptx.launches.parameters import parameters_in

        if self.cuda is None or ANNOTATED.search(self.cuda_text) is None:
            return Preconditions()
        constants = constants_and_grid(self.cuda_text)
        block = self.asked.block or launched_block(self, kernel)
        if block is not None:
            constants |= {f"blockDim.{axis}": size for axis, size in zip("xyz", block, strict=True)}
        return preconditions(self.cuda_text, kernel, parameters_in(self.ptx.text, kernel), constants)

    def launch_in_file(self, kernel: str) -> AskedLaunch:
        """The same, with the block and the cluster of its launches in the CUDA file if the user names none."""
        block, cluster = self.asked.block or launched_block(self, kernel), launched_cluster(self, kernel)
        return replace(self.launch(kernel), block=block, cluster=self.asked.cluster or cluster)

    @property
    def elsewhere(self) -> Mapping[str, SiblingLaunches]:
        """For the kernels of a CUDA file that it does not launch: files of its folder that do."""
        from fencepost.hosts.ptx.launches.sibling_launches import sibling_launches

        if self.cuda is None:
            return {}
        return sibling_launches(self.cuda.name, self.cuda_text, self.asked.includes)

    def its_launch(self, kernel: str) -> str:
        """Where a kernel is launched, in words."""
        there = self.elsewhere.get(function_name(kernel))
        return f"{LAUNCH} in {', '.join(there.files)}" if there is not None else LAUNCH

    def judged(self, verdict: KernelVerdict) -> JudgedPtx:
        """A verdict with the texts that messages about it quote."""
        names = self.parameter_names(verdict.kernel)
        return JudgedPtx(self.source.name, verdict, self.ptx, self.cuda, names)

    def with_ptx(self, text: str) -> PtxFile:
        """The same file with changed PTX; a PTX file is then another text."""
        return replace(self, ptx=Source(self.ptx.name, text))

    def recompiled(self, text: str) -> PtxFile:
        """The CUDA file with another text, compiled as this one was."""
        cuda = Source(self.source.name, text)
        compiled = _compiled(cuda, self.asked.compilation.like(self.ptx.text))
        return replace(self, cuda=cuda, ptx=_ptx_of(cuda, compiled), cuda_text=compiled.cuda_text)

    def builds(self) -> Builds:
        """The builds that are judged: CUDA is also judged in the order of its source."""
        from fencepost.hosts.ptx.unoptimized import Builds, builds_of

        if self.cuda is None or self.asked.as_compiled:
            return Builds(self.ptx)
        begin_phase("compiling with NVRTC, without optimization")
        return builds_of(self.ptx, self.cuda, self.asked.compilation)


def read_file(name: str, source: Source, asked: UserOptions) -> PtxFile:
    """A CUDA or PTX file, compiled and read."""
    if is_ptx(name, source.text):
        return PtxFile(name, source, None, tuple(_wanted(source.name, "", source, asked.kernel)), asked)
    if asked.target:
        target, compiled = asked.target, _compiled(source, asked.compilation)
    else:
        target, compiled = oldest_that_compiles(
            lambda each: _compiled(source, replace(asked, target=each).compilation)
        )
    ptx = _ptx_of(source, compiled)
    wanted = tuple(_wanted(source.name, compiled.cuda_text, ptx, asked.kernel))
    every = asked.kernel is None
    if not every:
        compiled = replace(compiled, never_launched=())
    unknown = (compiled.unknown_instances, compiled.unknown_kernels) if every else ((), ())
    notes = (*compiled.notes, *notes_about(compiled.cuda_text, target, chosen=not asked.target))
    if target != DEFAULT_ARCHITECTURE:
        asked = replace(asked, target=target)
    return PtxFile(name, ptx, source, wanted, asked, compiled.cuda_text, notes, *unknown)


def judgements(file: PtxFile) -> Iterator[JudgedPtx | FencepostError]:
    """The kernels of a file, each with its verdict, or why it could not be judged."""
    builds = file.builds()
    launched = _launched(file) if file.asked.block is None else {}
    common = _common_launches(file)
    for kernel in file.kernels:
        begin_phase(f"checking {plain_name(kernel)}")
        try:
            block = _block_of(launched, kernel)
            launch = file.launch(kernel)
            cluster = launch.cluster or launched_cluster(file, kernel)
            launch = replace(launch, block=launch.block or block, cluster=cluster)
            given = launch.given
            if (known := common.get(function_name(kernel))) is not None:
                given = replace(given, numbers=known.numbers, threads=known.threads, blocks=known.blocks)
            for verdict in builds.judge(kernel, given):
                if block is not None:
                    where = (
                        "a comment (--blockDim)" if _of_comment(launched, kernel) else file.its_launch(kernel)
                    )
                    said = _with_block(verdict.holds_for, where)
                    verdict = replace(verdict, holds_for=said)
                elif given.blocks and not verdict.holds_for.startswith("every "):
                    said = f"{verdict.holds_for}; the blocks are those of {file.its_launch(kernel)}"
                    verdict = replace(verdict, holds_for=said)
                verdict = _with_preconditions(verdict, file.preconditions(kernel), launch)
                yield without_allowed(file.judged(replace(verdict, notes=(*verdict.notes, *file.notes))))
        except PtxError as error:
            yield unread(error, file.ptx)
            return
        except FencepostError as error:
            error.source = error.source or file.source
            yield error
    yield from (file.judged(_not_compiled(each)) for each in file.unknown_instances)
    yield from (file.judged(_not_made(each)) for each in file.unknown_kernels)


def _not_compiled(template: str) -> KernelVerdict:
    """The verdict on a kernel template whose instances are not known."""
    reason = f"its template arguments are not known; name them: --kernel '{template}<...>'"
    return KernelVerdict(template, "undecided", (), (Reason(reason),), "no instance was compiled", 0, 0)


def _not_made(kernel: str) -> KernelVerdict:
    """The verdict on a kernel that is launched, and declared nowhere."""
    reason = "it is launched here, and nothing that is compiled makes it: a macro, or another file"
    return KernelVerdict(kernel, "undecided", (), (Reason(reason),), "it was not compiled", 0, 0)


def _with_preconditions(
    verdict: KernelVerdict, required: Preconditions, launch: AskedLaunch
) -> KernelVerdict:
    """The verdict with what it takes for granted because the file requires it, and what is not read."""
    given = launch.params or {}
    if required.equations and all(given.get(name) == value for name, value in required.values.items()):
        said = f"{verdict.holds_for}; the file requires {', '.join(required.equations)}"
        verdict = replace(verdict, holds_for=said)
    left = ", ".join(f"`{each}`" for each in required.left_out)
    return replace(verdict, notes=(*verdict.notes, f"required, but not read: {left}")) if left else verdict


def as_launched(file: PtxFile, kernel: str) -> PtxFile:
    """One kernel of a file, with the block that its launches name if the user names none."""
    launch = file.launch_in_file(kernel)
    asked = replace(file.asked, block=launch.block, cluster=launch.cluster)
    return replace(file, kernels=(kernel,), asked=asked)


def launched_block(file: PtxFile, kernel: str) -> tuple[int, int, int] | None:
    """The block that a file launches a kernel with, if it says so."""
    return _block_of(_launched(file), kernel)


def _block_of(launched: Mapping[str, tuple[int, int, int]], kernel: str) -> tuple[int, int, int] | None:
    """The block of a kernel: of the instance of a template, of all launches, or of a comment."""
    instance, name = plain_name(kernel).replace(" ", ""), function_name(kernel)
    return launched.get(instance, launched.get(name, launched.get(EVERY)))


def _with_block(holds_for: str, where: str) -> str:
    """What a verdict holds for, and where its block is from; with its numbers if they are from there, too."""
    from fencepost.hosts.ptx.unoptimized import OF_LAUNCH

    numbers = holds_for.removesuffix(f"; {OF_LAUNCH}")
    if numbers != holds_for and where.startswith(LAUNCH):
        return f"{numbers}; block and numbers are those of {where}"
    return f"{holds_for}; the block is that of {where}"


def _of_comment(launched: Mapping[str, tuple[int, int, int]], kernel: str) -> bool:
    return not {plain_name(kernel).replace(" ", ""), function_name(kernel)} & launched.keys()


def launched_cluster(file: PtxFile, kernel: str) -> tuple[int, int, int] | None:
    """The cluster that the launches of a file name, unless the kernel names its own."""
    from fencepost.hosts.ptx.launches.launch_sites import cluster_of_launches

    head = re.search(rf"\.entry\s+{re.escape(kernel)}\b[^{{;]*", file.ptx.text)
    if file.cuda is None or (head is not None and ".reqnctapercluster" in head[0]):
        return None
    return cluster_of_launches(file.cuda_text)


def _launched(file: PtxFile) -> dict[str, tuple[int, int, int]]:
    """The blocks of launches in the CUDA file, or in those that the line tables of PTX name."""
    from fencepost.hosts.ptx.launches.launch_sites import launched_blocks

    if file.cuda is not None:
        found = launched_blocks(_defines(file) + file.cuda_text)
        for kernel, there in file.elsewhere.items():
            blocks = launched_blocks(f"{_defines(file)}{there.text}\n{file.cuda_text}")
            found |= {name: each for name, each in blocks.items() if name.partition("<")[0] == kernel}
        return found
    texts = []
    for match in re.finditer(r'^\s*\.file\s+\d+\s+"([^"\n]+\.cuh?)"', file.ptx.text, re.MULTILINE):
        try:
            texts.append(Path(match[1]).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
    return launched_blocks("\n".join(texts))


def _common_launches(file: PtxFile) -> dict[str, Launches]:
    """What the launches of a CUDA file say beside the block; nothing if the user has said something."""
    from fencepost.hosts.ptx.launches.launch_sites import common_launches

    if file.cuda is None or file.asked.params or file.asked.block is not None:
        return {}
    found = common_launches(_defines(file) + file.cuda_text)
    for kernel, there in file.elsewhere.items():
        launches = common_launches(f"{_defines(file)}{there.text}\n{file.cuda_text}")
        found |= {name: each for name, each in launches.items() if name == kernel}
    return found


def _defines(file: PtxFile) -> str:
    """The macros that the user defines, as lines before a CUDA file: of one with two values, it is not known which
    holds."""
    defines = (each.partition("=") for each in file.asked.defines)
    return "".join(f"#define {name} {value or 1}\n" for name, _, value in defines)


def located_errors(file: PtxFile, task: Callable[[], Result]) -> Result:
    """Does something with a file; PTX that cannot be read becomes an error that quotes its line."""
    try:
        return task()
    except PtxError as error:
        raise unread(error, file.ptx) from None
    except FencepostError as error:
        error.source = error.source or file.source
        raise


def unread(error: PtxError, ptx: Source) -> FencepostError:
    """PTX that cannot be read, with the line that is to blame."""
    said = str(error).removeprefix(f"{ptx.name}: ")
    match = re.match(r"line (\d+), column (\d+): ", said)
    if match is None:
        return FencepostError(f"this PTX cannot be read: {said}", code="FP432", source=ptx)
    line = int(match[1])
    text = ptx.line(line)
    column = min(int(match[2]), len(text) + 1)
    span = Span(line, column, line, max(len(text), column) + 1)
    return FencepostError(
        f"this PTX cannot be read: {said[match.end() :]}", [Mark(span)], code="FP432", source=ptx
    )


def _compiled(cuda: Source, how: Compilation) -> Compiled:
    begin_phase("compiling with NVRTC")
    return compile_cuda(cuda, how)


def _ptx_of(cuda: Source, compiled: Compiled) -> Source:
    """The PTX of a CUDA file."""
    return Source(f"{cuda.name} (PTX)", compiled.ptx)


def _wanted(file: str, cuda: str, ptx: Source, wanted: str | None) -> list[str]:
    """The kernels to look at; those of a file, or the one that is named."""
    from fencepost.did_you_mean import close
    from fencepost.hosts.ptx.reading.kernel_names import kernels_in, matches

    every = kernels_in(ptx.text)
    if not every:
        template = re.search(r"template\s*<[^;{}]*__global__", cuda)
        help_ = "name a kernel of a template with its arguments: --kernel 'reduce<256>'"
        if cuda.lstrip().startswith("#if"):
            help_ += ", or define what the file asks for: --define USE_CUDA"
        raise FencepostError(
            "there is no kernel in this file",
            code="FP102",
            source=Source(file, ""),
            notes=[
                ("help", help_ if template else "a kernel is a function that says __global__ (.entry in PTX)")
            ],
        )
    if wanted is None:
        return list(every)
    found = [each for each in every if matches(each, wanted)]
    if not found:
        names = [plain_name(each) for each in every]
        notes = [("help", f"did you mean `{each}`?") for each in close(wanted, names)]
        raise FencepostError(
            f"there is no kernel {wanted} in {file}",
            code="FP104",
            notes=notes or [("help", f"there is {', '.join(names)}")],
        )
    return found
