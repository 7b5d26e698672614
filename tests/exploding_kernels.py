"""Kernels made to explode: each is small to write down and large for whoever follows it naively.

Sizes are arguments, so that `bench/explode.py` can run what takes seconds and the tests what takes none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

Kernels = dict[str, Callable[[], str]]


def kernel(lines: Iterable[str], *, buffers: Iterable[str] = ("%a : 4096",), waves: int = 4) -> str:
    """A kernel of these lines; what precedes it (functions) is up to the caller."""
    body = [f"shared {buffer}" for buffer in buffers] + list(lines)
    return "\n".join([f"kernel @k waves={waves} {{", *("  " + line for line in body), "}", ""])


def nest(
    depth: int, bound: str, inner: Iterable[str], each: Callable[[int], list[str]] | None = None
) -> list[str]:
    """Loops inside each other, around `inner`; `each` gives what stands in front of the next loop."""
    lines: list[str] = []
    for level in range(depth):
        lines.append(f"loop %i{level} in 0..{bound} {{")
        lines += each(level) if each is not None else []
    return [*lines, *inner, *["}"] * depth]


# ---------------------------------------------------------------- deep nests and huge trips


def affine_tiles(copies: int, trip: int) -> str:
    """Subranges affine in two loops; every pair of accesses is a question about integers."""
    pair = [
        "write %a[%i0 * 64 + %i1..%i0 * 64 + %i1 + 64]",
        "read %a[%i0 * 64 + %i1 + 3..%i0 * 64 + %i1 + 69]",
    ]
    return kernel(nest(2, str(trip), pair * copies), buffers=["%a : 16384"])


def affine_variants(copies: int, depth: int) -> str:
    """The same with a different subrange in each line: no two questions are alike."""
    lines = []
    for n in range(copies):
        index = " + ".join(f"%i{level} * {level * 32 + n % 7 + 1}" for level in range(depth))
        lines += [
            f"write %a[{index} + {n}..{index} + {n + 9}]",
            f"read %a[{index} + {2 * n}..{index} + {2 * n + 5}]",
        ]
    return kernel(nest(depth, "61", lines), buffers=["%a : 1048576"])


def rings_of_sums(depth: int, slots: int, bound: str) -> str:
    """Slots that are sums of all loop variables, with a remainder."""
    plain = " + ".join(f"%i{n}" for n in range(depth))
    weighed = " + ".join(f"{n + 1} * %i{n}" for n in range(depth))
    lines = [f"write %a[({plain}) % {slots}]", f"read %a[({weighed}) % {slots}]"]
    return kernel(nest(depth, bound, lines), buffers=[f"%a : {slots} x 64"])


def deep_loops(depth: int, bound: str) -> str:
    """Nothing but loops around one write and one read."""
    return kernel(nest(depth, bound, ["write %a", "read %a"]))


def deep_accesses(depth: int, bound: str) -> str:
    """An access on every level of the nest."""
    return kernel(
        nest(depth, bound, ["write %a"], lambda level: [f"read %a[{level % 8 * 8}..{level % 8 * 8 + 16}]"])
    )


def deep_rings(depth: int, bound: str) -> str:
    """A ring on every level, each with another number of slots."""
    sizes = [2 + level % 7 for level in range(depth)]
    return kernel(
        nest(
            depth,
            bound,
            ["compute"],
            lambda level: [
                f"write %b{level}[%i{level} % {sizes[level]}]",
                f"read %b{level}[(%i{level} + 1) % {sizes[level]}]",
            ],
        ),
        buffers=[f"%b{level} : {sizes[level]} x 64" for level in range(depth)],
    )


def deep_carried(depth: int) -> str:
    """A number that every loop of a nest carries on, in a ring of its own."""
    lines: list[str] = []
    for level in range(depth):
        lines += [f"loop %i{level} in 0..? carry %x{level} = {0 if level == 0 else f'%x{level - 1}'} {{"]
        lines += [f"write %a[%x{level} % 5]", f"read %a[(%x{level} + {level}) % 5]"]
    for level in reversed(range(depth)):
        inner = f"%x{level + 1} + 1" if level + 1 < depth else f"%x{level} + 1"
        lines += [f"next {inner}", "}"]
    return kernel(lines, buffers=["%a : 5 x 64"])


def huge_trip_slots(trip: int) -> str:
    """A loop of almost any length whose variable is used in every way."""
    lines = [
        f"loop %i in 0..{trip} {{",
        "  write %a[%i // 3 % 5]",
        "  read %a[(%i ^ 3) % 5]",
        "  if %i == 123456789 {",
        "    write %a[%i * 7 % 5]",
        "  }",
        "  if %i % 1000 < %i // 1000 {",
        "    read %a",
        "  }",
        "}",
    ]
    return kernel(lines, buffers=["%a : 5 x 64"])


def coprime_rings(sizes: Iterable[int], bound: str) -> str:
    """Rings of coprime sizes in one loop: their common period is the product."""
    lines = [f"loop %i in 0..{bound} {{"]
    for size in sizes:
        lines += [f"write %r{size}[%i % {size}]", f"read %r{size}[(%i + 1) % {size}]"]
    return kernel([*lines, "}"], buffers=[f"%r{size} : {size} x 64" for size in sizes])


def coprime_counters(sizes: list[int]) -> str:
    """The same with carried counters instead of remainders."""
    begin = ", ".join(f"%c{size} = 0" for size in sizes)
    lines = [f"loop %i in 0..? carry {begin} {{"]
    for size in sizes:
        lines += [f"write %r{size}[%c{size}]", f"read %r{size}[(%c{size} + 1) % {size}]"]
    lines += ["next " + ", ".join(f"select(%c{size} + 1 == {size}, 0, %c{size} + 1)" for size in sizes), "}"]
    return kernel(lines, buffers=[f"%r{size} : {size} x 64" for size in sizes])


def rotated_buffers(count: int) -> str:
    """Buffers that a loop hands round: every order of them comes up in a nest of swaps."""
    begin = ", ".join(f"%v{n} = %b{n}" for n in range(count))
    lines = [
        f"loop %i in 0..? carry {begin} {{",
        "write %v0",
        f"read %v{count - 1}",
        "if %swap {",
        "compute",
        "}",
    ]
    turned = ", ".join(f"%v{(n + 1) % count}" for n in range(count))
    return kernel([*lines, f"next {turned}", "}"], buffers=[f"%b{n} : 64" for n in range(count)])


def shuffled_buffers(count: int) -> str:
    """Two loops that permute buffers in different ways: together they reach count! orders."""
    begin = ", ".join(f"%u{n} = %b{n}" for n in range(count))
    again = ", ".join(f"%v{n} = %u{n}" for n in range(count))
    turned = ", ".join(f"%v{(n + 1) % count}" for n in range(count))
    swapped = ", ".join(["%v1", "%v0", *(f"%v{n}" for n in range(2, count))])
    lines = [
        f"loop %i in 0..? carry {begin} {{",
        f"loop %j in 0..? carry {again} {{",
        "write %v0",
        "read %v1",
        f"next {turned}",
        "}",
        f"next {swapped}",
        "}",
    ]
    return kernel(lines, buffers=[f"%b{n} : 64" for n in range(count)])


def huge_numbers() -> str:
    """Expressions whose values leave every machine word."""
    big = "999999999999999999"
    square = " * ".join(["(%i + " + big + ")"] * 12)
    lines = [
        f"loop %i in 0..{big} carry %x = {big} {{",
        f"write %a[({square}) % 3]",
        "read %a[%x % 3]",
        "next %x * %x + 1",
        "}",
    ]
    return kernel(lines, buffers=["%a : 3 x 64"])


# ---------------------------------------------------------------- length and width


def straight_copies(count: int) -> str:
    """Copies in a row, no two into the same bytes."""
    lines = []
    for n in range(count):
        lines.append(f"gather_to_lds %a[{n % 64}]" if n % 2 else f"read %a[{(n + 31) % 64}]")
    return kernel(lines, buffers=["%a : 64 x 64"])


def straight_accesses(count: int, buffers: int) -> str:
    """Random accesses in a row."""
    rng = random.Random(count)
    lines = [f"{rng.choice(['read', 'write'])} %b{rng.randrange(buffers)}" for _ in range(count)]
    return kernel(lines, buffers=[f"%b{n} : 64" for n in range(buffers)])


def straight_subranges(count: int) -> str:
    """Accesses to ever other bytes of one buffer: as many classes as lines."""
    rng = random.Random(count)
    lines = []
    for _ in range(count):
        lo = rng.randrange(60_000)
        lines.append(f"{rng.choice(['read', 'write'])} %a[{lo}..{lo + rng.randrange(1, 5_000)}]")
    return kernel(lines, buffers=["%a : 65536"])


def straight_used(count: int) -> str:
    """Values that are used far from where they are read."""
    lines = [f"%x{n} = read %a[{n % 16}]" for n in range(count)]
    lines += [f"write %a[{n % 16}], %x{count - 1 - n}" for n in range(count)]
    return kernel(lines, buffers=["%a : 16 x 64"])


def loop_of_copies(count: int, bound: str) -> str:
    """A long body with copies in a loop."""
    lines = [f"loop %i in 0..{bound} {{"]
    for n in range(count):
        lines += [f"gather_to_lds %a[(%i + {n}) % 3] counter=c{n % 4}", f"read %a[(%i + {n + 1}) % 3]"]
    return kernel([*lines, "}"], buffers=["%a : 3 x 64"])


def many_buffers(count: int) -> str:
    """A buffer for each line, all of them sharing bytes."""
    lines = [f"write %b{n}" for n in range(count)] + [f"read %b{n}" for n in range(count)]
    return kernel(lines, buffers=[f"%b{n} : 4096 at {n * 8}" for n in range(count)])


def many_loops(count: int) -> str:
    """One loop behind the other, each with a ring."""
    lines: list[str] = []
    for n in range(count):
        size = 2 + n % 9
        lines += [
            f"loop %i{n} in 0..? {{",
            f"  write %a[%i{n} % {size}]",
            f"  read %a[(%i{n} + 1) % {size}]",
            "}",
        ]
    return kernel(lines, buffers=["%a : 11 x 64"])


def wide_conditionals(count: int, sides: bool = True) -> str:
    """Conditionals in a row: 2^count paths."""
    lines: list[str] = []
    for n in range(count):
        lines += [f"if %c{n} {{", f"  write %a[{n % 4}]"]
        lines += ["} else {", f"  read %a[{(n + 1) % 4}]", "}"] if sides else ["}"]
    return kernel(lines, buffers=["%a : 4 x 64"])


def conditionals_that_give(count: int, slots: int) -> str:
    """2^count ways to make one number."""
    lines: list[str] = []
    for n in range(count):
        lines += [f"if %c{n} gives %x{n} {{"]
        lines += [
            f"  give {f'%x{n - 1}' if n else 0} + {2**n}",
            "} else {",
            f"  give {f'%x{n - 1}' if n else 0}",
            "}",
        ]
    lines += [f"write %a[%x{count - 1} % {slots}]", f"read %a[(%x{count - 1} + 1) % {slots}]"]
    return kernel(lines, buffers=[f"%a : {slots} x 64"])


def independent_choices(count: int) -> str:
    """Numbers that are chosen one by one and used together: 2^count combinations."""
    lines: list[str] = []
    for n in range(count):
        lines += [f"if %c{n} gives %x{n} {{", "  give 1", "} else {", "  give 0", "}"]
    for n in range(count):
        lines += [f"write %a[%x{n}]", f"read %a[1 - %x{count - 1 - n}]"]
    return kernel(lines, buffers=["%a : 2 x 64"])


def correlated_conditions(count: int) -> str:
    """Conditions on parameters, all of them different."""
    lines: list[str] = []
    for n in range(count):
        lines += [
            f"if %n % {n + 2} == {n % 2} {{",
            f"  write %a[%n % {n + 2} % 4]",
            "}",
            f"read %a[%n % {n + 3} % 4]",
        ]
    return kernel(["param %n", *lines], buffers=["%a : 4 x 64"])


def conditions_by_wave(count: int, waves: int) -> str:
    """Conditions on a parameter, each with another answer for each wave."""
    lines: list[str] = ["param %n"]
    for n in range(count):
        lines += [f"if (%n + wave) % 60 == {n % 60} {{", f"  write %a[{n % 8}]", "}"]
    return kernel(lines, buffers=["%a : 8 x 64"], waves=waves)


def iterations_of_waves(depth: int, waves: int) -> str:
    """In nested loops of unknown length, an iteration of each for each wave."""
    lines: list[str] = []
    for n in range(depth):
        lines += [f"if wave == %i{n} {{", f"  write %a[%i{n} % 8]", "}", f"read %a[(%i0 + %i{n}) % 7]"]
    return kernel(nest(depth, "?", lines), buffers=["%a : 8 x 64"], waves=waves)


def sides_that_agree(count: int, waves: int) -> str:
    """Results of divergent conditionals, each made of one of a uniform one, and all of them slots."""
    lines: list[str] = []
    for n in range(count):
        lines += [f"if %c{n} gives %z{n} {{", f"  give {n}", "} else {", f"  give {n + 1}", "}"]
        lines += [f"if wave == {n} gives %y{n} {{", f"  give %z{n}", "} else {", f"  give %z{n} + 8", "}"]
    lines += [f"write %a[%y{n} % 8]" for n in range(count)]
    return kernel(lines, buffers=["%a : 8 x 64"], waves=waves)


def many_parameters(count: int) -> str:
    """Parameters in conditions, slots and bounds."""
    lines = [f"param %n{n}" for n in range(count)]
    for n in range(count):
        lines += [
            f"loop %i{n} in 0..%n{n} {{",
            f"  write %a[(%i{n} + %n{n}) % 3]",
            f"  if %n{n} % 2 == 1 {{",
            "    read %a",
            "  }",
            "}",
        ]
    return kernel(lines, buffers=["%a : 3 x 64"])


def deep_conditionals(depth: int) -> str:
    """Conditionals inside each other."""
    lines: list[str] = []
    for n in range(depth):
        lines += [f"if %c{n} {{", "write %a"]
    return kernel([*lines, "read %a", *["}"] * depth])


def deep_divergence(depth: int, waves: int) -> str:
    """Divergent conditionals inside each other, each for fewer waves."""
    lines: list[str] = []
    for n in range(depth):
        lines += [f"if wave >= {n % waves} {{", f"write %a[{n % 4}]"]
    return kernel([*lines, "compute", *["}"] * depth, "read %a[0]"], buffers=["%a : 4 x 64"], waves=waves)


def divergent_row(count: int, waves: int) -> str:
    """Divergent conditionals in a row."""
    lines: list[str] = []
    for n in range(count):
        lines += [
            f"if wave == {n % waves} {{",
            f"  write %a[{n % 5}]",
            "} else {",
            f"  read %b[{n % 3}]",
            "}",
        ]
        lines += [f"read %a[{(n + 1) % 5}]", f"write %b[{n % 3}]"]
    return kernel(lines, buffers=["%a : 5 x 64", "%b : 3 x 64"], waves=waves)


# ---------------------------------------------------------------- expressions


def long_expressions(terms: int) -> str:
    """Sums that fill a line."""
    total = " + ".join(f"%i * {n + 1}" for n in range(terms))
    lines = ["loop %i in 0..? {", f"write %a[({total}) % 7]", f"read %a[({total} + 3) % 7]", "}"]
    return kernel(lines, buffers=["%a : 7 x 64"])


def nested_expressions(depth: int, bound: str) -> str:
    """Remainders, quotients and choices inside each other."""
    inner = "%i"
    for n in range(depth):
        inner = (
            f"select({inner} % {n + 2} < {n % 3 + 1}, {inner} // 2, %i ^ {n})"
            if n < 5
            else f"({inner}) * 3 % {n + 2}"
        )
    lines = [f"loop %i in 0..{bound} {{", f"write %a[({inner}) % 4]", f"read %a[({inner} + 1) % 4]", "}"]
    return kernel(lines, buffers=["%a : 4 x 64"])


def nonlinear_tiles(depth: int) -> str:
    """Products of loop variables, which no affine set has."""
    index = " * ".join(f"(%i{n} + {n})" for n in range(depth))
    lines = [f"write %a[{index}..{index} + 8]", f"read %a[{index} + 4..{index} + 12]"]
    return kernel(nest(depth, "50", lines), buffers=["%a : 8388608"])


def xor_tiles(depth: int) -> str:
    """Swizzles with all their bits."""
    index = " + ".join(f"(%i{n} ^ {2**18 - 1 - n}) * 16" for n in range(depth))
    lines = [f"write %a[{index}..{index} + 16]", f"read %a[{index} + 8..{index} + 24]"]
    return kernel(nest(depth, "1000", lines), buffers=["%a : 33554432"])


def remainder_tiles(depth: int) -> str:
    """Subranges with remainders and quotients of sums."""
    index = " + ".join(f"(%i{n} * 17 + {n}) % 97 * 8 + %i{n} // 13 * 4" for n in range(depth))
    lines = [
        f"write %a[{index}..{index} + 8]",
        f"read %a[{index} + 4..{index} + 12]",
        "write %a[lane * 4..lane * 4 + 4]",
    ]
    return kernel(nest(depth, "1000", lines), buffers=["%a : 1048576"])


# ---------------------------------------------------------------- functions


def doubling_calls(count: int) -> str:
    """Functions that each call the one before twice: 2^count runs of the first."""
    functions = ["func @f0 {", "  shared %s : 64 at 0", "  write %s", "  read %s", "}"]
    for n in range(1, count):
        functions += [f"func @f{n} {{", f"  call @f{n - 1}", f"  call @f{n - 1}", "}"]
    return "\n".join(functions) + "\n" + kernel([f"call @f{count - 1}"])


def chained_calls(count: int) -> str:
    """Functions that each call the one before once."""
    functions = ["func @f0 {", "  shared %s : 64 at 0", "  write %s", "  read %s", "}"]
    for n in range(1, count):
        functions += [f"func @f{n} {{", "  shared %s : 64 at 0", "  write %s", f"  call @f{n - 1} at 8", "}"]
    return "\n".join(functions) + "\n" + kernel([f"call @f{count - 1}"])


def many_calls(count: int) -> str:
    """One function, called again and again at other addresses."""
    function = "func @f {\n  shared %s : 256 at 0\n  exchange %s\n}\n"
    return function + kernel([f"call @f at {n * 16 % 4096}" for n in range(count)])


def calls_in_loops(depth: int) -> str:
    """Functions with a loop that call functions with a loop."""
    functions = [
        "func @f0 {",
        "  shared %s : 3 x 64 at 0",
        "  loop %i in 0..? {",
        "    write %s[%i % 3]",
        "  }",
        "}",
    ]
    for n in range(1, depth):
        functions += [
            f"func @f{n} {{",
            "  shared %s : 5 x 64 at 0",
            "  loop %i in 0..? {",
            "    read %s[%i % 5]",
        ]
        functions += [f"    call @f{n - 1}", "  }", "}"]
    return "\n".join(functions) + "\n" + kernel([f"call @f{depth - 1}"])


# ---------------------------------------------------------------- labelled blocks


def ladder_of_blocks(count: int) -> str:
    """Blocks that each go on to the next or back to any one before: irreducible all over."""
    rng = random.Random(count)
    lines = ["br ^b0"]
    for n in range(count):
        lines += [f"^b{n}:", f"  {'write' if n % 3 else 'read'} %a[{n % 4}]"]
        following = f"^b{n + 1}" if n + 1 < count else "^end"
        lines += [f"  cond_br %c{n}, ^b{rng.randrange(count)}, {following}"]
    return kernel([*lines, "^end:", "  return"], buffers=["%a : 4 x 64"])


def diamonds_of_blocks(count: int) -> str:
    """Diamonds one after the other, with an edge back now and then."""
    lines = ["br ^s0"]
    for n in range(count):
        lines += [f"^s{n}:", f"  cond_br %c{n}, ^l{n}, ^r{n}", f"^l{n}:", "  write %a", f"  br ^j{n}"]
        lines += [f"^r{n}:", "  read %a", f"  br ^j{n}", f"^j{n}:"]
        lines += [f"  cond_br %d{n}, ^s{max(n - 5, 0)}, ^s{n + 1}"]
    return kernel([*lines, f"^s{count}:", "  return"])


def counters_of_blocks(sizes: list[int]) -> str:
    """A loop of blocks that forwards one counter for each ring."""
    names = ", ".join(f"%x{size}" for size in sizes)
    onward = ", ".join(f"select(%x{size} + 1 == {size}, 0, %x{size} + 1)" for size in sizes)
    lines = [
        f"br ^head({', '.join('0' for _ in sizes)})",
        f"^head({names}):",
        "  cond_br %more, ^body, ^end",
        "^body:",
    ]
    for size in sizes:
        lines += [f"  write %r{size}[%x{size}]", f"  read %r{size}[(%x{size} + 1) % {size}]"]
    lines += [f"  br ^head({onward})", "^end:", "  return"]
    return kernel(lines, buffers=[f"%r{size} : {size} x 64" for size in sizes])


def complete_graph(count: int) -> str:
    """Every block reaches every other, by trees of branches."""
    lines = ["br ^b0"]
    for n in range(count):
        lines += [f"^b{n}:", f"  {'write' if n % 2 else 'read'} %a[{n % 4}]", f"  br ^t{n}x0"]
        for m in range(count):
            onward = f"^t{n}x{m + 1}" if m + 1 < count else "^end"
            lines += [f"^t{n}x{m}:", f"  cond_br %c{n}x{m}, ^b{m}, {onward}"]
    return kernel([*lines, "^end:", "  return"], buffers=["%a : 4 x 64"])


# ---------------------------------------------------------------- copies, objects, groups of waves


def many_counters(count: int) -> str:
    """A counter of its own for each copy, and waits for all of them in a loop."""
    lines = ["loop %i in 0..? {"]
    for n in range(count):
        lines += [f"gather_to_lds %b{n} counter=c{n}"]
    lines += [f"read %b{n}" for n in range(count)]
    return kernel([*lines, "}"], buffers=[f"%b{n} : 64" for n in range(count)])


def many_groups(count: int) -> str:
    """Commit groups in flight at once, waited for far behind."""
    lines: list[str] = []
    for n in range(count):
        lines += [f"gather_to_lds %a[{n % 64}]", "commit load"]
        if n > 32:
            lines += ["wait_count load=31", "barrier", f"read %a[{(n - 32) % 64}]", "barrier"]
    return kernel(lines, buffers=["%a : 64 x 64"])


def copies_in_nests(depth: int, bound: str) -> str:
    """Copies on every level, which a wait on the innermost one has to count."""
    return kernel(
        nest(
            depth,
            bound,
            ["read %a[0]", "wait_count load=3", "read %a[1]"],
            lambda level: [f"gather_to_lds %a[{level % 4}]", f"gather_to_lds %a[(%i{level} + 1) % 4]"],
        ),
        buffers=["%a : 4 x 64"],
    )


def many_mbarriers(count: int, waves: int) -> str:
    """A ring of mbarriers, one for each slot."""
    lines = ["param %n", *(f"mbarrier_init %full[{n}] count=1" for n in range(count))]
    lines += [f"mbarrier_init %empty[{n}] count={waves - 1}" for n in range(count)]
    lines += [
        "barrier",
        f"if wave < {waves - 1} {{",
        "  loop %i in 0..%n {",
        f"    mbarrier_wait %full[%i % {count}] phase=%i // {count} % 2",
        f"    read %a[%i % {count}]",
        f"    mbarrier_arrive %empty[%i % {count}]",
        "  }",
        "} else {",
        "  loop %j in 0..%n {",
        f"    mbarrier_wait %empty[%j % {count}] phase=(%j // {count} + 1) % 2",
        f"    mbarrier_expect %full[%j % {count}] bytes=64",
        f"    tensor_load_to_lds %a[%j % {count}] arrives %full[%j % {count}] bytes=64",
        "  }",
        "}",
    ]
    return kernel(
        lines, buffers=[f"%a : {count} x 64", f"%full : {count} x 8", f"%empty : {count} x 8"], waves=waves
    )


def mbarrier_nest(depth: int, waves: int) -> str:
    """Loops up to parameters inside each other, with an mbarrier that all waves arrive on."""
    lines = [f"param %n{n}" for n in range(depth)]
    lines += [f"mbarrier_init %m count={waves}", "barrier"]
    begin = ["loop %i0 in 0..%n0 carry %p0 = 0 {"]
    begin += [f"loop %i{n} in 0..%n{n} carry %p{n} = %p{n - 1} {{" for n in range(1, depth)]
    inner = ["write %a[wave]", "mbarrier_arrive %m", f"mbarrier_wait %m phase=%p{depth - 1}", "read %a"]
    end = [f"next %p{depth - 1} + 1", "}"]
    for n in reversed(range(depth - 1)):
        end += [f"next %p{n + 1}", "}"]
    return kernel([*lines, *begin, *inner, *end], buffers=[f"%a : {waves} x 64", "%m : 8"], waves=waves)


def phase_shifted(rounds: str, barriers: int, waves: int) -> str:
    """Half of the waves run one barrier behind, through a long loop."""
    lines = [f"if wave >= {waves // 2} {{", "  workgroup_barrier", "}", f"loop %i in 0..{rounds} {{"]
    for n in range(barriers):
        lines += [f"  write %a[(%i + {n}) % 3]", "  barrier", f"  read %a[(%i + {n + 1}) % 3]"]
    lines += ["}", f"if wave < {waves // 2} {{", "  workgroup_barrier", "}"]
    return kernel(lines, buffers=["%a : 3 x 64"], waves=waves)


def phase_shifted_bare(accesses: int, bound: str, waves: int) -> str:
    """The same without barriers in the loop: all of them are missing."""
    lines = [f"if wave >= {waves // 2} {{", "  workgroup_barrier", "}", f"loop %i in 0..{bound} {{"]
    for n in range(accesses):
        lines += [f"  write %a[(%i + {n}) % 3]", f"  if %c{n} {{", f"    read %a[(%i + {n + 1}) % 3]", "  }"]
    lines += ["}", f"if wave < {waves // 2} {{", "  workgroup_barrier", "}"]
    return kernel(lines, buffers=["%a : 3 x 64"], waves=waves)


def shifted_groups(groups: int, waves: int) -> str:
    """Many groups of waves, each another number of barriers behind."""
    lines: list[str] = []
    for n in range(1, groups):
        lines += [f"if wave >= {n * waves // groups} {{", "  workgroup_barrier", "}"]
    lines += ["loop %i in 0..? {", "  write %a[%i % 5]", "  barrier", "  read %a[(%i + 2) % 5]", "}"]
    for n in range(1, groups):
        lines += [f"if wave < {n * waves // groups} {{", "  workgroup_barrier", "}"]
    return kernel(lines, buffers=["%a : 5 x 64"], waves=waves)


def split_barriers(count: int) -> str:
    """Split barriers across conditionals."""
    lines: list[str] = []
    for n in range(count):
        lines += [
            "write %a",
            f"signal {n % 8 + 1}",
            f"if %c{n} {{",
            "  read %b",
            "}",
            f"wait {n % 8 + 1}",
            "read %a",
        ]
    return kernel(lines, buffers=["%a : 64", "%b : 64"])


def redundant_barriers(count: int) -> str:
    """A barrier behind every line, in conditionals and loops."""
    rng = random.Random(count)
    lines: list[str] = []
    for n in range(count):
        access = f"{rng.choice(['read', 'write'])} %a[{rng.randrange(6)}]"
        lines += (
            [f"if %c{n} {{", f"  {access}", "  barrier", "}", "barrier"] if n % 3 else [access, "barrier"]
        )
    return kernel(["loop %i in 0..? {", *lines, "}"], buffers=["%a : 6 x 64"])


def by_wave(count: int, waves: int) -> str:
    """Bytes of each wave, asked about in a nest."""
    lines: list[str] = []
    for n in range(count):
        lines += [f"write %a[(wave * {n + 1} + %i0) % {waves}]", f"read %a[(wave + {n} + %i1) % {waves}]"]
    return kernel(nest(2, "?", lines), buffers=[f"%a : {waves} x 64"], waves=waves)


def unknown_everything(count: int) -> str:
    """Nothing is known: every slot, bound and condition."""
    lines: list[str] = []
    for n in range(count):
        lines += [
            f"loop %i{n} in 0..? {{",
            f"if %c{n} {{",
            "write %a[?]",
            "} else {",
            "gather_to_lds %a[?]",
            "}",
            "read %a[?]",
        ]
    return kernel([*lines, *["}"] * count], buffers=["%a : 8 x 64"])


def barriers_in_a_row(count: int, bound: str) -> str:
    """A barrier between any two accesses, in a loop: each of them covers what the next one would, too."""
    lines = [f"loop %i in 0..{bound} {{"]
    for n in range(count):
        lines += [f"write %a[(%i + {n}) % 3]", "barrier", f"read %a[(%i + {n + 2}) % 3]", "barrier"]
    return kernel([*lines, "}"], buffers=["%a : 3 x 64"])


def barriers_for_many(count: int) -> str:
    """Writes of many buffers, a few barriers, reads of all of them: every barrier stands for all hazards."""
    lines = [f"write %b{n}" for n in range(count)]
    lines += ["if %c {", "barrier", "} else {", "barrier", "}"]
    lines += [f"read %b{count - 1 - n}" for n in range(count)]
    return kernel(
        ["loop %i in 0..? {", *lines, "barrier", "}"], buffers=[f"%b{n} : 64" for n in range(count)]
    )


def long_gemm(count: int) -> str:
    """A loop that multiplies, with as many operations as fit."""
    lines = ["%c = compute", "loop %i in 0..? carry %s0 = %c {"]
    for n in range(count):
        lines += [f"%g{n} = global_read", f"write %a[{n % 8}], %g{n}"]
        lines += [
            f"%x{n} = read %a[{n % 8}]",
            f"%y{n} = read %b[{n % 8}]",
            f"%s{n + 1} = mma %x{n}, %y{n}, %s{n}",
        ]
    lines += [f"next %s{count}", "}"]
    return kernel(lines, buffers=["%a : 8 x 64", "%b : 8 x 64"], waves=8)


def chain_of_waves(count: int, waves: int) -> str:
    """`if wave == 0 ... else if wave == 1 ...`, again and again."""
    lines: list[str] = []
    for n in range(count):
        for wave in range(waves):
            lines += [f"if wave == {wave} {{", f"write %a[{(wave + n) % 8}]", "} else {"]
        lines += [f"read %a[{n % 8}]", *["}"] * waves]
    return kernel(lines, buffers=["%a : 8 x 64"], waves=waves + 1)


def waits_with_counts(count: int) -> str:
    """Copies, each followed by a wait that leaves another number of them outstanding."""
    lines: list[str] = []
    for n in range(count):
        lines += [f"gather_to_lds %a[{n % 64}] counter=c{n % 3}", f"wait_count c{n % 3}={n * 7 % 40}"]
        lines += [f"read %a[{n * 5 % 64}]"] if n % 4 == 0 else []
    return kernel(["loop %i in 0..? {", *lines, "}"], buffers=["%a : 64 x 64"])


def ring_in_nests(depth: int, slots: int, waves: int) -> str:
    """A ring of mbarriers whose counter is carried through a nest of loops, on both sides."""
    lines = [f"param %n{n}" for n in range(depth)]
    lines += [f"mbarrier_init %full[{n}] count=1" for n in range(slots)]
    lines += [f"mbarrier_init %empty[{n}] count={waves - 1}" for n in range(slots)]

    def side(name: str, inner: list[str]) -> list[str]:
        found: list[str] = []
        for n in range(depth):
            begin = f"%{name}{n - 1}" if n else "0"
            found += [f"loop %{name}i{n} in 0..%n{n} carry %{name}{n} = {begin} {{"]
        found += inner
        for n in reversed(range(depth)):
            found += [f"next %{name}{n + 1}" if n + 1 < depth else f"next %{name}{n} + 1", "}"]
        return found

    count, made = f"%c{depth - 1}", f"%p{depth - 1}"
    lines += ["barrier", f"if wave < {waves - 1} {{"]
    lines += side(
        "c",
        [
            f"mbarrier_wait %full[{count} % {slots}] phase={count} // {slots} % 2",
            f"read %a[{count} % {slots}]",
            f"mbarrier_arrive %empty[{count} % {slots}]",
        ],
    )
    lines += ["} else {"]
    lines += side(
        "p",
        [
            f"mbarrier_wait %empty[{made} % {slots}] phase=({made} // {slots} + 1) % 2",
            f"mbarrier_expect %full[{made} % {slots}] bytes=64",
            f"tensor_load_to_lds %a[{made} % {slots}] arrives %full[{made} % {slots}] bytes=64",
        ],
    )
    return kernel(
        [*lines, "}"],
        buffers=[f"%a : {slots} x 64", f"%full : {slots} x 8", f"%empty : {slots} x 8"],
        waves=waves,
    )


def calls_loops_and_copies(depth: int, calls: int) -> str:
    """Functions with copies and waits in loops that call each other several times."""
    functions = ["func @f0 {", "  shared %s : 4 x 64 at 0", "  loop %i in 0..? {"]
    functions += [
        "    gather_to_lds %s[%i % 4]",
        "    wait_count load=2",
        "    read %s[(%i + 2) % 4]",
        "  }",
        "}",
    ]
    for n in range(1, depth):
        functions += [f"func @f{n} {{", "  shared %s : 2 x 64 at 256", "  loop %i in 0..? {"]
        functions += [
            "    write %s[%i % 2]",
            *[f"    call @f{n - 1}"] * calls,
            "    read %s[(%i + 1) % 2]",
            "  }",
            "}",
        ]
    return "\n".join(functions) + "\n" + kernel([f"call @f{depth - 1}"])


BIG = 999_999_999_999_999_999
PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23]

KERNELS: Kernels = {
    "affine-tiles": lambda: affine_tiles(8, 64),
    "affine-tiles-64": lambda: affine_tiles(64, 64),
    "affine-variants": lambda: affine_variants(24, 3),
    "affine-variants-deep": lambda: affine_variants(12, 8),
    "ring-sums": lambda: rings_of_sums(4, 8, "?"),
    "ring-sums-known": lambda: rings_of_sums(5, 16, "1000"),
    "ring-sums-deep": lambda: rings_of_sums(9, 7, "?"),
    "loops-9-huge": lambda: deep_loops(9, str(BIG)),
    "loops-76": lambda: deep_loops(76, "100"),
    "loops-200": lambda: deep_loops(200, "?"),
    "loops-1000": lambda: deep_loops(1000, "2"),
    "accesses-60-deep": lambda: deep_accesses(60, "7"),
    "accesses-300-deep": lambda: deep_accesses(300, "?"),
    "rings-12-deep": lambda: deep_rings(12, "?"),
    "rings-6-deep-known": lambda: deep_rings(6, "1000"),
    "carried-8-deep": lambda: deep_carried(8),
    "huge-trip": lambda: huge_trip_slots(BIG),
    "huge-numbers": huge_numbers,
    "coprime-rings": lambda: coprime_rings(PRIMES, "?"),
    "coprime-rings-known": lambda: coprime_rings([61, 59, 53, 47, 43], "1000000"),
    "coprime-counters": lambda: coprime_counters(PRIMES),
    "rotated-buffers": lambda: rotated_buffers(60),
    "shuffled-buffers": lambda: shuffled_buffers(7),
    "copies-10k": lambda: straight_copies(10_000),
    "copies-50k": lambda: straight_copies(50_000),
    "accesses-20k": lambda: straight_accesses(20_000, 200),
    "subranges-3k": lambda: straight_subranges(3_000),
    "values-10k": lambda: straight_used(5_000),
    "loop-of-copies": lambda: loop_of_copies(400, "?"),
    "loop-of-copies-known": lambda: loop_of_copies(150, "12"),
    "buffers-1500": lambda: many_buffers(1_500),
    "loops-in-a-row": lambda: many_loops(500),
    "conditionals-300": lambda: wide_conditionals(300),
    "conditionals-3000": lambda: wide_conditionals(3_000, sides=False),
    "giving-20": lambda: conditionals_that_give(20, 64),
    "choices-24": lambda: independent_choices(24),
    "conditions-on-a-parameter": lambda: correlated_conditions(24),
    "parameters-12": lambda: many_parameters(12),
    "conditions-by-wave": lambda: conditions_by_wave(300, 32),
    "iterations-of-waves": lambda: iterations_of_waves(3, 32),
    "sides-that-agree": lambda: sides_that_agree(24, 32),
    "conditionals-200-deep": lambda: deep_conditionals(200),
    "conditionals-1000-deep": lambda: deep_conditionals(1000),
    "divergence-30-deep": lambda: deep_divergence(30, 64),
    "divergence-row": lambda: divergent_row(150, 64),
    "long-expressions": lambda: long_expressions(60),
    "nested-expressions": lambda: nested_expressions(12, "?"),
    "nested-expressions-known": lambda: nested_expressions(12, str(BIG)),
    "products": lambda: nonlinear_tiles(4),
    "swizzles": lambda: xor_tiles(4),
    "remainders": lambda: remainder_tiles(4),
    "calls-doubling-40": lambda: doubling_calls(40),
    "calls-doubling-14": lambda: doubling_calls(14),
    "calls-chained": lambda: chained_calls(300),
    "calls-many": lambda: many_calls(3_000),
    "calls-in-loops": lambda: calls_in_loops(12),
    "blocks-ladder": lambda: ladder_of_blocks(400),
    "blocks-diamonds": lambda: diamonds_of_blocks(300),
    "blocks-counters": lambda: counters_of_blocks(PRIMES[:7]),
    "blocks-complete": lambda: complete_graph(24),
    "counters-100": lambda: many_counters(100),
    "groups-300": lambda: many_groups(300),
    "copies-in-nests": lambda: copies_in_nests(8, "?"),
    "copies-in-nests-known": lambda: copies_in_nests(5, "9"),
    "mbarriers-16": lambda: many_mbarriers(16, 9),
    "mbarrier-nest": lambda: mbarrier_nest(4, 64),
    "phase-shifted": lambda: phase_shifted("?", 12, 64),
    "phase-shifted-long": lambda: phase_shifted("100000", 6, 8),
    "phase-shifted-bare": lambda: phase_shifted_bare(40, "?", 8),
    "phase-groups": lambda: shifted_groups(8, 64),
    "split-barriers": lambda: split_barriers(100),
    "redundant-barriers": lambda: redundant_barriers(300),
    "by-wave": lambda: by_wave(8, 64),
    "unknown-everything": lambda: unknown_everything(30),
    "barriers-2000": lambda: barriers_in_a_row(1_000, "?"),
    "barriers-6000-known": lambda: barriers_in_a_row(3_000, "64"),
    "barriers-for-many": lambda: barriers_for_many(700),
    "gemm-long": lambda: long_gemm(400),
    "waves-chain": lambda: chain_of_waves(6, 63),
    "waits-with-counts": lambda: waits_with_counts(1_500),
    "mbarrier-ring-nests": lambda: ring_in_nests(4, 5, 9),
    "calls-loops-copies": lambda: calls_loops_and_copies(6, 3),
}
