"""The files that a CUDA file is made of, without what only the host can use.

NVRTC compiles device code alone. Functions of the host are blanked out beforehand, in the file itself and in the
headers of its own that it includes (`host_code`). Whatever else the compiler stumbles over goes once it has said so:
types and variables of the host, and headers of libraries for the host. A header that is not there counts as empty.

Nothing can go wrong unnoticed by that: what a kernel uses of it, the compiler misses. What was left out is told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.hosts.ptx.cuda_source.annotations import ANNOTATIONS, NAMES
from fencepost.hosts.ptx.cuda_source.device_macros import DeviceMacros, device_macros
from fencepost.hosts.ptx.cuda_source.gnu_names import GNU_NAMES
from fencepost.hosts.ptx.cuda_source.host_code import DeviceCode, device_code
from fencepost.hosts.ptx.cuda_source.host_declarations import without_host_declarations
from fencepost.hosts.ptx.cuda_source.older_names import OLDER_NAMES
from fencepost.hosts.ptx.cuda_source.standard_headers import (
    BYTES,
    EMPTY,
    STANDARD_FUNCTIONS,
    THRUST,
    standard_headers,
)
from fencepost.ir.source import Source

ERROR = re.compile(
    r"^(?P<file>[^\n]*?)\((?P<line>\d+)\): (?:catastrophic )?error: (?P<text>.*)$", re.MULTILINE
)
_MISSING = re.compile(r'cannot open source file "([^"\n]+)"')
_INCLUDE = re.compile(r"""^[ \t]*\#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)""", re.MULTILINE)
_UNSUPPORTED = re.compile(r"Including <([^>\n]+)> is not supported when compiling with NVRTC")
_UNDEFINED = re.compile(
    r'(?:identifier|namespace "(?:std|cub)" has no member(?: \w+)*|incomplete type) '
    r'"(\w+)"(?: is undefined| is not allowed|)'
)
_NO_TEMPLATE = re.compile(r"error: (\w+) is not a template")
_USUAL = {
    "stdint.h": re.compile(r"u?int(?:8|16|32|64|ptr|max)_t|ptrdiff_t"),
    "sys/types.h": re.compile(r"uint|ushort|ulong|ssize_t|off_t|u_int\d+_t"),
    "limits.h": re.compile(r"U?(?:CHAR|SHRT|INT|LONG|LLONG)_(?:MAX|MIN)|CHAR_BIT"),
    "float.h": re.compile(r"(?:FLT|DBL)_(?:MAX|MIN|EPSILON)"),
    "cmath": re.compile(r"M_\w+|INFINITY|NAN|HUGE_VALF?"),
    STANDARD_FUNCTIONS: re.compile(
        r"(?:f?abs|sqrt|cbrt|hypot|pow|exp2?|expm1|log(?:2|10|1p|b)?|a?(?:sin|cos|tan)h?|atan2|erfc?|[lt]gamma|ceil|floor"
        r"|l?l?round|l?l?rint|nearbyint|trunc|fmod|remainder|fma|f(?:min|max|dim)|is(?:nan|inf|finite|normal)|signbit"
        r"|copysign|ldexp|frexp|modf|scalbn|nextafter)[fl]?"
    ),
    "algorithm": re.compile(r"min|max|minmax|clamp|fill|fill_n|copy|(?:lower|upper)_bound"),
    "utility": re.compile(r"pair|make_pair|swap|move|forward|exchange|index_sequence|make_index_sequence"),
    "limits": re.compile(r"numeric_limits"),
    "type_traits": re.compile(r"(?:is|enable|remove|conditional|add)_\w+|true_type|false_type|conditional"),
    "tuple": re.compile(r"tuple|make_tuple|tie"),
    "array": re.compile(r"array"),
    "cuda_device_runtime_api.h": re.compile(r"cuda(?:Stream|Event)(?:CreateWithFlags|Destroy)"),
    BYTES: re.compile(r"mem(?:cpy|set)"),
    "cuComplex.h": re.compile(r"cu(?:Double|Float)?Complex|make_cu\w+|cuC\w+"),
    "math_constants.h": re.compile(r"CUDART_\w+"),
    "cuda_fp16.h": re.compile(r"(?:__)?half2?|__\w*half2?\w*"),
    "cuda_bf16.h": re.compile(r"(?:__)?nv_bfloat162?|__\w*bfloat16\w*"),
    ANNOTATIONS: NAMES,
    **{name: names for name, (_, names) in (OLDER_NAMES | GNU_NAMES).items()},
}
"""Headers that CUDA's own include for nvcc, by the names that they define: files can do without including them."""
_FOR_THE_HOST = re.compile(r"thrust/|cub/device/|cuda/experimental/")
"""Headers of CUDA whose algorithms the host calls: NVRTC compiles some of them, and stops at others."""


@dataclass(slots=True)
class CudaSources:
    """A CUDA file and its headers, as NVRTC gets them."""

    name: str
    text: str
    headers: dict[str, str]
    """Texts by the name that they are included by: standard headers, and the user's own."""
    files: dict[str, Path]
    """Where those of the user's own are."""
    written: str
    """All that the user has written: the file and the headers of its own, one after the other."""
    left_out: list[str] = field(default_factory=list)
    """Declarations of the host."""
    macros: DeviceMacros = field(default_factory=dict)
    """Macros of the file and its headers that make device code."""
    missing: list[str] = field(default_factory=list)
    """Headers that were not found."""
    skipped: list[str] = field(default_factory=list)
    """Headers of CUDA that NVRTC cannot compile."""
    first: list[str] = field(default_factory=list)
    """Headers that count as included in front of everything else."""

    def leave_out(self, log: str) -> bool:
        """Leave out what the compiler stumbles over, if it is of the host alone; False if there is no such thing."""
        return self.leave_out_headers(log) or self._declarations(log)

    def leave_out_headers(self, log: str) -> bool:
        """The same for headers alone: what the user has written stays."""
        return self._missing(log) or self._unsupported(log) or self._libraries(log) or self._usual(log)

    def _missing(self, log: str) -> bool:
        names = dict.fromkeys(_MISSING.findall(log))
        # HIP looks like CUDA without its headers, and is not.
        found = [each for each in names if each not in self.headers and not each.startswith("hip/")]
        self.headers |= dict.fromkeys(found, EMPTY)
        self.missing += found
        return bool(found)

    def _unsupported(self, log: str) -> bool:
        """Headers that refuse NVRTC themselves."""
        found = [each for each in dict.fromkeys(_UNSUPPORTED.findall(log)) if each not in self.headers]
        self.headers |= dict.fromkeys(found, EMPTY)
        self.skipped += found
        return bool(found)

    def _usual(self, log: str) -> bool:
        names = [*_UNDEFINED.findall(log), *_NO_TEMPLATE.findall(log)]
        found = [
            header
            for header, defined in _USUAL.items()
            if header not in self.first and any(defined.fullmatch(name) for name in names)
        ]
        self.first += found
        return bool(found)

    def _declarations(self, log: str) -> bool:
        lines: dict[str, list[int]] = {}
        for error in ERROR.finditer(log):
            lines.setdefault(error["file"], []).append(int(error["line"]))
        before = len(self.left_out)
        for file, wrong in lines.items():
            if file == self.name:
                device = without_host_declarations(self.text, wrong, self.macros)
                self.text = device.text
            elif file in self.files:
                device = without_host_declarations(self.headers[file], wrong, self.macros)
                self.headers[file] = device.text
            else:
                continue
            self.left_out += device.left_out
        return len(self.left_out) > before

    def _libraries(self, log: str) -> bool:
        """Without the libraries for the host, if there are errors in files that are not the user's."""
        if all(error["file"] in (self.name, *self.files) for error in ERROR.finditer(log)):
            return False
        texts = [self.text, *(self.headers[each] for each in self.files)]
        included = [quoted or angled for text in texts for quoted, angled in _INCLUDE.findall(text)]
        found = [
            each for each in dict.fromkeys(included) if _FOR_THE_HOST.match(each) and each not in self.headers
        ]
        self.headers |= {each: THRUST if each.startswith("thrust/") else EMPTY for each in found}
        self.skipped += found
        return bool(found)

    def with_paths(self, ptx: str) -> str:
        """PTX whose line tables name the user's headers by their paths: a text that NVRTC is given has none."""
        for name, path in self.files.items():
            ptx = ptx.replace(f'"{Path.cwd()}/{name}"', f'"{path}"')
        return ptx


def cuda_sources(source: Source, includes: Sequence[str], *, with_host: bool = False) -> CudaSources:
    """A CUDA file with the headers that it includes, as far as they are the user's own.

    Functions of the host are left out, unless they are wanted."""
    folder = Path(source.name).parent
    found = _own_headers(source.text, folder, [folder, *map(Path, includes)])
    kept = _everything if with_host else device_code
    read = {name: path.read_text(encoding="utf-8", errors="replace") for name, path in found.items()}
    written = [source.text, *read.values()]
    macros = device_macros("\n".join(written))
    device = kept(source.text, macros)
    texts: dict[str, str] = {}
    left_out = list(device.left_out)
    first: dict[Path, str] = {}
    for name, text in read.items():
        same = first.setdefault(found[name].resolve(), name)
        if same != name:
            # `#pragma once` would not know that it is the same file.
            texts[name] = f'#include "{same}"\n'
            continue
        header = kept(text, macros)
        texts[name] = header.text
        left_out += header.left_out
    headers = {name: text for name, text in standard_headers().items() if name not in found} | texts
    found = {name: found[name] for name in first.values()}
    return CudaSources(source.name, device.text, headers, found, "\n".join(written), left_out, macros)


def text_with_headers(path: Path, includes: Sequence[str]) -> str:
    """A file and the headers of its own, one after the other, as they are written."""
    text = path.read_text(encoding="utf-8", errors="replace")
    found = _own_headers(text, path.parent, [path.parent, *map(Path, includes)])
    return "\n".join([text, *(each.read_text(encoding="utf-8", errors="replace") for each in found.values())])


def _everything(text: str, macros: DeviceMacros) -> DeviceCode:
    return DeviceCode(text, ())


def _own_headers(text: str, folder: Path, folders: Sequence[Path]) -> dict[str, Path]:
    """Headers of the user's own by the names that they are included by, those that headers include, too.

    A name that stands for two files stays out: NVRTC looks for it.
    """
    found: dict[str, Path] = {}
    twice: set[str] = set()
    waiting = [(text, folder)]
    while waiting:
        text, folder = waiting.pop()
        for quoted, angled in _INCLUDE.findall(text):
            name = quoted or angled
            near = [folder] if quoted else []
            path = next((each / name for each in (*near, *folders) if (each / name).is_file()), None)
            if path is None:
                continue
            if name in found:
                if not path.samefile(found[name]):
                    twice.add(name)
                continue
            found[name] = path
            waiting.append((path.read_text(encoding="utf-8", errors="replace"), path.parent))
    return {name: path for name, path in found.items() if name not in twice}
