"""A CUDA file judged in two builds: as it is compiled, and without optimization, in the order of the source.

The optimizer may move a load behind a barrier and drop stores that nobody reads. A race that it hides so is a race of
the source all the same, and the next compiler may show it. What is found without optimization is therefore an error,
which says that the optimized build does not show it. A proof is for the code as compiled; if the other build is
not decided, a note says so; but a build that all shared accesses were dropped from proves nothing about them. If the
other build alone is proven, so is the source, as a compiler adds no race to a program that has none; unless a run as
compiled has shown one that numbers or data may exclude. Both builds share the time of one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from fencepost.hosts.ptx.checking import check_text
from fencepost.hosts.ptx.compiler.nvrtc import Compilation, compile_cuda
from fencepost.hosts.ptx.launches.launch import Given
from fencepost.hosts.ptx.proof.prove import SECONDS
from fencepost.hosts.ptx.reading.kernel_names import kernels_in
from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict, Reason
from fencepost.ir.source import FencepostError, Source

LEAST_SECONDS = 5.0
"""What the unoptimized build gets in any case."""
SHARE_WITHOUT_NUMBERS, SECONDS_WITH_NUMBERS = 0.3, 8.0
"""Where launches give numbers: the share of the seconds that a proof for all numbers gets, and seconds for these."""
OF_LAUNCH = "the numbers are those of its launch"


@dataclass(frozen=True)
class Builds:
    """The PTX of a CUDA file: as compiled and, if it is wanted and compiles, without optimization."""

    compiled: Source
    unoptimized: Source | None = None
    note: str = ""
    """Why there is no unoptimized build although one is wanted."""

    def judge(self, kernel: str, given: Given) -> list[KernelVerdict]:
        """The verdict on a kernel in both builds."""
        begin = time.process_time()  # The judge has threads of its own.
        found, judged = self._judge_compiled(kernel, given)
        left = max(SECONDS - (time.process_time() - begin), LEAST_SECONDS)
        if self.unoptimized is None:
            return [with_note(each, self.note) for each in found]
        return [self._both(each, judged, given, left) for each in found]

    def _judge_compiled(self, kernel: str, given: Given) -> tuple[list[KernelVerdict], Given]:
        """The verdict on the code as compiled, and the launch that it is for: with the numbers of the launches in
        the file if it is not decided without, or racy with numbers that no launch gives.

        Runs with the numbers of the launches that came to an end and show no race are believed before one that
        made up others."""
        text, name = self.compiled.text, self.compiled.name
        free = replace(given, numbers={})
        share = SHARE_WITHOUT_NUMBERS if given.numbers else 1.0
        found = check_text(text, free, kernel, name, share * SECONDS)
        racy = any(_has_other_numbers(each, given) for each in found)
        if not racy and (not given.numbers or all(each.verdict != "undecided" for each in found)):
            return found, free
        again = check_text(text, given, kernel, name, SECONDS_WITH_NUMBERS)
        if any(each.verdict == "undecided" and (not racy or each.cut_short) for each in again):
            return found, free
        return [_of_launch(each) for each in again], given

    def _both(self, compiled: KernelVerdict, given: Given, launched: Given, seconds: float) -> KernelVerdict:
        """A race of the code as compiled is said alone: the other build has it too."""
        assert self.unoptimized is not None
        if compiled.verdict == "race":
            return compiled
        source = self.unoptimized
        if compiled.kernel not in kernels_in(source.text):
            return with_note(
                compiled, "the order of the source was not judged: it has no name to compile it by"
            )
        (unoptimized,) = check_text(source.text, given, compiled.kernel, source.name, seconds)
        if not _has_other_numbers(unoptimized, launched):
            return together(compiled, unoptimized)
        (again,) = check_text(source.text, launched, compiled.kernel, source.name, SECONDS_WITH_NUMBERS)
        return together(compiled, unoptimized if again.cut_short else _of_launch(again))


def builds_of(compiled: Source, cuda: Source, how: Compilation) -> Builds:
    """The build that there is of a CUDA file, and one without optimization."""
    try:
        ptx = compile_cuda(cuda, replace(how.like(compiled.text), optimized=False)).ptx
    except FencepostError as error:
        # Inline assembly may need constants that only the optimizer finds.
        first = error.message.partition("\n")[0]
        return Builds(compiled, note=f"the order of the source was not judged: without optimization, {first}")
    return Builds(compiled, Source(f"{cuda.name} (PTX, unoptimized)", ptx))


def together(compiled: KernelVerdict, unoptimized: KernelVerdict) -> KernelVerdict:
    """One verdict from that on the code as compiled, which has no race, and that on the unoptimized build."""
    more = "is not decided" if compiled.verdict == "undecided" else "does not show it"
    hidden = tuple(
        replace(each, build=f"unoptimized; the optimized one {more}") for each in unoptimized.findings
    )
    if unoptimized.verdict == "race":
        return replace(compiled, verdict="race", findings=hidden, reasons=())
    if unoptimized.verdict == "undecided":
        if unoptimized.reasons and compiled.reasons[:1] == unoptimized.reasons[:1]:
            return compiled
        if (
            compiled.verdict == "proven"
            and compiled.shared_accesses == 0
            and _are_of_accesses(unoptimized.reasons)
        ):
            dropped = replace(compiled, verdict="undecided", reasons=unoptimized.reasons)
            return with_note(
                dropped, "as compiled, the kernel has no shared accesses: nobody reads what it stores"
            )
        why = f": {unoptimized.reasons[0]}" if unoptimized.reasons else ""
        return with_note(compiled, f"the order of the source was not judged{why}")
    if compiled.verdict == "undecided" and any(each.seen for each in compiled.reasons):
        return with_note(compiled, f"in the order of the source it is proven for {unoptimized.holds_for}")
    if compiled.verdict == "undecided":
        why = f": {compiled.reasons[0]}" if compiled.reasons else ""
        proven = replace(compiled, verdict="proven", reasons=(), holds_for=unoptimized.holds_for)
        proven = replace(proven, findings=hidden, exact=unoptimized.exact)
        return with_note(proven, f"proven in the order of the source; not decided as compiled{why}")
    return replace(compiled, findings=(*compiled.findings, *_new(compiled.findings, hidden)))


def _has_other_numbers(verdict: KernelVerdict, given: Given) -> bool:
    """Whether every race was seen with a number that a run made up where all launches in the file give another.

    In a file that states what launches keep to, numbers may be anything else.
    """
    if verdict.verdict != "race" or given.any_input:
        return False
    numbers = {f"{verdict.kernel}_param_{at}": value for at, value in given.numbers.items()}
    return all(
        any(name in each.chosen and each.values[name] != value for name, value in numbers.items())
        for each in verdict.findings
        if each.severity == "error"
    )


def _of_launch(verdict: KernelVerdict) -> KernelVerdict:
    """A verdict with the numbers of the launches in the file."""
    return replace(verdict, holds_for=f"{verdict.holds_for}; {OF_LAUNCH}")


def _are_of_accesses(reasons: tuple[Reason, ...]) -> bool:
    """Whether it is accesses that are not decided."""
    names = [each.site.instruction for each in reasons if each.site is not None]
    return any(name.partition(".")[0] in ("st", "ld", "atom", "red") for name in names)


def _new(known: tuple[Finding, ...], hidden: tuple[Finding, ...]) -> list[Finding]:
    """Warnings that the code as compiled does not have at the same lines."""
    lines = {_lines(each) for each in known}
    return [each for each in hidden if _lines(each) not in lines]


def _lines(finding: Finding) -> frozenset[object]:
    return frozenset(str(site) for site in (finding.first, finding.second))


def with_note(verdict: KernelVerdict, note: str) -> KernelVerdict:
    """The verdict with something to add."""
    return replace(verdict, notes=(*verdict.notes, note)) if note else verdict
