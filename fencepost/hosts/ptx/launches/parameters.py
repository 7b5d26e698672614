"""Parameters of kernels by name: PTX numbers them (`gemm_param_3`), CUDA says what each is called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fencepost.did_you_mean import close
from fencepost.hosts.ptx.cuda_source.host_code import without_comments
from fencepost.hosts.ptx.launches.launch import BOX
from fencepost.hosts.ptx.reading.kernel_names import function_name, plain_name
from fencepost.ir.source import FencepostError

_NAME = re.compile(r"(\w+)\s*(?:\[[^]]*\]\s*)?(?:=[^,]*)?$")


def parameter_names(cuda: str, kernel: str) -> tuple[str, ...]:
    """What a CUDA file calls the parameters of a kernel; none if the kernel is not found."""
    bare = function_name(kernel)
    seen = without_comments(cuda)
    match = re.search(rf"__global__[^;{{}}]*?\b{re.escape(bare)}\s*\(", seen)
    if match is None:
        return ()
    depth, begin, found = 1, match.end(), []
    for at in range(match.end(), len(seen)):
        depth += {"(": 1, "<": 1, "[": 1, ")": -1, ">": -1, "]": -1}.get(seen[at], 0)
        if (seen[at] == "," and depth == 1) or depth == 0:
            found.append(seen[begin:at].strip())
            begin = at + 1
        if depth == 0:
            break
    names = (_NAME.search(each) for each in found)
    return tuple(each[1] if each else "" for each in names)


def numbered(
    given: Mapping[str, int], kernel: str, names: Sequence[str], in_ptx: Sequence[str]
) -> dict[str, int]:
    """Values by the names that PTX has; a parameter is given by its name in CUDA or PTX, or by its number."""
    result = {}
    for whole, value in given.items():
        name, box, _ = whole.partition(BOX)
        if name in in_ptx:
            result[name + box] = value
        elif name in names:
            result[f"{kernel}_param_{names.index(name)}{box}"] = value
        elif name.isdigit() and int(name) < len(in_ptx):
            result[in_ptx[int(name)] + box] = value
        else:
            raise _unknown(name, kernel, names or in_ptx)
    return result


def parameters_in(ptx: str, kernel: str) -> tuple[str, ...]:
    """The parameters of a kernel as PTX names them, in order."""
    match = re.search(rf"\.entry\s+{re.escape(kernel)}\s*\(([^)]*)\)", ptx)
    return (
        tuple(re.findall(r"\.param[^,)]*?([\w$]+)(?:\[\d+\])?\s*(?:,|$)", match[1].strip())) if match else ()
    )


def refuse_too_large(params: Mapping[str, int], kernel: str, names: Sequence[str], ptx: str) -> None:
    """A number that a parameter cannot hold would be another one in the kernel; `params` are named as in PTX."""
    head = re.search(rf"\.entry\s+{re.escape(kernel)}\s*\(([^)]*)\)", ptx)
    for bits, name in re.findall(r"\.[bus](\d+)\s+([\w$]+)", head[1] if head is not None else ""):
        value = params.get(name, 0)
        if not -(1 << int(bits) - 1) <= value < 1 << int(bits):
            number = name.rpartition("_")[2]
            called = names[int(number)] if number.isdigit() and int(number) < len(names) else name
            raise FencepostError(f"{value} does not fit into {called}, which has {bits} bits", code="FP104")


def _unknown(name: str, kernel: str, known: Sequence[str]) -> FencepostError:
    notes = [("help", f"did you mean `{each}`?") for each in close(name, known)]
    if known and not notes:
        notes = [("help", f"it has {', '.join(known)}")]
    return FencepostError(f"{plain_name(kernel)} has no parameter {name}", code="FP104", notes=notes)
