"""Nonsense in, a helpful word out: never a traceback, never a changed file.

Whatever is wrong with a kernel ends in exit code 2, a message on standard error that names file, line and
column and underlines the mistake, and nothing on standard output.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.ir.parser import parse
from fencepost.ir.source import FencepostError
from tests.commands.called import (
    CLEAN,
    COMMANDS,
    Mistake,
    assert_explained,
    assert_refused,
    body,
    fencepost,
    kernel,
    message_of,
    underlined,
)

MISTAKES = {
    # The kernel itself.
    "no kernel": Mistake("hello\n", "FP101", "a file holds kernels", 1, "hello"),
    "no name": Mistake("kernel k waves=4 {\n}\n", "FP101", "a kernel name such as @gemm", 1, "k"),
    "no waves": Mistake("kernel @k {\n}\n", "FP101", "expected: 'waves'", 1, "{"),
    "zero waves": Mistake("kernel @k waves=0 {\n}\n", "FP100", "a workgroup has 1 to 64", 1, "0"),
    "65 waves": Mistake("kernel @k waves=65 {\n}\n", "FP100", "a workgroup has 1 to 64", 1, "65"),
    "negative waves": Mistake("kernel @k waves=-1 {\n}\n", "FP101", "a number", 1, "-"),
    "waves in words": Mistake("kernel @k waves=four {\n}\n", "FP101", "a number", 1, "four"),
    "very many waves": Mistake(f"kernel @k waves={'9' * 30} {{\n}}\n", "FP100", "too large", 1, "9" * 30),
    "on one line": Mistake("kernel @k waves=4 { }\n", "FP101", "the end of the line", 1, "}"),
    "one brace too many": Mistake(CLEAN + "}\n", "FP101", "closed already", 7, "}"),
    "no closing brace": Mistake(CLEAN[:-2], "FP101", "has no `}`", 1, "kernel @k waves=4 {"),
    "text behind the brace": Mistake(CLEAN[:-1] + " x\n", "FP101", "unexpected 'x'", 6, "x"),
    "kernels on one line": Mistake(CLEAN[:-1] + CLEAN, "FP101", "the end of the line", 6, "kernel"),
    "two kernels of one name": Mistake(
        CLEAN + CLEAN, "FP102", "a second kernel is called @k", 7, "kernel @k waves=4"
    ),
    # Buffers.
    "no bytes": Mistake("kernel @k waves=4 {\n  shared %c : 0\n}", "FP100", "at least one byte", 2, "0"),
    "no slots": Mistake("kernel @k waves=4 {\n  shared %c : 0 x 8\n}", "FP100", "one slot", 2, "0"),
    "negative bytes": Mistake("kernel @k waves=4 {\n  shared %c : -8\n}", "FP101", "a number", 2, "-"),
    "negative address": Mistake("kernel @k waves=4 {\n  shared %c : 8 at -1\n}", "FP101", "a number", 2, "-"),
    "more than a terabyte": Mistake(
        "kernel @k waves=4 {\n  shared %c : 999999999999 x 8\n}",
        "FP100",
        "terabyte",
        2,
        "shared %c : 999999999999 x 8",
    ),
    "a buffer without sign": Mistake("kernel @k waves=4 {\n  shared c : 8\n}", "FP101", "%c", 2, "c"),
    "a buffer twice": Mistake(
        "kernel @k waves=4 {\n  shared %c : 8\n  shared %c : 8\n}", "FP104", "already taken", 3, "%c"
    ),
    "a buffer too late": Mistake(
        kernel("read %a", "shared %c : 8"), "FP101", "before its first statement", 5, "shared"
    ),
    # Words.
    "misspelled": body("reed %a", "FP101", "did you mean `read`?", "reed"),
    "plural": body("barriers", "FP101", "did you mean `barrier`?", "barriers"),
    "capital": body("Barrier", "FP101", "did you mean `barrier`?", "Barrier"),
    "nothing like it": body("frobnicate %a", "FP101", "a statement begins with", "frobnicate"),
    "no sign before the name": body("read a", "FP101", "begin with %: %a", "a"),
    "no sign between a counter and its number": body("wait_count load 2", "FP101", "`load=2`", "load"),
    "no sign before a value": body("mma x", "FP101", "begin with %: %x", "x"),
    "no sign before a result": body("x = read %a", "FP101", "begin with %: %x", "x"),
    "no sign before a block": body("br exit", "FP101", "begin with ^: ^exit", "exit"),
    "two statements": body("read %a read %b", "FP101", "a line of its own", "read"),
    "semicolon": body("read %a; read %b", "FP101", "a line of its own", ";"),
    "another comment": body("// hello", "FP101", "comments begin with #", "//"),
    "a string": body('read "a"', "FP101", "unexpected character '\"'", '"'),
    "a look-alike": body("read\u00a0%a", "FP101", "NO-BREAK SPACE", "\u00a0"),
    "a long dash": body("read %a[1 – 1]", "FP101", "EN DASH", "–"),
    "a control character": body("read \x00%a", "FP101", "U+0000", "·"),
    # Names.
    "undefined buffer": body("read %z", "FP104", "there is no buffer %z", "%z"),
    "undefined buffer with slot": body("read %z[0]", "FP104", "buffers: %a, %b", "%z[0]"),
    "undefined value": body("mma %z", "FP104", "there is no value %z", "%z"),
    "undefined second value": body("write %a, %z", "FP104", "there is no value %z", "%z"),
    "a value named like a buffer": body("%a = read %b", "FP104", "the name %a is already taken", "%a"),
    "a loop named like a buffer": body("loop %a in 0..2 {", "FP104", "already taken", "%a", "}"),
    "a value as a buffer": Mistake(
        kernel("%x = compute", "read %x"), "FP104", "%x is a value; a buffer is wanted here", 5, "%x"
    ),
    "a value with a slot": Mistake(
        kernel("%x = compute", "mma %x[0]"), "FP104", "%x is a value; a buffer is wanted here", 5, "%x[0]"
    ),
    "a buffer as a value": body("mma %a", "FP104", "%a is a buffer; a value is wanted here", "%a"),
    "a buffer with slot as a value": body("mma %a[0]", "FP104", "%a is a buffer; a value", "%a[0]"),
    "a loop variable as a value": Mistake(
        kernel("loop %i in 0..2 {", "mma %i", "}"), "FP104", "%i is a loop variable; a value", 5, "%i"
    ),
    "a loop variable as a buffer": Mistake(
        kernel("loop %i in 0..2 {", "read %i", "}"), "FP104", "%i is a loop variable; a buffer", 5, "%i"
    ),
    "a loop variable as a condition": Mistake(
        kernel("loop %i in 0..2 {", "if %i {", "}", "}"), "FP104", "compare it: `%i == 0`", 5, "if %i"
    ),
    "a buffer as a condition": body("if %a {", "FP104", "%a is a buffer", "if %a", "}"),
    "a loop variable outside": Mistake(
        kernel("loop %i in 0..2 {", "}", "read %a[%i]"), "FP104", "not the variable of a loop", 6, "%a[%i]"
    ),
    "a value as an index": Mistake(
        kernel("%x = compute", "read %a[%x]"), "FP104", "%x is a value; a number is wanted", 5, "%a[%x]"
    ),
    # Operands and attributes.
    "no operand": body("read", "FP105", "read takes at least one buffer", "read"),
    "no operand for a copy": body(
        "tensor_load_to_lds", "FP105", "takes at least one buffer", "tensor_load_to_lds"
    ),
    "two buffers": body("gather_to_lds %a, %b", "FP105", "gather_to_lds takes one buffer", "gather_to_lds %a, %b"),
    "no such attribute": body("read %a color=red", "FP105", "no attribute 'color'", "color"),
    "no counter": body("read %a counter=x", "FP105", "read has no attribute 'counter'", "counter"),
    "attribute twice": body("read %a group=x group=y", "FP105", "'group' twice", "group"),
    "attribute without value": body("read %a group=", "FP101", "unexpected end of line", " "),
    "attribute of an mma": body("mma group=x", "FP105", "mma has no attribute 'group'", "group"),
    "group of an exchange": body("exchange %a group=x", "FP105", "no attribute 'group'", "group"),
    "a barrier with a value": body("%x = barrier", "FP101", "barrier yields no value", "barrier"),
    "misspelled behind a value": body("%x = reed %a", "FP101", "did you mean `read`?", "reed"),
    "a comma at the end": body("write %a,", "FP101", "a name such as %a", " "),
    "counter twice": body("wait_count load=1 load=2", "FP105", "'load' twice", "load"),
    "no counter to wait for": body("wait_count", "FP105", "wait_count load=0", "wait_count"),
    "negative count": body("wait_count load=-1", "FP101", "a number", "-"),
    "barrier number": body("signal -2", "FP100", "-1 (the workgroup's) and up", "signal -2"),
    "barrier in words": body("wait all", "FP101", "unexpected 'all'", "all"),
    # Views.
    "slot too high": body("read %a[2]", "FP103", "2 slots (numbers 0 to 1)", "%a[2]"),
    "slot computed too high": body("read %a[1 + 1]", "FP103", "slot 2 of %a", "%a[1 + 1]"),
    "slot of one": body("read %b[1]", "FP103", "1 slot (number 0)", "%b[1]"),
    "negative slot": body("read %a[-1]", "FP103", "slot -1", "%a[-1]"),
    "bytes past the slot": body("read %a[0][0..65]", "FP103", "the 64 bytes of %a[0]", "%a[0][0..65]"),
    "bytes past the buffer": body("read %a[0..129]", "FP103", "the 128 bytes of %a", "%a[0..129]"),
    "negative bytes in a view": body("read %a[0][-1..8]", "FP103", "outside", "%a[0][-1..8]"),
    "no bytes in a view": body("read %a[0][8..8]", "FP103", "empty byte range 8..8", "%a[0][8..8]"),
    "bytes the wrong way round": body("read %a[9..8]", "FP103", "empty byte range 9..8", "%a[9..8]"),
    "bytes before the slot": body("read %a[0..8][0]", "FP105", "a view is %a", "%a[0..8][0]"),
    "three subscripts": body("read %a[0][0][0..8]", "FP105", "a view is %a", "%a[0][0][0..8]"),
    "an open bracket": body("read %a[0", "FP101", "an operator, ']' or '..'", " "),
    "an open bracket and a comment": body("read %a[0   # slot", "FP101", "unexpected end of line", " "),
    "empty brackets": body("read %a[]", "FP101", "unexpected ']'", "]"),
    "a fraction": body("read %a[1.5]", "FP101", "unexpected character '.'", "."),
    "hexadecimal": body("read %a[0x1]", "FP101", "unexpected 'x1'", "x1"),
    "one slash": body("read %a[1 / 2]", "FP101", "division is written //", "/"),
    "too many digits": body(f"read %a[{'1' * 19}]", "FP100", "too large", "1" * 19),
    # Loops and conditionals.
    "no step": body("loop %i in 0..8 step 0 {", "FP100", "at least 1", "0", "}"),
    "step back": body("loop %i in 0..8 step -1 {", "FP101", "a number", "-", "}"),
    "a name as a bound": body("loop %i in 0..%n {", "FP104", "`param %n` in front of", "%n", "}"),
    "a loop variable as a bound": Mistake(
        kernel("loop %i in 0..2 {", "loop %j in 0..%i {", "}", "}"), "FP104", "is no number that", 5, "%i"
    ),
    "a buffer as a bound": body("loop %i in 0..%a {", "FP104", "is no number that", "%a", "}"),
    "a condition as a bound": Mistake(
        kernel("if %c {", "}", "loop %i in 0..%c {", "}"), "FP104", "is no number that", 6, "%c"
    ),
    "no brace": body("loop %i in 0..8", "FP101", "'{', 'step' or 'carry'", " ", "}"),
    "one name for two loops": Mistake(
        kernel("loop %i in 0..2 {", "loop %i in 0..2 {", "}", "}"), "FP104", "already taken", 5, "%i"
    ),
    "no comparison": body("if wave {", "FP101", "a comparison", "{", "}"),
    "one equals sign": body("if wave = 0 {", "FP101", "equality is written ==", "=", "}"),
    "else on a line of its own": Mistake(
        kernel("if %c {", "}", "else {", "}"), "FP101", "`} else {`", 6, "else"
    ),
    "else if": Mistake(kernel("if %c {", "} else if %d {", "}"), "FP101", "'{'", 5, "if"),
    # Numbers that a kernel is given.
    "another number as a bound": Mistake(
        kernel("param %n", "loop %i in 0..%m {", "}"), "FP104", "numbers: %n", 5, "%m"
    ),
    "a number twice": Mistake(kernel("param %n", "param %n"), "FP104", "already taken", 5, "%n"),
    "a number and a buffer": body("param %a", "FP104", "already taken", "%a"),
    "a number and a loop": Mistake(
        kernel("param %n", "loop %n in 0..2 {", "}"), "FP104", "already taken", 5, "%n"
    ),
    "a number without sign": body("param n", "FP101", "%n", "n"),
    "a number with a value": body("param %n = 4", "FP101", "the end of the line", "="),
    "a number too late": Mistake(kernel("read %a", "param %n"), "FP101", "before the first", 5, "param"),
    "a number as a condition": Mistake(
        kernel("param %n", "if %n {", "}"), "FP104", "compare it: `%n == 0`", 5, "if %n"
    ),
    "a number as a buffer": Mistake(kernel("param %n", "read %n"), "FP104", "a buffer is wanted", 5, "%n"),
    "a number as a value": Mistake(kernel("param %n", "mma %n"), "FP104", "a value is wanted", 5, "%n"),
    "a number as the first bound": Mistake(
        kernel("param %n", "loop %i in %n..4 {", "}"), "FP101", "a number or '-'", 5, "%n"
    ),
    "more than a number as a bound": Mistake(
        kernel("param %n", "loop %i in 0..%n + 1 {", "}"), "FP101", "unexpected '+'", 5, "+"
    ),
    "a number in a function": Mistake(
        "func @f {\n  param %n\n}\n" + CLEAN,
        "FP101",
        "numbers are given to kernels",
        2,
        "param",
        "   = note: @k in the same file was not looked at either\n",
    ),
    # Mbarriers.
    "an object without a count": body(
        "mbarrier_init %b", "FP105", "`mbarrier_init %b count=1`", "mbarrier_init %b"
    ),
    "no arrivals": body(
        "mbarrier_init %b count=0", "FP100", "a number from 1", "mbarrier_init %b count=0"
    ),
    "fewer than no arrivals": body("mbarrier_init %b count=-1", "FP101", "a number", "-"),
    "arrivals in words": body("mbarrier_init %b count=two", "FP105", "'count' is a number", "count"),
    "an object until never": body(
        "mbarrier_init %b count=1 until=never", "FP105", "`inval`", "mbarrier_init %b count=1 until=never"
    ),
    "an object until a number": body("mbarrier_init %b count=1 until=3", "FP105", "`inval`", "until"),
    "ending with a count": body("mbarrier_inval %b count=1", "FP105", "no attribute 'count'", "count"),
    "arrivals twice": body("mbarrier_init %b count=1 count=2", "FP105", "'count' twice", "count"),
    "an object with bytes": body("mbarrier_init %b bytes=8", "FP105", "no attribute 'bytes'", "bytes"),
    "an object with a phase": body("mbarrier_init %b phase=0", "FP101", "unexpected 'phase'", "phase"),
    "an object with a name": body(
        "%o = mbarrier_init %b count=1", "FP101", "mbarrier_init yields no value", "mbarrier_init"
    ),
    "an object nowhere": body("mbarrier_init count=1", "FP101", "a name such as %a", "count"),
    "an object in no buffer": body("mbarrier_init %o count=1", "FP104", "there is no buffer %o", "%o"),
    "an object in no slot": body("mbarrier_init %a[2] count=1", "FP103", "has 2 slots", "%a[2]"),
    "an object in two buffers": body("mbarrier_init %a, %b count=1", "FP101", "unexpected ','", ","),
    "an object that is a value": Mistake(
        kernel("%x = compute", "mbarrier_arrive %x"), "FP104", "a buffer is wanted here", 5, "%x"
    ),
    "an arrival with bytes": body("mbarrier_arrive %b bytes=4", "FP105", "no attribute 'bytes'", "bytes"),
    "an arrival of the wave's own": body(
        "mbarrier_arrive %b counter=lds", "FP105", "plain accesses", "mbarrier_arrive %b counter=lds"
    ),
    "a counter in numbers": body("mbarrier_arrive %b counter=3", "FP105", "a name such as", "counter"),
    "expected without bytes": body(
        "mbarrier_expect %b", "FP105", "`mbarrier_expect %b bytes=1`", "mbarrier_expect %b"
    ),
    "expected arrivals": body("mbarrier_expect %b count=1", "FP105", "no attribute 'count'", "count"),
    "waiting for no phase": body("mbarrier_wait %b", "FP101", "expected: 'phase'", " "),
    "waiting for a count": body("mbarrier_wait %b count=1", "FP101", "expected: 'phase'", "count"),
    "waiting for nothing in particular": body("mbarrier_wait %b phase", "FP101", "expected: '='", " "),
    "something behind the phase": body("mbarrier_wait %b phase=0 count=1", "FP101", "an operator", "count"),
    "a phase that is not there": body("mbarrier_wait %b phase=%i", "FP104", "the variable of a loop", "phase"),
    "a phase that is a buffer": body("mbarrier_wait %b phase=%a", "FP104", "a number is wanted", "phase"),
    "a misspelled wait": body(
        "mbarrier_wai %b phase=0", "FP101", "did you mean `mbarrier_wait`?", "mbarrier_wai"
    ),
    # Engines that tell objects.
    "a read that arrives": body("read %a arrives %b count=1", "FP105", "by the wave itself", "%b"),
    "a load to registers that arrives": body(
        "global_read arrives %b count=1", "FP101", "unexpected 'arrives'", "arrives"
    ),
    "nothing is told": body("gather_to_lds %a arrives", "FP101", "a name such as %a", " "),
    "told nothing": body("gather_to_lds %a arrives %b", "FP101", "a name such as load", " "),
    "no object is told": body("gather_to_lds %a arrives %o bytes=4", "FP104", "no buffer %o", "%o"),
    "an object in no slot is told": body(
        "gather_to_lds %b arrives %a[2] bytes=4", "FP103", "has 2 slots", "%a[2]"
    ),
    "told no bytes": body("gather_to_lds %a arrives %b bytes=0", "FP100", "a number from 1", "bytes"),
    "told a stage": body("gather_to_lds %a arrives %b stage=1", "FP105", "`bytes` or arrives `count`", "stage"),
    "told twice": body("gather_to_lds %a arrives %b bytes=4 count=1", "FP101", "the end of the line", "count"),
    "a counter behind what is told": body(
        "gather_to_lds %a arrives %b bytes=4 counter=tma", "FP101", "the end of the line", "counter"
    ),
    # Barriers of some waves.
    "a barrier for nobody": body("barrier waves 4..4", "FP100", "a barrier for waves 4..4", "4"),
    "a barrier backwards": body("barrier waves 2..1", "FP100", "a barrier for waves 2..1", "2"),
    "a barrier for waves that cannot be": body("barrier waves 0..65", "FP100", "from 0 to 64", "0"),
    "a barrier for waves below zero": body("barrier waves -1..2", "FP101", "a number", "-"),
    "a barrier for one number": body("barrier waves 0", "FP101", "'..'", " "),
    "a barrier up to a name": body("barrier waves 0..%n", "FP101", "a number", "%n"),
    "a bare barrier for some": body("workgroup_barrier waves 0..2", "FP101", "the end of the line", "waves"),
    # What is expected.
    "expected of a known loop": body(
        "loop %i in 0..8 expect=8 {", "FP105", "'expect' on a loop that runs 8 times", "expect", "}"
    ),
    "expected of a loop that never runs": body(
        "loop %i in 0..0 expect=8 {", "FP105", "runs 0 times", "expect", "}"
    ),
    "a loop of zero": body("loop %i in 0..? expect=0 {", "FP100", "at least once", "0", "}"),
    "a loop of one and a half": body("loop %i in 0..? expect=1.5 {", "FP100", "whole number", "1.5", "}"),
    "a loop of less than zero": body("loop %i in 0..? expect=-1 {", "FP101", "a number", "-", "}"),
    "a loop of who knows": body("loop %i in 0..? expect=? {", "FP101", "a number", "?", "}"),
    "a loop of very many": body(
        f"loop %i in 0..? expect={'9' * 19} {{", "FP100", "too large", "9" * 19, "}"
    ),
    "expected twice": body(
        "loop %i in 0..? expect=1 expect=2 {", "FP105", "attribute 'expect' twice", "expect", "}"
    ),
    "likely twice": body("if %c expect=1 expect=1 {", "FP105", "attribute 'expect' twice", "expect", "}"),
    "more than certain": body("if %c expect=2 {", "FP100", "a number from 0 to 1", "2", "}"),
    "a little more than certain": body("if %c expect=1.01 {", "FP100", "from 0 to 1", "1.01", "}"),
    "much more than certain": body(f"if %c expect={'9' * 60} {{", "FP100", "from 0 to 1", "9" * 60, "}"),
    "less than impossible": body("if %c expect=-0.5 {", "FP101", "a number", "-", "}"),
    "nothing before the point": body("if %c expect=.5 {", "FP101", "unexpected character '.'", ".", "}"),
    "percent": body("if %c expect=5% {", "FP101", "unexpected '%'", "%", "}"),
    "an exponent": body("if %c expect=1e-3 {", "FP101", "unexpected 'e'", "e", "}"),
    "expected in words": body("if %c expect=often {", "FP101", "a number", "often", "}"),
    "expected without a sign": body("if %c expect 0.5 {", "FP101", "expected: '='", "0.5", "}"),
    "expected by itself": body("if expect=0.5 {", "FP101", "the condition of an `if`", "expect", "}"),
    "expected of what is carried": body(
        "loop %i in 0..? carry %x = 0 expect=2 {", "FP101", "the bounds of a loop", "expect", "}"
    ),
    "likely for some waves": body(
        "if wave < 2 expect=0.5 {", "FP105", "'expect' on a divergent if", "expect", "}"
    ),
    "a likely target for some waves": body(
        "cond_br wave < 2, ^x, ^x expect=0.5", "FP105", "on a divergent cond_br", "expect", "^x:", "return"
    ),
    "how often and how likely": body(
        "cond_br %c, ^x, ^x trip=2 expect=0.5", "FP105", "'trip' and 'expect'", "expect", "^x:", "return"
    ),
    "how often, twice": body(
        "cond_br %c, ^x, ^x trip=2 trip=2", "FP105", "'trip' twice", "trip", "^x:", "return"
    ),
    "half a trip": body("cond_br %c, ^x, ^x trip=0.5", "FP100", "whole number", "0.5", "^x:", "return"),
    "an unlikely target": body("cond_br %c, ^x, ^x expect=7", "FP100", "from 0 to 1", "7", "^x:", "return"),
    # Blocks.
    "no such block": body("br ^x", "FP104", "there is no block ^x", "^x"),
    "no such second block": body(
        "cond_br %c, ^x, ^y", "FP104", "there is no block ^y", "^y", "^x:", "  return"
    ),
    "one label twice": Mistake(
        kernel("br ^x", "^x:", "br ^x", "^x:", "return"), "FP104", "the name ^x is already taken", 7, "^x"
    ),
    # What blocks take.
    "arguments on a conditional branch": body(
        "cond_br %c, ^x(1), ^y", "FP109", "branch to a block of its own", "cond_br %c, ^x(1), ^y",
        "^x(%n):", "return", "^y:", "return",
    ),
    "arguments on its second target": body(
        "cond_br %c, ^x, ^x(1)", "FP109", "cond_br forwards nothing", "cond_br %c, ^x, ^x(1)", "^x:", "return"
    ),
    "no such block for arguments": body("br ^y(1)", "FP104", "there is no block ^y", "^y", "^x(%n):", "return"),
    "the first block has no label": body("br ^entry(1)", "FP104", "there is no block ^entry", "^entry"),
    "arguments of the kernel": Mistake(
        "kernel @k(%n) waves=4 {\n  return\n}\n", "FP101", "expected: 'waves'", 1, "("
    ),
    "arguments of the first block": body("(%n):", "FP101", "unexpected '('", "(", "return"),
    "arguments of a function": Mistake("func @f(%n) {\n}\n", "FP101", "expected: '{'", 1, "("),
    "arguments of return": body("return(1)", "FP101", "the end of the line", "("),
    "an empty list of names": Mistake(kernel("br ^x", "^x():", "return"), "FP101", "a name such as", 5, ")"),
    "an empty list of numbers": body("br ^x()", "FP101", "a number", ")", "^x:", "return"),
    "a number for a name": Mistake(kernel("br ^x(1)", "^x(1):", "return"), "FP101", "a name such as", 5, "1"),
    "a name without sign": Mistake(kernel("br ^x(1)", "^x(n):", "return"), "FP101", "begin with %: %n", 5, "n"),
    "no comma between numbers": body("br ^x(1 2)", "FP101", "',' or ')'", "2", "^x(%n):", "return"),
    "a condition for a number": body("br ^x(1 < 2)", "FP101", "unexpected '<'", "<", "^x(%n):", "return"),
    "a name twice in one block": Mistake(
        kernel("br ^x(1, 2)", "^x(%n, %n):", "return"), "FP104", "the name %n is already taken", 5, "%n"
    ),
    "a name twice in two blocks": Mistake(
        kernel("br ^x(1)", "^x(%n):", "br ^y(2)", "^y(%n):", "return"), "FP104", "already taken", 7, "%n"
    ),
    "an argument called like a buffer": Mistake(
        kernel("br ^x(1)", "^x(%a):", "return"), "FP104", "the name %a is already taken", 5, "%a"
    ),
    "an argument called like a value": Mistake(
        kernel("%v = compute", "br ^x(1)", "^x(%v):", "return"), "FP104", "%v is already taken", 6, "%v"
    ),
    "a value called like an argument": Mistake(
        kernel("br ^x(1)", "^x(%v):", "%v = compute", "return"), "FP104", "%v is already taken", 6, "%v"
    ),
    "a loop variable called like an argument": Mistake(
        kernel("br ^x(1)", "^x(%i):", "loop %i in 0..2 {", "}", "return"), "FP104", "%i is already taken", 6, "%i"
    ),
    "an argument called like a condition": body(
        "cond_br %n, ^x, ^x", "FP104", "which is no condition", "cond_br %n, ^x, ^x",
        "^x:", "br ^y(1)", "^y(%n):", "return",
    ),
    "an argument as a condition": Mistake(
        kernel("br ^x(1)", "^x(%n):", "cond_br %n, ^y, ^y", "^y:", "return"),
        "FP104", "%n is a number, which is no condition", 6, "cond_br %n, ^y, ^y",
    ),
    "an argument as the condition of an if": Mistake(
        kernel("br ^x(1)", "^x(%n):", "if %n {", "}", "return"), "FP104", "compare it: `%n == 0`", 6, "if %n"
    ),
    "an argument as a buffer": Mistake(
        kernel("br ^x(1)", "^x(%n):", "read %n", "return"), "FP104", "%n is a number; a buffer is wanted", 6, "%n"
    ),
    "an argument above its block as a buffer": body(
        "read %n[0]", "FP104", "%n is a number; a buffer is wanted", "%n[0]", "br ^x(1)", "^x(%n):", "return"
    ),
    "an argument as a value": Mistake(
        kernel("br ^x(1)", "^x(%n):", "mma %n", "return"), "FP104", "%n is a number; a value is wanted", 6, "%n"
    ),
    "an argument to come after": Mistake(
        kernel("br ^x(1)", "^x(%n):", "barrier after %n", "return"), "FP104", "a value is wanted", 6, "%n"
    ),
    "a buffer handed to a block": body(
        "br ^x(%a)", "FP104", "%a is a buffer; a number is wanted", "br ^x(%a)", "^x(%n):", "return"
    ),
    "a value handed to a block": Mistake(
        kernel("%v = compute", "br ^x(%v)", "^x(%n):", "return"),
        "FP104", "%v is a value; a number is wanted", 5, "br ^x(%v)",
    ),
    "a number that is not there": body(
        "br ^x(%z + 1)", "FP104", "%z is not the variable of a loop", "br ^x(%z + 1)", "^x(%n):", "return"
    ),
    "the variable of a loop that has ended": Mistake(
        kernel("loop %i in 0..2 {", "}", "br ^x(%i)", "^x(%n):", "return"),
        "FP104", "%i is not the variable of a loop around", 6, "br ^x(%i)",
    ),
    "what a loop of another block carries": Mistake(
        kernel("loop %i in 0..2 carry %k = 0 {", "next 1", "}", "br ^x(%k)", "^x(%n):", "read %a[%k]", "return"),
        "FP104", "%k cannot be used here", 9, "%a[%k]",
    ),
    "a number forwarded that is too large": body(
        f"br ^x({'9' * 30})", "FP100", "too large", "9" * 30, "^x(%n):", "return"
    ),
}  # fmt: skip

FLOW_MISTAKES = {
    "too few numbers": Mistake(
        kernel("br ^x(1)", "^x(%n, %m):", "return"), "FP109", "br forwards 1, and ^x takes 2", 4, "br ^x(1)"
    ),
    "too many numbers": Mistake(
        kernel("br ^x(1, 2)", "^x(%n):", "return"), "FP109", "br forwards 2, and ^x takes 1", 4, "br ^x(1, 2)"
    ),
    "numbers that nobody takes": Mistake(
        kernel("br ^x(1)", "^x:", "return"), "FP109", "br forwards 1, and ^x takes nothing", 4, "br ^x(1)"
    ),
    "no numbers": Mistake(
        kernel("br ^x", "^x(%n):", "return"), "FP109", "br forwards nothing, and ^x takes 1", 4, "br ^x"
    ),
    "a conditional branch to a block that takes numbers": Mistake(
        kernel("cond_br %c, ^y, ^x", "^y:", "return", "^x(%n):", "return"),
        "FP109",
        "cond_br forwards nothing, and ^x takes 1",
        4,
        "cond_br %c, ^y, ^x",
    ),
    "a condition on a number by wave": Mistake(
        kernel("br ^x(wave)", "^x(%n):", "cond_br %n < 2, ^y, ^z", "^y:", "br ^z", "^z:", "return"),
        "FP109",
        "a condition on %n, which is not the same for all waves",
        6,
        "cond_br %n < 2, ^y, ^z",
    ),
    "a condition on what two sides forward": Mistake(
        kernel(
            *("cond_br wave < 2, ^s, ^t", "^s:", "br ^x(0)", "^t:", "br ^x(1)"),
            *("^x(%n):", "if %n == 0 {", "write %a", "}", "return"),
        ),
        "FP109",
        "a condition on %n, which is not the same for all waves",
        10,
        "if %n == 0",
    ),
    "a branch with arguments in a loop": Mistake(
        kernel("loop %i in 0..2 {", "br ^x(%i)", "}", "return", "^x(%n):", "return"),
        "FP106",
        "br inside a loop or conditional",
        5,
        "br ^x(%i)",
    ),
    "branch in a loop": Mistake(
        kernel("loop %i in 0..2 {", "br ^x", "}", "return", "^x:", "return"),
        "FP106",
        "br inside a loop or conditional",
        5,
        "br ^x",
    ),
    "return in a conditional": Mistake(
        kernel("if %c {", "return", "}"), "FP106", "return inside a loop or conditional", 5, "return"
    ),
    "the first block does not end": Mistake(
        kernel("read %a", "^x:", "return"), "FP106", "the entry block does not end in", 4, "read %a"
    ),
    "a block does not end": Mistake(
        kernel("br ^x", "^x:", "read %a"), "FP106", "block ^x does not end in", 6, "read %a"
    ),
    "an empty block": Mistake(kernel("br ^x", "^x:"), "FP106", "block ^x does not end in", 5, "^x"),
    "an empty first block": Mistake(
        kernel("^x:", "return"), "FP106", "the entry block does not end in", 1, "kernel @k waves=4"
    ),
    "code after a branch": Mistake(
        kernel("br ^x", "read %a", "^x:", "return"), "FP106", "this can never run", 5, "read %a"
    ),
    "code after return": Mistake(kernel("return", "read %a"), "FP106", "this can never run", 5, "read %a"),
    "sides that share blocks": Mistake(
        kernel(
            *("cond_br wave < 2, ^x, ^y", "^x:", "cond_br %c, ^y, ^z", "^y:", "cond_br %d, ^z, ^end"),
            *("^z:", "br ^end", "^end:", "return"),
        ),
        "FP107",
        "do not join cleanly",
        4,
        "cond_br wave < 2, ^x, ^y",
    ),
    "a loop that only some waves leave": Mistake(
        kernel("br ^x", "^x:", "cond_br wave < 2, ^x, ^y", "^y:", "return"),
        "FP107",
        "do not join cleanly",
        6,
        "cond_br wave < 2, ^x, ^y",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_explained_where_they_are(mistake: Mistake, file: Path) -> None:
    file.write_bytes(mistake.text.encode())
    message = message_of(mistake.text)
    assert_explained(mistake, message)
    for command in COMMANDS:
        ran = fencepost(command, str(file))
        assert_refused(ran, str(file))
        assert ran.err == message.replace("k.fp", str(file)) + mistake.note


@pytest.mark.parametrize("mistake", FLOW_MISTAKES.values(), ids=FLOW_MISTAKES.keys())
def test_control_flow_that_makes_no_sense_is_explained(mistake: Mistake, file: Path) -> None:
    file.write_text(mistake.text)
    for command in COMMANDS:
        ran = fencepost(command, str(file))
        assert_refused(ran, str(file))
        assert_explained(mistake, ran.err)


def test_the_first_place_named_is_the_mistake_and_not_what_it_clashes_with() -> None:
    assert "--> k.fp:5:3 and k.fp:4:3\n" in message_of(kernel("%x = compute", "%x = compute"))


def test_several_kernels_where_one_is_wanted() -> None:
    with pytest.raises(FencepostError, match=r"^<text>:7:1: 2 kernels where one was expected"):
        parse(CLEAN + CLEAN.replace("@k", "@j"))
    with pytest.raises(FencepostError, match=r"^0 kernels where one was expected"):
        parse("")


def test_carets_stand_under_the_text_in_spite_of_tabs_and_wide_characters() -> None:
    assert underlined(message_of(kernel("\tread\t%z")))[4] == ["%z"]
    assert "  日本\n   |   ^^\n" in message_of("kernel @k waves=4 {\n  日本\n}")
    assert underlined(message_of(kernel("read %z").replace("\n", "\r\n")))[4] == ["%z"]


def test_long_lines_are_shown_in_part() -> None:
    message = message_of(kernel("read %a[" + " " * 50_000 + "x]"))
    assert len(message) < 2_000
    assert underlined(message)[4] == ["x"]
    assert len(message_of(kernel("x" * 100_000))) < 2_000
