"""Where barriers may be put into CUDA code, without a parser of C++."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.cuda_source.cuda_statements import places_before, without_barrier

LOOP = """\
__global__ void k(int *a, int n) {
    __shared__ int s[256];
    for (int i = 0; i < n; i++) {
        s[threadIdx.x] = a[i];
        for (int j = 0; j < 256; j++)
            a[j] += s[j];
    }
}
"""


def words(text: str, line: int, after: int | None = None) -> list[str]:
    """What follows each place, up to the end of its line."""
    return [text[place:].split("\n")[0] for place in places_before(text, line, after)]


def test_a_body_without_braces_belongs_to_its_loop() -> None:
    assert "a[j] += s[j];" not in words(LOOP, 6)


def test_places_in_fewer_loops_come_first_and_then_near_ones() -> None:
    """The last one is where the loop around the line begins: a barrier there is between two iterations."""
    assert words(LOOP, 6) == [
        "for (int i = 0; i < n; i++) {",
        "for (int j = 0; j < 256; j++)",
        "s[threadIdx.x] = a[i];",
    ]


def test_a_place_before_both_lines_is_between_them_in_their_loop_only() -> None:
    assert words(LOOP, 4, after=6) == ["s[threadIdx.x] = a[i];"]
    assert words(LOOP, 6, after=4) == ["for (int j = 0; j < 256; j++)", "s[threadIdx.x] = a[i];"]


@pytest.mark.parametrize(
    "code",
    [
        "if (t) a[0] = 1;\n    else a[0] = s[1];",
        "do { a[0]++; }\n    while (s[1]);",
        "if (t)\n    a[0] = s[1];",
        "for (int i = 0;\n    i < s[1]; i++) a[i] = 0;",
        "x = f(1,\n    s[1]);",
        "int x[] = {1,\n    s[1]};",
        "a[0] = 1 // a comment;\n    + s[1];",
    ],
)
def test_nothing_is_put_into_the_middle_of_a_statement(code: str) -> None:
    text = f"__global__ void k() {{\n    {code}\n}}\n"
    assert all(place <= text.index(code) for place in places_before(text, 3))


def test_a_barrier_is_commented_out_and_its_semicolon_stays() -> None:
    text = "if (n > 1) __syncthreads(); // __syncthreads()\nx = 1;\n"
    assert without_barrier(text, 1) == "if (n > 1) /* __syncthreads() */; // __syncthreads()\nx = 1;\n"


@pytest.mark.parametrize("line", ["SYNC;", "__syncthreads(); __syncthreads();", "// __syncthreads();", ""])
def test_what_is_not_one_barrier_is_left_alone(line: str) -> None:
    assert without_barrier(f"{line}\n", 1) is None
