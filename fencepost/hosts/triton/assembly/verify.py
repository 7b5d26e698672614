"""The assembly of a module, judged: every function of it against what was asked for."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.gc_pause import collection_paused
from fencepost.hosts.amdgcn.instructions import steps_of
from fencepost.hosts.amdgcn.outstanding import outstanding
from fencepost.hosts.amdgcn.reader import Function, read_assembly
from fencepost.hosts.amdgcn.steps import Meets
from fencepost.hosts.triton.assembly.compare import Finding, compare, early_uses
from fencepost.hosts.triton.assembly.expected import asked_for
from fencepost.hosts.triton.assembly.numbered_locations import MOST, numbered_operations
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.translate import Translation, translations
from fencepost.ir.source import FencepostError
from fencepost.report.words import plural

SHOWN = 5
"""Findings that an error lists."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What there is to say about the assembly of one kernel."""

    kernel: str
    target: str
    findings: tuple[Finding, ...] = ()
    barriers: int = 0
    waits: int = 0
    not_compared: str = ""
    """Why nothing is said but about registers."""

    def __str__(self) -> str:
        head = f"@{self.kernel} ({self.target})"
        if self.findings:
            lines = [f"{head}: the assembly is not what was asked for"]
            lines += [f"  {finding}" for finding in self.findings[:SHOWN]]
            if len(self.findings) > SHOWN:
                lines.append(f"  and {len(self.findings) - SHOWN} more")
            return "\n".join(lines)
        if self.not_compared:
            return f"{head}: its assembly was not compared: {self.not_compared}"
        counts = f"{plural(self.barriers, 'barrier')} and {plural(self.waits, 'wait')}"
        return f"{head}: {counts} in the assembly, as they were asked for"


def verify_assembly(module: Module, assembly: str) -> Verdict:
    """Compare the assembly of a module with it; its operations are numbered (`numbered_locations.with_numbers`).

    Registers are followed in any case: what may be in them does not depend on the module.
    """
    with collection_paused():
        functions = read_assembly(assembly)
        kernel = next((each for each in functions if each.is_kernel), functions[0])
        kernels = translations(module)
        reason = _not_compared(module, kernels, functions)
        of = {each.function.string("sym_name"): each for each in kernels}
        findings: list[Finding] = []
        barriers = waits = 0
        for function in functions:
            made = steps_of(function)
            steps = {step.line: step for block in made.blocks for step in block}.values()
            barriers += sum(step.meets in (Meets.WHOLE, Meets.LEAVES) for step in steps)
            waits += sum(bool(step.waits) for step in steps)
            if reason:
                findings += early_uses(outstanding(made))
            else:
                findings += compare(made, asked_for(of[function.name]))
    return Verdict(kernel.name, kernel.target, tuple(findings), barriers, waits, reason)


def refuse_wrong_assembly(verdict: Verdict) -> None:
    """FP441 for assembly that is not what was asked for."""
    if verdict.findings:
        raise FencepostError(str(verdict), code="FP441")


def _not_compared(module: Module, kernels: list[Translation], functions: list[Function]) -> str:
    """What keeps a module from being compared; empty if nothing does."""
    beyond = sorted({what for each in kernels for what in each.not_judged})
    if beyond:
        return f"it uses {', '.join(beyond)}"
    if any(each.part is not None for each in kernels):
        return "it has partitions, whose waves meet at barriers of their own"
    if len(numbered_operations(module)) > MOST:
        return f"it has more than {MOST} operations"
    names = {each.function.string("sym_name") for each in kernels}
    unknown = [each.name for each in functions if each.name not in names]
    return f"the module has no function {unknown[0]}" if unknown else ""
