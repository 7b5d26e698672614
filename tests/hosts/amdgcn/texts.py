"""Small assembly files for the tests."""

from __future__ import annotations

from fencepost.hosts.amdgcn.instructions import steps_of
from fencepost.hosts.amdgcn.reader import Function, read_assembly
from fencepost.hosts.amdgcn.steps import Steps

HEAD = """\
\t.amdgcn_target "amdgcn-amd-amdhsa--{target}"
\t.text
\t.type\tkernel,@function
kernel:
"""
TAIL = """\
\ts_endpgm
.Lfunc_end0:
\t.amdhsa_kernel kernel
\t.end_amdhsa_kernel
"""
FIRST = len(HEAD.splitlines()) + 1
"""The line that the body begins on."""


def file_of(body: str, target: str = "gfx942") -> str:
    """A file with one kernel. In the body, a line `@ n` says that what follows is of operation n."""
    lines: list[str] = []
    for line in body.strip("\n").splitlines():
        text = line.strip()
        if text.startswith("@ "):
            lines.append(f"\t.loc\t1 7 {text[2:]}")
        else:
            lines.append(text if text.endswith(":") or text.startswith("; %bb") else f"\t{text}")
    return HEAD.format(target=target) + "\n".join(lines) + "\n" + TAIL


def kernel_of(body: str, target: str = "gfx942") -> Function:
    """The kernel of such a file."""
    (function,) = read_assembly(file_of(body, target))
    return function


def program_of(body: str, target: str = "gfx942") -> Steps:
    """The same as steps."""
    return steps_of(kernel_of(body, target))
