"""Races that runs show with numbers of their own, where the launches in the file give others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import CommandLine

# Half as many threads as words: with fewer words than the launch gives, the second array begins inside of the first.
HALVES = """
__global__ void halves(float *out, const float *in, int size) {
    extern __shared__ float words[];
    float *a = words, *b = words + size;
    int t = threadIdx.x, half = size / 2;
    a[t] = in[t];
    a[t + half] = in[t + half];
    b[t] = in[t];
    BARRIER
    out[t] = a[t ^ 1] + READ;
}
int main(int argc, char **argv) { halves<<<1, 64, 1024>>>(nullptr, nullptr, SIZE); OTHER }
"""


@pytest.mark.parametrize(
    ("size", "barrier", "other", "expected", "said"),
    [
        ("128", "__syncthreads();", "", "proven", "size = 128; block and numbers are those of its launch"),
        ("128", "", "", "race", "size = 128; block and numbers are those of its launch"),
        ("64", "__syncthreads();", "", "race", ""),
        # Nothing says how many words there are.
        ("atoi(argv[1])", "__syncthreads();", "", "race", ""),
        ("128", "__syncthreads();", "halves<<<1, 64>>>(nullptr, nullptr, 64);", "race", ""),
    ],
)
# Where nobody reads the second array, it is there without optimization alone.
@pytest.mark.parametrize("read", ["b[63 - t]", "0"])
def test_races_with_numbers_that_no_launch_gives_are_none(
    tmp_path: Path,
    fencepost: CommandLine,
    size: str,
    barrier: str,
    other: str,
    expected: str,
    said: str,
    read: str,
) -> None:
    text = HALVES.replace("SIZE", size).replace("BARRIER", barrier).replace("OTHER", other)
    (tmp_path / "k.cu").write_text(text.replace("READ", read), encoding="utf-8")
    (found,) = json.loads(fencepost("check", str(tmp_path / "k.cu"), "--json").out)
    assert found["verdict"] == expected
    if read != "0":
        assert said in found["holds_for"]
