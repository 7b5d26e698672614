"""What `check` found, in each of the forms that it can print: one class for each `--format`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fencepost.commands.output import error_json, print_error, print_json, print_styled

if TYPE_CHECKING:
    from fencepost.check import Report
    from fencepost.hosts.kernel_files import Kernels
    from fencepost.hosts.ptx.judged_kernel import JudgedPtx
    from fencepost.ir.source import FencepostError
    from fencepost.ir.trace import CapturedTrace
    from fencepost.report.diagnostics import Diagnostic
    from fencepost.report.located import Located
    from fencepost.report.silencing import Silenced


@dataclass(slots=True)
class Judged:
    """A kernel of a file, and what was found in it."""

    file: str
    kernels: Kernels
    kernel: CapturedTrace
    report: Report
    silenced: Silenced = field(default_factory=dict)
    """What is no longer in the report, by the comments that allow it."""


@dataclass(slots=True)
class TextOutput:
    """For people: every cause with its lines underlined, then a verdict on each kernel."""

    options: argparse.Namespace
    files: int = 0
    judged: int = 0
    failed: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    """What was found, by its name."""
    unproven: int = 0
    said: str = ""

    def add(self, found: Judged) -> None:
        """Print what was found in a kernel."""
        self.count(found.report)
        if self.show(found):
            self.said = found.kernels.judged

    def add_ptx(self, found: JudgedPtx) -> None:
        """Print what was found in a kernel that is judged thread by thread."""
        from fencepost.hosts.ptx.report.shown_findings import conclusion, distinct, kind_of, reason_lines

        self.judged += 1
        self.unproven += not found.errors and not found.proven
        for each in (each for each in distinct(found) if each.severity == "error"):
            name = kind_of(each)
            self.counts[name] = self.counts.get(name, 0) + 1
        self.show_ptx(found)
        if self.options.quiet and found.proven:
            return
        sys.stdout.write(f"{found.file}: {found.name}: {conclusion(found)}\n")
        for line in reason_lines(found):
            sys.stdout.write(f"  {line}\n")

    def show_ptx(self, found: JudgedPtx) -> None:
        """Print each finding with both of its lines."""
        from fencepost.hosts.ptx.report.shown_findings import finding_diagnostics
        from fencepost.report.diagnostics import render
        from fencepost.report.findings import MOST_SHOWN

        options = self.options
        every = finding_diagnostics(found, every=options.all)
        most = MOST_SHOWN if options.max_findings is None else options.max_findings or len(every)
        shown = every if options.all else every[:most]
        for diagnostic in shown:
            print_styled(render(diagnostic))
            sys.stdout.write("\n")
        if left := len(every) - len(shown):
            more = f"{left} more not shown (--max-findings 0 shows all)"
            sys.stdout.write(f"{found.file}: {found.name}: {more}\n")

    def show(self, found: Judged) -> bool:
        """Print it; whether there was anything to print."""
        from fencepost.report.diagnostics import render
        from fencepost.report.findings import MOST_SHOWN, diagnostics, grouped, not_shown

        options = self.options
        most = MOST_SHOWN if options.max_findings is None else options.max_findings
        kernel, report = found.kernel, found.report
        shown, left = (diagnostics(kernel, report), 0) if options.all else grouped(kernel, report, most)
        for diagnostic in shown:
            print_styled(render(diagnostic))
            sys.stdout.write("\n")
        if left:
            sys.stdout.write(
                f"{found.file}: @{kernel.name}: {not_shown(left)} (--max-findings 0 shows all)\n"
            )
        return self.conclude(found)

    def conclude(self, found: Judged) -> bool:
        """Print the verdict; nothing about what is proven to be clean, if nobody wants to hear of it."""
        from fencepost.report.allow_comments import silenced_lines
        from fencepost.report.findings import verdict

        for line in silenced_lines(found.silenced):
            sys.stdout.write(f"{line}\n")
        if self.options.quiet and found.report.proven:
            return False
        text = f"{verdict(found.report)} ({found.report.explored})"
        sys.stdout.write(f"{found.file}: @{found.kernel.name}: {text}\n")
        return True

    def count(self, report: Report) -> None:
        """For the summary."""
        from fencepost.report.findings import numbers_of

        self.judged += 1
        self.unproven += report.ok and not report.proven
        for name, number in numbers_of(report).items():
            self.counts[name] = self.counts.get(name, 0) + number

    def refuse(self, file: str, error: FencepostError) -> None:
        """Say why a file could not be judged."""
        self.failed += 1
        print_error(error)

    def end_file(self, file: str, warnings: Sequence[Diagnostic]) -> None:
        """Say what was judged, where that is not the file as it stands, and what is wrong with its comments."""
        from fencepost.report.diagnostics import render

        self.files += 1
        if self.said:
            sys.stdout.write(f"{file}: {self.said}\n")
        self.said = ""
        for diagnostic in warnings:
            print_styled(render(diagnostic))

    def end(self) -> None:
        """Sum up several files."""
        if self.files > 1 and not (self.options.quiet and self.is_clean()):
            sys.stdout.write(f"{self.summary()}\n")

    def is_clean(self) -> bool:
        """Whether there is nothing to say."""
        return not (any(self.counts.values()) or self.failed or self.unproven)

    def summary(self) -> str:
        """All files in one line."""
        from fencepost.hosts.ptx.report import shown_findings
        from fencepost.report.findings import MANY
        from fencepost.report.words import plural

        many = {**MANY, **shown_findings.MANY}
        found = [plural(number, name, many.get(name, "")) for name, number in self.counts.items() if number]
        parts = [", ".join(found) or "nothing found" if self.unproven else ", ".join(found)]
        parts += [f"{plural(self.unproven, 'kernel')} not proven clean"] if self.unproven else []
        parts += [f"{plural(self.failed, 'file')} could not be judged"] if self.failed else []
        words = "; ".join(part for part in parts if part) or "no race, no deadlock"
        return f"{plural(self.files, 'file')}, {plural(self.judged, 'kernel')}: {words}"


@dataclass(slots=True)
class JsonOutput:
    """For programs: one entry for each kernel, in one document."""

    options: argparse.Namespace
    entries: list[dict[str, Any]] = field(default_factory=list)
    files: int = 0

    def add(self, found: Judged) -> None:
        """Keep an entry."""
        from fencepost.report.allow_comments import silenced_json
        from fencepost.report.findings import report_json

        more = found.kernels.judged_json()
        also = {"silenced": silenced_json(found.silenced)} if found.silenced else {}
        self.entries.append({"file": found.file, **more, **report_json(found.kernel, found.report), **also})

    def add_ptx(self, found: JudgedPtx) -> None:
        """Keep an entry."""
        from fencepost.hosts.ptx.report.verdict_json import verdict_json

        self.entries.append({"file": found.file, **verdict_json(found)})

    def refuse(self, file: str, error: FencepostError) -> None:
        """Programs learn of it from the entry, people on standard error."""
        print_error(error)
        self.entries.append({"file": file, "ok": False, "error": error_json(error)})

    def end_file(self, file: str, warnings: Sequence[Diagnostic]) -> None:
        """Count it; warnings of its comments stand in its last entry."""
        from fencepost.report.silencing import warning_json

        self.files += 1
        if warnings:
            self.entries[-1]["warnings"] = [warning_json(diagnostic) for diagnostic in warnings]

    def end(self) -> None:
        """Print the document."""
        print_json(self.entries)


@dataclass(slots=True)
class SarifOutput:
    """For code hosts and editors: one SARIF log, also of files that cannot be judged."""

    options: argparse.Namespace
    found: list[Located] = field(default_factory=list)
    errors: list[Located] = field(default_factory=list)
    unproven: list[Located] = field(default_factory=list)

    def add(self, found: Judged) -> None:
        """Keep what was found."""
        from fencepost.report.located import located, unproven

        kernel, report = found.kernel, found.report
        self.found += located(kernel, report, every=self.options.all, silenced=found.silenced)
        if report.ok and not report.explored.complete:
            self.unproven.append(unproven(found.file, kernel, report))

    def add_ptx(self, found: JudgedPtx) -> None:
        """Keep what was found, and what is not decided."""
        from fencepost.hosts.ptx.report.located_findings import located_findings, located_undecided

        self.found += located_findings(found, every=self.options.all)
        if found.verdict.verdict == "undecided":
            self.unproven.append(located_undecided(found))

    def refuse(self, file: str, error: FencepostError) -> None:
        """Keep why a file could not be judged; people read it on standard error as well."""
        from fencepost.report.located import located_error

        print_error(error)
        self.errors.append(located_error(error, file))

    def end_file(self, file: str, warnings: Sequence[Diagnostic]) -> None:
        """The log comes at the end; it has findings only, and people read warnings on standard error."""
        from fencepost.report.diagnostics import render

        for diagnostic in warnings:
            print_styled(render(diagnostic), to_stderr=True)

    def end(self) -> None:
        """Print the log."""
        from fencepost.report.sarif import sarif_log

        json.dump(sarif_log(self.found, self.errors, self.unproven), sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")


class GithubOutput(TextOutput):
    """For GitHub Actions: an annotation for each cause, and the same verdicts as for people."""

    def show(self, found: Judged) -> bool:
        """Print annotations."""
        from fencepost.report.github_annotations import annotation
        from fencepost.report.located import located, unproven

        kernel, report = found.kernel, found.report
        for each in located(kernel, report, every=self.options.all):
            sys.stdout.write(f"{annotation(each)}\n")
        if report.ok and not report.explored.complete:
            level = "error" if self.options.require_proof else "warning"
            sys.stdout.write(f"{annotation(unproven(found.file, kernel, report), level)}\n")
        return self.conclude(found)

    def show_ptx(self, found: JudgedPtx) -> None:
        """Print annotations."""
        from fencepost.hosts.ptx.report.located_findings import located_findings, located_undecided
        from fencepost.report.github_annotations import annotation

        for each in located_findings(found, every=self.options.all):
            if each.allow is None:
                sys.stdout.write(f"{annotation(each, each.level)}\n")
        if found.verdict.verdict == "undecided":
            level = "error" if self.options.require_proof else "warning"
            sys.stdout.write(f"{annotation(located_undecided(found), level)}\n")

    def refuse(self, file: str, error: FencepostError) -> None:
        """Annotate a file that could not be judged."""
        from fencepost.report.github_annotations import annotation
        from fencepost.report.located import located_error

        super().refuse(file, error)
        sys.stdout.write(f"{annotation(located_error(error, file))}\n")


Output = TextOutput | JsonOutput | SarifOutput | GithubOutput
FORMATS = {"text": TextOutput, "json": JsonOutput, "sarif": SarifOutput, "github": GithubOutput}
