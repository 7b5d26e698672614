"""Tables of the device whose initial values the host may change before a kernel starts (`cudaMemcpyToSymbol`)."""

from __future__ import annotations

import re

from fencepost.hosts.ptx.cuda_source.host_code import without_comments
from fencepost.hosts.ptx.launches.launch_sites import of_the_host
from fencepost.hosts.ptx.reading.kernel_names import plain_name

_TABLE = re.compile(
    r"^((?:\.\w+ )*\.(?:const|global)\b[^=\n]*?([\w$]+)(?:\[\d*\])*) = (?:\{[^}\n]*\}|[^;{\n]*);",
    re.MULTILINE,
)
_DECLARED = re.compile(r"\b__(?:constant|device)__\b[^;]*;")


def without_changed_values(ptx: str, cuda: str) -> str:
    """PTX in which tables that the host's code in `cuda` names have no initial values: it may store others there."""
    host = None

    def kept(match: re.Match[str]) -> str:
        nonlocal host
        if host is None:
            host = _DECLARED.sub(" ", of_the_host(without_comments(cuda)))
        name = re.escape(re.split(r"::|<", plain_name(match[2]))[-1])
        # The driver is asked for a variable by a string, which may be its mangled name.
        named = re.search(rf"\b{name}\b", host) or re.search(rf'"[^"\n]*{name}[^"\n]*"', cuda)
        return f"{match[1]};" if named else match[0]

    return _TABLE.sub(kept, ptx)
