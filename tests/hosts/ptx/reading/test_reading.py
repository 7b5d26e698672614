"""The reader: statements, scopes, lines; and what registers hold."""

from __future__ import annotations

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import show
from fencepost.hosts.ptx.launches.launch import Given, launch_of
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import Address, Immediate, Instruction, Register
from fencepost.hosts.ptx.reading.parse import parse
from tests.hosts.ptx.kernels import kernel


def instructions(body: str) -> list[Instruction]:
    (routine,) = parse(kernel(body)).kernels
    return [each for each in routine.body if isinstance(each, Instruction)][5:-1]


def address_of_last(body: str) -> str:
    """The address of the last access, in closed form."""
    module = parse(kernel(body))
    (routine,) = module.kernels
    flow = Flow(routine)
    evaluator = Evaluator(module, routine, flow, launch_of(routine, Given((256, 1, 1))))
    forms = ClosedForms(evaluator)
    places = [
        (number, at, each)
        for number in flow.order
        for at, each in enumerate(flow.blocks[number].instructions)
        if each.name in ("ld", "st") and "shared" in each.parts
    ]
    number, at, access = max(places, key=lambda place: place[2].line)
    operand = next(each for each in access.operands if isinstance(each, Address))
    return show(forms.closed(evaluator.operand(operand, number, at, 32)))


def test_several_instructions_on_a_line_keep_their_spans() -> None:
    text = kernel("bar.sync 0; bar.sync 0;")
    first, second = instructions("bar.sync 0; bar.sync 0;")
    assert text[slice(*first.span)] == text[slice(*second.span)] == "bar.sync 0;"
    assert first.span != second.span


def test_a_scope_has_registers_of_its_own() -> None:
    first, second = instructions("{ .reg .b32 %r1; mov.u32 %r1, 3; } mov.u32 %r9, %r1;")
    assert isinstance(first.operands[0], Register)
    assert first.operands[0] != second.operands[1]
    assert first.operands[1] == Immediate(3)


def test_inlined_code_names_its_line_and_the_callers() -> None:
    body = """
    .file 1 "k.cu"
    .loc 1 30 5
    .loc 1 20 5, function_name $f, inlined_at 1 30 5
    .loc 1 10 3, function_name $g, inlined_at 1 20 5
    st.shared.u32 [%r5], %r1;"""
    (store,) = instructions(body)
    assert (store.site.source_file, store.site.source_line, store.site.inlined_at) == ("k.cu", 10, (20, 30))


def test_an_address_is_a_sum() -> None:
    assert (
        address_of_last("mad.lo.s32 %r9, %r1, 12, %r4;\n st.shared.u32 [%r9+8], %r1;") == "(12*tid.x + s + 8)"
    )


def test_a_counter_is_a_multiple_of_the_iteration() -> None:
    body = """
    mov.u32 %r9, %r5;
$loop:
    st.shared.u32 [%r9], %r1;
    add.s32 %r9, %r9, 64;
    setp.lt.u32 %p1, %r9, 1024;
    @%p1 bra $loop;"""
    assert address_of_last(body).startswith("(s + 4*tid.x + 64*k")


def test_two_buffers_take_turns() -> None:
    body = """
    mov.u32 %r9, %r5;
    add.s32 %r10, %r5, 512;
    mov.u32 %r12, 0;
$loop:
    st.shared.u32 [%r9], %r1;
    mov.u32 %r11, %r9;
    mov.u32 %r9, %r10;
    mov.u32 %r10, %r11;
    add.s32 %r12, %r12, 1;
    setp.lt.u32 %p1, %r12, %r2;
    @%p1 bra $loop;"""
    assert "512*and(k1, 1)" in address_of_last(body)


def test_a_join_keeps_both_sides() -> None:
    body = """
    mov.u32 %r9, %r5;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra $join;
    add.s32 %r9, %r9, 4;
$join:
    st.shared.u32 [%r9], %r1;"""
    assert "choose(ult(tid.x, 32)" in address_of_last(body)
