"""Kernels that another file of the folder launches."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.hosts.ptx.files import UserOptions, judgements, read_file
from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.ir.source import FencepostError, Source

REVERSE = """
#include "sizes.h"
TEMPLATE __global__ void reverse(int *data) {
    __shared__ int s[THREADS];
    s[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = s[255 - threadIdx.x];
}
"""
MAIN = '#include "sizes.h"\n__global__ void reverse(int *data);\nint main() { reverse<<<1, THREADS>>>(nullptr); }\n'


def held_for(folder: Path, template: str = "", **files: str) -> list[str]:
    """For what the kernels of `kernels.cu` are judged, with other files beside it."""
    (folder / "sizes.h").write_text("#define THREADS 256\n")
    for name, text in files.items():
        (folder / f"{name}.cu").write_text(text)
    path = folder / "kernels.cu"
    path.write_text(REVERSE.replace("TEMPLATE", template))
    file = read_file(str(path), Source(str(path), path.read_text()), UserOptions(as_compiled=True))
    every = list(judgements(file))
    return [
        f"{each.verdict.kernel}: {each.verdict.holds_for}" for each in every if isinstance(each, JudgedPtx)
    ]


def test_the_block_is_that_of_a_launch_in_another_file(tmp_path: Path) -> None:
    (said,) = held_for(tmp_path, main=MAIN)
    assert said.endswith(
        "blocks of 256 threads; every value of the parameters; the block is that of its launch in main.cu"
    )


@pytest.mark.parametrize(
    "other",
    [
        # It makes a kernel of that name itself.
        "__global__ void reverse(int *data) {}\nint main() { reverse<<<1, 64>>>(nullptr); }\n",
        # It does not launch it.
        "int main() { reversed<<<1, 64>>>(nullptr); } // reverse<<<1, 64>>>(nullptr);\n",
    ],
)
def test_other_files_that_say_nothing_of_it(tmp_path: Path, other: str) -> None:
    (said,) = held_for(tmp_path, other=other)
    assert "its launch" not in said


def test_files_that_disagree_name_both_blocks(tmp_path: Path) -> None:
    (said,) = held_for(tmp_path, main=MAIN, small=MAIN.replace("1, THREADS", "1, 128"))
    assert "the block is that of" not in said


def test_another_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    (before,) = held_for(tmp_path, main=MAIN)
    (after,) = held_for(tmp_path, main="int main() {}\n")
    assert "the block is that of its launch in main.cu" in before
    assert "main.cu" not in after


@pytest.mark.parametrize(("taken", "named"), [("reverse", False), ("reversed", True)])
def test_a_file_that_takes_the_address_may_launch_it_otherwise(
    tmp_path: Path, taken: str, named: bool
) -> None:
    other = "__global__ void reverse(int *data);\nvoid run() { cudaLaunchKernel((void *)TAKEN, 1, 64, 0, 0, 0); }\n"
    (said,) = held_for(tmp_path, main=MAIN, other=other.replace("TAKEN", taken))
    assert ("the block is that of its launch in main.cu" in said) == named


def test_an_instance_of_a_template_that_another_file_launches(tmp_path: Path) -> None:
    launch = '#include "kernels.cu"\nint main() { reverse<float><<<1, THREADS>>>(nullptr); }\n'
    (said,) = held_for(tmp_path, "template <class T>", main=launch)
    assert said.startswith("reverse<float>: ") or "reverseIfE" in said
    assert said.endswith("the block is that of its launch in main.cu")


def test_a_file_that_is_a_part_of_another_does_not_compile_alone(tmp_path: Path) -> None:
    path = tmp_path / "part.cu"
    path.write_text("__global__ void k(real *data) { data[threadIdx.x] = 0; }\n")
    (tmp_path / "whole.cu").write_text('#define real float\n#include "part.cu"\n')
    with pytest.raises(FencepostError, match="does not compile") as error:
        read_file(str(path), Source(str(path), path.read_text()), UserOptions())
    assert ("help", "whole.cu includes this file: check that one") in error.value.notes
