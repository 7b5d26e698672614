"""Which instances of kernel templates the host code of a CUDA file launches, asked of the compiler.

What a template is launched with can be a local constant, a type deduced from an argument, or a parameter of
another template: a compiler knows, and a text search does not. So functions of the host are compiled as if they
were functions of the device, where kernels can be launched as well, without the statements that the device has no
functions for. Of what is compiled like that, the names of the kernels are used, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fencepost.hosts.ptx.compiler.compiler_process import Attempt
from fencepost.hosts.ptx.cuda_source.cuda_sources import CudaSources
from fencepost.hosts.ptx.cuda_source.host_headers import HOST_HEADER, host_header
from fencepost.hosts.ptx.cuda_source.host_statements import ErrorPlace, HostStatements
from fencepost.hosts.ptx.reading.kernel_names import instance_name, kernels_in

MOST_ATTEMPTS = 24
"""How often the host code is compiled at most; each time the compiler names up to a hundred errors."""
SECONDS = 15.0
"""After so much processor time the host code is not compiled once more."""
_ERROR = re.compile(
    r"^(?P<file>[^\n]*?)\((?P<line>\d+)\): (?:catastrophic )?error:(?P<said>[^\n]*)\n"
    r"(?:[^\n]+\n){1,6}?(?P<caret> *)\^",
    re.MULTILINE,
)
_QUOTED = re.compile(r'"(\w+)"')
_INDENT = 2
"""The compiler indents the lines that it quotes."""

Run = Callable[[CudaSources], Attempt]


@dataclass(frozen=True, slots=True)
class CompiledLaunches:
    """What the compiler has said about the launches of a file."""

    instances: tuple[str, ...] = ()
    """Instances of kernel templates that are launched, as `reduce<256>`."""
    lost: frozenset[str] = frozenset()
    """Kernels with a launch that could not be compiled."""


def compiled_launches(sources: CudaSources, run: Run) -> CompiledLaunches | None:
    """What is launched, as far as the compiler gets; None if it gets nowhere."""
    texts = {sources.name: HostStatements.of(sources.text)}
    texts |= {name: HostStatements.of(sources.headers[name]) for name in sources.files}
    sources.headers[HOST_HEADER] = host_header()
    sources.first.append(HOST_HEADER)
    seconds = 0.0
    for _ in range(MOST_ATTEMPTS):
        if seconds > SECONDS:
            break
        sources.text = texts[sources.name].text
        sources.headers |= {name: texts[name].text for name in sources.files}
        attempt = run(sources)
        seconds += attempt.seconds
        if attempt.ptx is not None:
            names = [instance_name(each) for each in kernels_in(attempt.ptx)]
            instances = tuple(dict.fromkeys(each for each in names if each is not None))
            return CompiledLaunches(instances, frozenset().union(*(each.lost for each in texts.values())))
        if not sources.leave_out_headers(attempt.log) and not _leave_out(texts, sources.files, attempt.log):
            break
    return None


def _leave_out(texts: dict[str, HostStatements], files: dict[str, Path], log: str) -> bool:
    """Leave out of the texts what the compiler stumbles over."""
    named = {str(path): name for name, path in files.items()}
    places: dict[str, list[ErrorPlace]] = {}
    for error in _ERROR.finditer(log):
        file = named.get(error["file"], error["file"])
        if file not in texts:
            continue  # It follows from another one, or nothing can be done about it.
        column = max(len(error["caret"]) - _INDENT, 0) + 1
        name = _QUOTED.findall(error["said"])[-1:]
        places.setdefault(file, []).append(ErrorPlace(int(error["line"]), column, *name))
    changed = [texts[file].leave_out(where) for file, where in places.items()]
    return any(changed)
