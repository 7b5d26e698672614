"""Judge one entry: a kernel in text form, a Triton module, or a kernel of Triton's cache, as it gets compiled."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fencepost.audit.entries import Work
from fencepost.audit.records import NOT_JUDGED, KernelRecord, Record, verdict_of
from fencepost.hosts.common.audits import HANGS, barrier_runs
from fencepost.hosts.kernel_files import is_cuda, is_ptx, is_triton
from fencepost.ir.source import FencepostError, Source

if TYPE_CHECKING:
    from fencepost.hosts.ptx.judged_kernel import JudgedPtx
    from fencepost.hosts.triton.audit import Audit
    from fencepost.ir.trace import CapturedTrace


def judge(work: Work) -> Record:
    """What is found. Whatever goes wrong is a verdict, too: one entry must not stop the others."""
    began = time.perf_counter()
    try:
        kernels = _kernels(work)
        verdict, reason = verdict_of(kernels) if kernels else (NOT_JUDGED, "there is no kernel in it")
    except FencepostError as error:
        kernels, verdict, reason = [], NOT_JUDGED, f"{error.code}: {error.message}"
    except Exception as error:
        kernels, verdict, reason = [], NOT_JUDGED, f"{type(error).__name__}: {error}".strip()
    seconds = round(time.perf_counter() - began, 3)
    return Record(work.path, work.digest, verdict, reason, tuple(kernels), seconds)


def _kernels(work: Work) -> list[KernelRecord]:
    if is_triton(work.path, work.text):
        return _triton(work)
    if is_ptx(work.path, work.text) or is_cuda(work.path, work.text):
        return _threads(work)
    return _own(work)


def _threads(work: Work) -> list[KernelRecord]:
    """The kernels of a CUDA or PTX file, for every launch that it allows."""
    from fencepost.hosts.ptx.files import UserOptions, judgements, read_file

    found = []
    for each in judgements(read_file(work.path, Source(work.path, work.text), UserOptions())):
        if isinstance(each, FencepostError):
            raise each
        found.append(_thread_kernel(each))
    return found


def _thread_kernel(judged: JudgedPtx) -> KernelRecord:
    from fencepost.hosts.ptx.report.shown_findings import finding_diagnostics, reason_lines

    shown = [each for each in finding_diagnostics(judged) if each.severity == "error"]
    record = KernelRecord(
        judged.name, "", judged.verdict.barriers, 0.0, not_pruned="`fencepost prune` looks for them"
    )
    undecided = judged.verdict.verdict == "undecided"
    reasons = (
        tuple(reason_lines(judged)) if undecided else () if judged.proven else (judged.verdict.holds_for,)
    )
    return _with_findings(record, shown, reasons)


def _own(work: Work) -> list[KernelRecord]:
    """The kernels of a file in text form."""
    from fencepost.ir.parser import parse_all

    return [_own_kernel(trace) for trace in parse_all(work.text, Path(work.path).name)]


def _own_kernel(trace: CapturedTrace) -> KernelRecord:
    from fencepost.passes.prune import prune_barriers
    from fencepost.report.findings import diagnostics
    from fencepost.report.heeded_comments import check_heeding_comments

    report = check_heeding_comments(trace)
    runs = barrier_runs(trace)
    record = KernelRecord(trace.name, "", len(runs), sum(runs))
    record = _with_findings(record, diagnostics(trace, report), tuple(report.explored.limits))
    try:
        removed = prune_barriers(trace).removed
    except FencepostError as error:
        return replace(record, not_pruned=f"{error.code}: {error.message}")
    lines = (op.span.line for op in removed if op.span is not None)
    return replace(record, redundant=tuple(f"line {line}" for line in lines))


def _triton(work: Work) -> list[KernelRecord]:
    """The kernel of a module, behind membar: from there if it is, else lowered by Triton as its metadata says."""
    from fencepost.hosts.triton.audit import audit
    from fencepost.hosts.triton.compile_here import as_compiled
    from fencepost.hosts.triton.versions import require_same_release, require_triton

    require_triton()
    require_same_release(work.metadata.get("triton_version"))
    module = as_compiled(Source(work.path, work.text), work.metadata)
    if module is None:
        name = str(work.metadata.get("name") or Path(work.path).stem)
        return [KernelRecord(name, _target(work.metadata), 0, 0.0)]
    return [record_of(audit(module))]


def _target(metadata: dict[str, Any]) -> str:
    from fencepost.hosts.triton.translate import target_name

    target = metadata.get("target")
    return target_name(target.get("backend", ""), target.get("arch")) if isinstance(target, dict) else ""


def record_of(found: Audit) -> KernelRecord:
    """What an audit of a compiler's kernel says."""
    record = KernelRecord(
        found.kernel, found.target, found.barriers, found.executed, found.redundant, not_judged=found.beyond
    )
    return _with_findings(record, found.races, found.limits)


def _with_findings(record: KernelRecord, found: Any, not_proven: tuple[str, ...]) -> KernelRecord:
    races = tuple(_line(each) for each in found if each.code not in HANGS)
    hangs = tuple(_line(each) for each in found if each.code in HANGS)
    return replace(record, races=races, deadlocks=hangs, not_proven=not_proven)


def _line(finding: Any) -> str:
    """A finding in one line: its code, what it is, and where."""
    span = next((mark.span for mark in finding.marks if mark.span is not None), None)
    where = f" (line {span.line})" if span is not None else ""
    return f"{finding.code}: {finding.title}{where}"
