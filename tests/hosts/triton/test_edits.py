"""Edits change what they name and nothing else."""

from __future__ import annotations

import pytest

from fencepost.hosts.triton.mlir import Module, Operation, read_module
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.text_edits import (
    Edit,
    InsertBarrier,
    Remove,
    SetAttribute,
    apply_edits,
)
from fencepost.ir.source import FencepostError

BARRIER = installed_release().barrier

TEXT = """#loc = loc("k.py":1:1)
"builtin.module"() ({
  "tt.func"() <{sym_name = "f"}> ({
    %0 = "test.make"() : () -> i1 loc(#loc)
    "scf.if"(%0) ({
      "test.inner"() {a = 1 : i32, "b-c" = [1, 2]} : () -> () loc("x"(#loc))
      "scf.yield"() : () -> ()
    }, {
    }) : (i1) -> () loc(#loc)
    "tt.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"""


@pytest.fixture
def module() -> Module:
    return read_module(TEXT)


def named(module: Module, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


def difference(module: Module, edits: list[Edit]) -> tuple[list[str], list[str]]:
    """The lines that were there before only, and those that are there afterwards only."""
    before, after = module.text.split("\n"), apply_edits(module, edits).split("\n")
    read_module("\n".join(after))
    return [line for line in before if line not in after], [line for line in after if line not in before]


def test_no_edits_no_change(module: Module) -> None:
    assert apply_edits(module, []) == TEXT


def test_a_barrier_stands_before_its_operation_at_the_same_location(module: Module) -> None:
    text = apply_edits(module, [InsertBarrier(named(module, "test.inner"))])
    lines = text.split("\n")
    number = next(number for number, line in enumerate(lines) if "test.inner" in line)
    assert lines[number - 1] == f'      {BARRIER} loc("x"(#loc))'
    assert "\n".join(lines[: number - 1] + lines[number:]) == TEXT


def test_a_barrier_before_an_operation_with_regions(module: Module) -> None:
    assert difference(module, [InsertBarrier(named(module, "scf.if"))]) == (
        [],
        [f"    {BARRIER} loc(#loc)"],
    )


def test_insertions_at_one_place_keep_their_order(module: Module) -> None:
    target = named(module, "tt.return")
    edits: list[Edit] = [InsertBarrier(target, f'"test.n{number}"() : () -> ()') for number in range(3)]
    _, new = difference(module, edits)
    assert [line.strip() for line in new] == [f'"test.n{number}"() : () -> ()' for number in range(3)]


def test_an_operation_that_shares_its_line() -> None:
    module = read_module('"builtin.module"() ({ "a"() : () -> () "b"() : () -> () }) : () -> ()')
    text = apply_edits(
        module, [Remove(named(module, "a")), InsertBarrier(named(module, "b"), '"c"() : () -> ()')]
    )
    assert [op.name for op in read_module(text).walk()] == ["builtin.module", "c", "b"]


def test_a_removed_operation_takes_its_line_along(module: Module) -> None:
    line = '      "test.inner"() {a = 1 : i32, "b-c" = [1, 2]} : () -> () loc("x"(#loc))'
    assert apply_edits(module, [Remove(named(module, "test.inner"))]) == TEXT.replace(line + "\n", "")


def test_one_operation_replaced_by_another(module: Module) -> None:
    inner = named(module, "test.inner")
    old, new = difference(module, [Remove(inner), InsertBarrier(inner)])
    assert (len(old), new) == (1, [f'      {BARRIER} loc("x"(#loc))'])


def test_edits_inside_of_what_is_removed_do_nothing(module: Module) -> None:
    inner, branch = named(module, "test.inner"), named(module, "scf.if")
    edits: list[Edit] = [
        InsertBarrier(inner),
        Remove(inner),
        SetAttribute(inner, "z", "unit"),
        Remove(branch),
    ]
    old, new = difference(module, edits)
    assert (len(old), new) == (5, [])


def test_a_value_that_is_used_stays(module: Module) -> None:
    with pytest.raises(FencepostError, match="%0 is used here") as error:
        apply_edits(module, [Remove(named(module, "test.make"))])
    assert error.value.code == "FP407"
    assert error.value.marks[0].span is not None
    assert error.value.marks[0].span.line == 5


def test_it_may_go_together_with_its_users(module: Module) -> None:
    removed = apply_edits(module, [Remove(named(module, "test.make")), Remove(named(module, "scf.if"))])
    names = [op.name for op in read_module(removed).walk()]
    assert names == ["builtin.module", "tt.func", "tt.return"]


def test_a_block_keeps_its_end(module: Module) -> None:
    with pytest.raises(FencepostError, match="last operation of a block"):
        apply_edits(module, [Remove(named(module, "scf.yield"))])


def test_operations_of_another_module_are_a_mistake(module: Module) -> None:
    with pytest.raises(ValueError, match="not an operation inside"):
        apply_edits(module, [InsertBarrier(named(read_module(TEXT), "scf.if"))])
    with pytest.raises(ValueError, match="not an operation inside"):
        apply_edits(module, [InsertBarrier(module.operation)])


@pytest.mark.parametrize(
    "name,edits,expected",
    [
        ("test.make", [("x.y", "true", False)], '"test.make"() {"x.y" = true} : () -> i1'),
        ("test.make", [("p", "unit", True)], '"test.make"() <{"p"}> : () -> i1'),
        ("test.make", [("a", None, False)], '"test.make"() : () -> i1'),
        ("test.inner", [("a", "2 : i32", False)], '{"b-c" = [1, 2], "a" = 2 : i32} : ()'),
        ("test.inner", [("b-c", None, False), ("d", "unit", False)], '{a = 1 : i32, "d"} : ()'),
        ("test.inner", [("a", None, False), ("b-c", None, False)], '"test.inner"()  : ()'),
        ("scf.if", [("p", "1 : i32", True)], '"scf.if"(%0) <{"p" = 1 : i32}> ({'),
        ("scf.if", [("a", "1 : i32", False)], '}) {"a" = 1 : i32} : (i1) -> ()'),
        ("tt.func", [("sym_name", '"g"', True)], '"tt.func"() <{"sym_name" = "g"}> ({'),
    ],
)
def test_attributes(
    module: Module, name: str, edits: list[tuple[str, str | None, bool]], expected: str
) -> None:
    operation = named(module, name)
    text = apply_edits(
        module, [SetAttribute(operation, key, value, inherent) for key, value, inherent in edits]
    )
    assert expected in text
    after = named(read_module(text), name)
    for key, value, _ in edits:
        assert (key in after.attributes) == (value is not None)
    kept = {
        key: value for key, value in operation.attributes.items() if key not in {edit[0] for edit in edits}
    }
    assert {key: after.attributes[key] for key in kept} == kept
