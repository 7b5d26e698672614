"""Functions of the same text are written out where they are called; others are known by name, or refused."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.reading.inline_calls import inlined
from fencepost.hosts.ptx.reading.module import Instruction
from fencepost.hosts.ptx.reading.parse import parse

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = """
.visible .entry k(.param .u64 k_param_0)
{{
    .reg .pred %p<9>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<20>;
    .shared .align 4 .b8 s[1024];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    cvt.u64.u32 %rd1, %r2;
    cvta.shared.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
{body}
    ret;
}}
"""
"""%rd2 is the generic address of s, %rd4 that of s[tid.x]."""
CALL = """
    {{
    .param .b64 param0;
    st.param.b64 [param0], {argument};
    .param .b32 retval0;
    call.uni (retval0), {function}, (param0);
    ld.param.b32 %r9, [retval0];
    }}
"""
NEIGHBOUR = """
.func (.param .b32 out) neighbour(.param .b64 pointer)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [pointer];
    mov.u32 %r1, %tid.x;
    xor.b32 %r2, %r1, 64;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.u32 %r3, [%rd3];
    st.param.b32 [out], %r3;
    ret;
}
"""
STORE = "st.u32 [%rd4], %r1;\n"


def judge(functions: str, body: str) -> KernelVerdict:
    (verdict,) = check(HEAD + functions + KERNEL.format(body=body), block=256)
    return verdict


def call(function: str, argument: str = "%rd2") -> str:
    return CALL.format(function=function, argument=argument)


@pytest.mark.parametrize(("barrier", "expected"), [("bar.sync 0;", "proven"), ("", "race")])
def test_a_function_reads_through_a_pointer_to_shared_memory(barrier: str, expected: str) -> None:
    assert judge(NEIGHBOUR, STORE + barrier + call("neighbour")).verdict == expected


@pytest.mark.parametrize(("barrier", "expected"), [("bar.sync 0;", "proven"), ("", "race")])
def test_functions_call_functions(barrier: str, expected: str) -> None:
    outer = """
.func (.param .b32 out) outer(.param .b64 pointer)
{
    .reg .b32 %r<20>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [pointer];
"""
    nested = outer + call("neighbour", "%rd1") + "st.param.b32 [out], %r9;\nret;\n}\n"
    assert judge(NEIGHBOUR + nested, STORE + barrier + call("outer")).verdict == expected


def test_a_barrier_in_a_function_is_one_of_the_kernel() -> None:
    sync = ".func sync()\n{\n bar.sync 0;\n ret;\n}\n"
    verdict = judge(NEIGHBOUR + sync, STORE + "call.uni sync, ();" + call("neighbour"))
    assert (verdict.verdict, verdict.barriers) == ("proven", 1)


def test_a_barrier_in_a_function_that_some_threads_call_diverges() -> None:
    sync = ".func sync()\n{\n bar.sync 0;\n ret;\n}\n"
    body = "setp.lt.u32 %p1, %r1, 40;\n @%p1 call.uni sync, ();\n st.u32 [%rd4], %r1;"
    verdict = judge(sync, body)
    assert verdict.verdict == "race"
    assert {each.code for each in verdict.findings} == {"FP002"}


def test_a_return_in_the_middle_leaves_the_function_only() -> None:
    early = """
.func early(.param .b32 n)
{
    .reg .pred %p1;
    .reg .b32 %r1;
    ld.param.u32 %r1, [n];
    setp.gt.u32 %p1, %r1, 10;
    @%p1 ret;
    nanosleep.u32 20;
    ret;
}
"""
    body = "{ .param .b32 param0; st.param.b32 [param0], %r1; call.uni early, (param0); }\n"
    assert judge(NEIGHBOUR + early, STORE + body + "bar.sync 0;" + call("neighbour")).verdict == "proven"
    assert judge(NEIGHBOUR + early, STORE + body + call("neighbour")).verdict == "race"


def test_two_calls_of_one_function_are_two_results() -> None:
    """What two calls load is not the same value because it is loaded by the same line."""
    load = """
.func (.param .b32 out) load(.param .b64 pointer)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [pointer];
    ld.global.u32 %r3, [%rd1];
    st.param.b32 [out], %r3;
    ret;
}
"""
    body = (
        "ld.param.u64 %rd10, [k_param_0]; add.s64 %rd11, %rd10, 4;"
        + call("load", "%rd10")
        + "mov.u32 %r10, %r9;"
        + call("load", "%rd11")
        # Threads of one half store at the first value, the others at the second.
        + """
    setp.lt.u32 %p1, %r1, 128;
    selp.b32 %r11, %r10, %r9, %p1;
    sub.s32 %r12, %r10, %r9;
    setp.ne.s32 %p2, %r12, 0;
    and.b32 %r11, %r11, 127;
    @!%p2 bra $end;
    mul.wide.u32 %rd12, %r11, 4;
    add.s64 %rd13, %rd2, %rd12;
    st.u32 [%rd13], %r1;
$end:
"""
    )
    assert judge(load, body).verdict != "proven"


def test_arguments_and_results_may_be_registers() -> None:
    twice = ".func (.reg .b32 %out) twice(.reg .b32 %in)\n{\n add.s32 %out, %in, %in;\n ret;\n}\n"
    body = "call.uni (%r9), twice, (%r1);\n mul.wide.u32 %rd5, %r9, 2; add.s64 %rd6, %rd2, %rd5; st.u32 [%rd6], %r1;"
    assert judge(twice, body).verdict == "proven"
    assert judge(twice, body.replace("%r9, 2", "%r9, 1")).verdict == "race"


def test_a_struct_is_passed_by_its_bytes() -> None:
    pick = """
.func (.param .b32 out) pick(.param .align 8 .b8 pair[16])
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [pair+8];
    ld.param.u32 %r1, [pair];
    xor.b32 %r1, %r1, 64;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    ld.u32 %r3, [%rd1];
    st.param.b32 [out], %r3;
    ret;
}
"""
    body = """
    {
    .param .align 8 .b8 param0[16];
    st.param.b32 [param0], %r1;
    st.param.b64 [param0+8], %rd2;
    .param .b32 retval0;
    call.uni (retval0), pick, (param0);
    ld.param.b32 %r9, [retval0];
    }
"""
    assert judge(pick, STORE + "bar.sync 0;" + body).verdict == "proven"
    assert judge(pick, STORE + body).verdict == "race"


def test_a_shared_variable_of_a_function_is_the_same_in_every_call() -> None:
    own = """
.func own()
{
    .reg .b32 %r<5>;
    .shared .align 4 .b8 t[4];
    mov.u32 %r1, %tid.x;
    st.shared.u32 [t], %r1;
    ret;
}
"""
    verdict = judge(own, "call.uni own, ();")
    assert verdict.verdict == "race" and "`t`" in verdict.findings[0].message


OWN = NEIGHBOUR.replace("neighbour", "own").replace("%r1, 64", "%r1, 0")
CHOICE = """
    mov.u64 %rd5, {first};
    mov.u64 %rd6, {second};
    setp.lt.u32 %p1, %r1, 128;
    selp.b64 %rd7, %rd5, %rd6, %p1;
"""
THROUGH = """
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd2;
    .param .b32 retval0;
    proto: .callprototype (.param .b32 _) _ (.param .b64 _);
    call (retval0), %rd7, (param0), proto;
    ld.param.b32 %r9, [retval0];
    }
"""


def chosen(first: str, second: str) -> str:
    """A call of one function by half of the threads, and of another by the others."""
    return CHOICE.format(first=first, second=second) + THROUGH


def test_a_call_through_a_pointer_is_one_of_each_function_it_may_point_to() -> None:
    both = NEIGHBOUR + OWN
    assert judge(both, STORE + chosen("own", "neighbour")).verdict == "race"
    assert judge(both, STORE + chosen("own", "own")).verdict == "proven"
    ordered = STORE + "bar.sync 0;" + chosen("own", "neighbour")
    assert judge(both, ordered).verdict == "proven"


def test_threads_that_call_barriers_through_different_pointers_part() -> None:
    waits = [OWN.replace("own", name).replace("    ret;", "    bar.sync 0;\n    ret;") for name in ("a", "b")]
    found = judge("".join(waits), chosen("a", "b"))
    assert (found.verdict, found.findings[0].code) == ("race", "FP002")


def test_a_pointer_that_is_not_known_is_to_any_function_that_fits() -> None:
    unknown = "ld.param.u64 %rd7, [k_param_0];" + THROUGH
    assert judge(OWN, STORE + unknown).verdict == "proven"
    assert judge(NEIGHBOUR + OWN, STORE + unknown).verdict != "proven"


@pytest.mark.parametrize(
    ("functions", "body", "said"),
    [
        (
            ".func again()\n{\n call.uni again, ();\n ret;\n}\n",
            "call.uni again, ();",
            "a recursive call of `again`",
        ),
        (
            ".func a()\n{\n call.uni b, ();\n ret;\n}\n.func b()\n{\n call.uni a, ();\n ret;\n}\n",
            "call.uni a, ();",
            "a recursive call of `a`",
        ),
        ("", "proto: .callprototype _ ();\n call.uni %rd2, (), proto;", "an indirect call"),
        (".extern .func f();\n", "call.uni f, ();", "a call of `f`, which is not in this PTX, is not judged"),
        (NEIGHBOUR, "call.uni neighbour, ();", "another number of arguments"),
    ],
    ids=["itself", "each other", "by a pointer to nothing", "outside", "arguments"],
)
def test_calls_that_are_not_judged_say_why(functions: str, body: str, said: str) -> None:
    verdict = judge(functions, STORE + body)
    assert verdict.verdict == "undecided" and said in str(verdict.reasons[0])


@pytest.mark.parametrize("name", ["vprintf", "malloc", "__nv_sinf"])
def test_functions_outside_that_are_known_do_no_harm(name: str) -> None:
    extern = f".extern .func (.param .b32 out) {name}(.param .b64 a);\n"
    assert (
        judge(NEIGHBOUR + extern, STORE + call(name, "%rd10") + "bar.sync 0;" + call("neighbour")).verdict
        == "proven"
    )


def test_an_assertion_that_fails_ends_the_thread() -> None:
    fail = ".extern .func __assertfail();\n"
    body = (
        "setp.gt.u32 %p1, %r1, 300;\n @%p1 call.uni __assertfail, ();\n"
        + STORE
        + "bar.sync 0;"
        + call("neighbour")
    )
    assert judge(NEIGHBOUR + fail, body).verdict == "proven"


def test_a_finding_names_the_line_of_the_function_and_those_of_the_calls() -> None:
    text = HEAD + '.file 1 "k.cu"\n' + NEIGHBOUR.replace("    ld.u32", "    .loc 1 7 3\n    ld.u32")
    text += KERNEL.format(body=".loc 1 20 3\n" + STORE + ".loc 1 30 5\n" + call("neighbour"))
    (verdict,) = check(text, block=256)
    site = next(
        each for each in (verdict.findings[0].first, verdict.findings[0].second) if each.source_line == 7
    )
    assert site.inlined_at == (30,)


def test_each_call_has_registers_of_its_own() -> None:
    module = parse(HEAD + NEIGHBOUR + KERNEL.format(body=call("neighbour") + call("neighbour")))
    loads = [
        item.operands[0]
        for item in inlined(module, module.routines["k"]).body
        if isinstance(item, Instruction) and item.parts == ("ld", "u32")
    ]
    assert len(loads) == len(set(loads)) == 2
