"""Every operation of the table in a right form, which is clean, and in wrong ones, which are found (`forms`).

An operation that touches shared memory or orders anything has to have both. And it has to matter: without what it is
translated to, one of the verdicts would be another.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from fencepost.check import check
from fencepost.hosts.triton.joint_kernel import judged
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.shared_memory_effects import TABLE, Does
from fencepost.hosts.triton.translate import Translation, translations
from fencepost.ir.differing_names import BRANCHES
from fencepost.ir.source import FencepostError, Source
from fencepost.ir.trace import CapturedTrace
from tests.hosts.triton.forms import Forms, files, read

FORMS = [read(path) for path in files()]
EACH = [(path.stem, form) for path, forms in zip(files(), FORMS, strict=True) for form in forms.expected]
ELSEWHERE = (Does.NOTHING, Does.NOT_JUDGED, Does.BRANCHES)
"""What touches and orders nothing by itself, or is never judged."""
HANDLED = [name for name, row in TABLE.items() if row.does not in ELSEWHERE]
NOT_JUDGED = [name for name, row in TABLE.items() if row.does is Does.NOT_JUDGED]
PLACES = (Does.VIEWS, Does.CALLS)
"""What is told by the bytes that others touch, or by what is called."""


@cache
def modules() -> dict[tuple[str, str], Module]:
    """All forms of all files, parsed by one start of Triton."""
    texts = [text for forms in FORMS for text in forms.texts.values()]
    trees = read_sources(
        [Source(f"{name}.{form}", text) for (name, form), text in zip(EACH, texts, strict=True)]
    )
    return dict(zip(EACH, trees, strict=True))


def expected(name: str, form: str) -> frozenset[str]:
    return next(forms.expected[form] for path, forms in zip(files(), FORMS, strict=True) if path.stem == name)


def findings(traces: list[CapturedTrace]) -> set[str]:
    """The kinds of what is found."""
    reports = [check(trace) for trace in traces]
    races = {f"{race.kind} {race.hazard}" for report in reports for race in report.races}
    return races | {each.kind for report in reports for each in report.deadlocks}


def translated(name: str, form: str) -> list[Translation]:
    return translations(modules()[name, form])


@pytest.mark.parametrize(("name", "form"), EACH)
def test_what_is_found_is_what_is_wrong(name: str, form: str) -> None:
    found = translated(name, form)
    if expected(name, form) == {"not judged"}:
        with pytest.raises(FencepostError, match=name.partition("-")[0]) as error:
            judged(found)
        assert error.value.code == "FP408"
    else:
        assert findings(judged(found)) == expected(name, form)


def of(operation: str) -> list[tuple[str, Forms]]:
    """The files of an operation."""
    both = [(path.stem, forms) for path, forms in zip(files(), FORMS, strict=True)]
    return [(name, forms) for name, forms in both if forms.operation == operation]


@pytest.mark.parametrize("operation", HANDLED)
def test_every_operation_has_a_right_form_and_a_wrong_one(operation: str) -> None:
    expectations = [found for _, forms in of(operation) for found in forms.expected.values()]
    assert frozenset() in expectations, "no right form"
    assert any(found - {"not judged"} for found in expectations), "no wrong form"


@pytest.mark.parametrize(("name", "form"), EACH)
def test_the_forms_are_about_operations_of_the_table(name: str, form: str) -> None:
    assert name.partition("-")[0] in HANDLED
    used = {op.name for op in modules()[name, form].walk()}
    if form in ("RIGHT", "REFUSED"):
        assert name.partition("-")[0] in used


@pytest.mark.parametrize("operation", [name for name in HANDLED if TABLE[name].does not in PLACES])
def test_every_operation_matters(operation: str) -> None:
    """A wrong form is another one without it, or a right form is wrong."""
    assert any(
        findings(list(without(operation, judged(translated(name, form))))) != found
        for name, forms in of(operation)
        for form, found in forms.expected.items()
        if found != {"not judged"}
    )


def without(operation: str, traces: list[CapturedTrace]) -> Iterator[CapturedTrace]:
    """The kernels without what stands for an operation in them."""
    for trace in traces:
        for op in list(trace.preorder_walk()):
            stands = isinstance(op.host, Operation) and op.host.name == operation
            if stands and op.graph is not None and not isinstance(op, BRANCHES):
                op.graph.remove(op)
        yield trace


@pytest.mark.parametrize("operation", NOT_JUDGED)
def test_what_is_not_judged_is_named(operation: str) -> None:
    text = f"""
"builtin.module"() ({{
  "tt.func"() <{{function_type = () -> (), sym_name = "kernel"}}> ({{
    "{operation}"() : () -> ()
    "tt.return"() : () -> ()
  }}) : () -> ()
}}) {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"}} : () -> ()
"""
    with pytest.raises(FencepostError, match=operation) as error:
        judged(translations(read_module(text, "kernel.mlir")))
    assert error.value.code == "FP408"
