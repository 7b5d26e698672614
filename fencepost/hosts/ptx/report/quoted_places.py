"""Lines and names of the file that a message quotes: CUDA where line tables name it, otherwise PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain, repeat
from pathlib import Path

from fencepost.hosts.ptx.cuda_source.cuda_statements import length_of_function
from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.reading.kernel_names import plain_text
from fencepost.hosts.ptx.verdicts import KernelVerdict, Site
from fencepost.ir.source import Source, Span

LONGEST_WRAPPER = 8
"""Lines of a function that is nothing but a name for some assembly."""


def worded(judged: JudgedPtx, text: str, named: tuple[Site, ...] = ()) -> str:
    """A message with the names and lines of the file that is quoted.

    Code of a header that was inlined twice has two lines by one name; `named` places are in the order of the text.
    """
    if judged.quoted is not judged.ptx:
        for name, lines in _lines_by_name(judged, named).items():
            text = re.sub(rf"{re.escape(name)}(?!\d)", partial(_next_line, lines), text)
        file = re.escape(Path(judged.quoted.name).name)
        text = re.sub(rf"(?<![^\s`])(?:[^\s`]*/)?{file}:(\d+)", r"line \1", text)
    for number, name in enumerate(judged.parameters):
        text = re.sub(rf"\b{re.escape(judged.verdict.kernel)}_param_{number}\b", name, text)
    return plain_text(text)


def _next_line(lines: Iterator[int], _: re.Match[str]) -> str:
    return f"line {next(lines)}"


def _lines_by_name(judged: JudgedPtx, named: tuple[Site, ...]) -> dict[str, Iterator[int]]:
    """The lines that each name of a place stands for, one mention after the other; the last one from there on."""
    lines: dict[str, list[int]] = {}
    for site in (*named, *_sites(judged.verdict)):
        line = line_of(judged, site)
        if line is not None and (site in named or str(site) not in lines):
            lines.setdefault(str(site), []).append(line)
    return {name: chain(known, repeat(known[-1])) for name, known in lines.items()}


def _sites(verdict: KernelVerdict) -> list[Site]:
    """Every place that a verdict names."""
    found = [site for each in verdict.findings for site in (each.first, each.second)]
    found += [each.wait.site for each in verdict.findings if each.wait is not None]
    return found + [each.site for each in verdict.reasons if each.site is not None]


def name_of_parameter(judged: JudgedPtx, name: str) -> str:
    """A parameter as CUDA calls it."""
    kernel, _, number = name.rpartition("_param_")
    if kernel == judged.verdict.kernel and number.isdigit() and int(number) < len(judged.parameters):
        return judged.parameters[int(number)]
    return name


def shown_parameter(judged: JudgedPtx, name: str) -> tuple[str, str]:
    """A parameter in words, and as `--param` takes it: one that only PTX names, by its number."""
    called = name_of_parameter(judged, name)
    number = called.removeprefix(f"{judged.verdict.kernel}_param_")
    return (f"parameter {number}", number) if number != called else (called, called)


def called_from(judged: JudgedPtx, site: Site) -> str:
    """Where a function was called that was inlined, if its own line is quoted."""
    line = line_of(judged, site)
    if judged.quoted is judged.ptx or not site.inlined_at or line == site.inlined_at[-1]:
        return ""
    return f", called from line {site.inlined_at[-1]}"


def line_of(judged: JudgedPtx, site: Site) -> int | None:
    """The line of the quoted CUDA file that an instruction stands for: where a header was inlined, the call."""
    if _is_quoted(judged, site):
        return _outside_wrappers(judged.quoted, site)
    return site.inlined_at[-1] if site.inlined_at else None


def lines_of(judged: JudgedPtx, site: Site) -> list[int]:
    """The lines of the quoted CUDA file that an instruction stands for: its own, and of the calls around it."""
    own = [site.source_line] if _is_quoted(judged, site) and site.source_line else []
    return [*own, *site.inlined_at]


def _is_quoted(judged: JudgedPtx, site: Site) -> bool:
    same = Path(site.source_file or "").name == Path(judged.quoted.name).name
    return same and bool(site.source_line)


def _outside_wrappers(source: Source, site: Site) -> int:
    """The line of an instruction; of one that is written as assembly in a small function, where that is called."""
    lines = [line for line in (site.source_line, *site.inlined_at[: site.near]) if line is not None]
    inner, *calls = lines
    if not re.search(r"\basm\b", source.line(inner)):
        return inner
    for call in calls:
        if length_of_function(source.text, inner) > LONGEST_WRAPPER:
            break
        inner = call
    return inner


def span_of(judged: JudgedPtx, site: Site) -> Span:
    """The line that a place stands for, in the file that is quoted."""
    line = site.ptx_line if judged.quoted is judged.ptx else line_of(judged, site)
    return _whole_line(judged.quoted, line or 1)


def _whole_line(source: Source, line: int) -> Span:
    """A line without its indent and the comment behind it."""
    text = source.line(line)
    code = text.partition("//")[0].rstrip() or text.rstrip()
    indent = len(text) - len(text.lstrip())
    return Span(line, indent + 1, line, max(len(code), indent + 1) + 1)


def origin_of(judged: JudgedPtx, site: Site) -> str:
    """Where it was written, if that is not in the text that is quoted."""
    if judged.quoted is not judged.ptx or not site.source_line:
        return ""
    return f"{site.source_file}:{site.source_line}"
