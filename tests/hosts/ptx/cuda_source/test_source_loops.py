"""The loops of CUDA code, by their lines."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.cuda_source.source_loops import is_in_every_iteration, loop_around_both, loops_around

TEXT = """\
__global__ void k(int *a, int n) {
    for (int i = 0; i < n; ++i) {  // for nothing
        a[i] = 1;
        #pragma unroll
        for (int j = 0; j < 4; ++j)
            a[j] += i;
        if (i & 1)
            a[i] = 2;
        if (i & 2) {
            a[i] = 3;
        }
        while (a[i]) ;
        a[i] = 4;
    }
    do {
        a[0]++;
        if (a[0] == 7) continue;
        a[1]++;
    } while (n--);
    while (a[2]) { a[2]--; }
    for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j)
        if (i < j)
            a[i] = j;
        else
            a[j] = i;
    a[0] = 5;
}
"""


@pytest.mark.parametrize(
    ("line", "loops"),
    [
        *((1, []), (2, []), (3, [2]), (5, [2]), (6, [2, 5]), (8, [2]), (10, [2]), (13, [2]), (15, [])),
        *((16, [15]), (18, [15]), (20, [20]), (22, [21, 21]), (25, [21, 21]), (26, [])),
    ],
)
def test_the_loops_around_a_line(line: int, loops: list[int]) -> None:
    assert [each.line for each in loops_around(TEXT, line)] == loops


def test_the_innermost_loop_around_two_lines_and_where_a_line_can_be_put() -> None:
    loop = loop_around_both(TEXT, 6, 3)
    assert loop is not None and (loop.line, loop.first, loop.last, loop.has_room) == (2, 3, 14, True)
    inner, one_line = loop_around_both(TEXT, 6, 6), loop_around_both(TEXT, 20, 20)
    assert inner is not None and (inner.line, inner.has_room) == (5, False)
    assert one_line is not None and not one_line.has_room
    assert loop_around_both(TEXT, 3, 16) is None


@pytest.mark.parametrize(
    ("line", "every"), [(3, True), (8, False), (10, False), (13, True), (16, True), (18, False)]
)
def test_what_each_iteration_comes_to(line: int, every: bool) -> None:
    (loop,) = loops_around(TEXT, line)
    assert is_in_every_iteration(TEXT, loop, line) == every
