"""Findings as workflow commands of GitHub Actions, which shows them beside the lines of a pull request."""

from __future__ import annotations

from fencepost.report.located import Located, Place, relative


def annotation(found: Located, level: str = "error") -> str:
    """One line, such as `::error file=gemm.fp,line=12,title=FP001::wave 1 can read %25a …`."""
    place = found.place
    properties = {"file": relative(place.file)}
    if place.line is not None:
        properties["line"] = str(place.line)
    if place.span is not None:
        properties["endLine"] = str(place.span.end_line)
        # Columns are taken only where it is one line.
        if place.span.end_line == place.span.line:
            properties |= {"col": str(place.span.column), "endColumn": str(place.span.end_column)}
    properties["title"] = " ".join(word for word in (found.code, found.title) if word)
    others = [f"{_where(place)}: {text}" for place, text in found.related if text]
    first, *rest = found.message.split("\n")
    message = "\n".join([first, *others, *rest])
    spelled = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {spelled}::{_data(message)}"


def _where(place: Place) -> str:
    name = relative(place.file)
    return f"{name}:{place.line}" if place.line is not None else name


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
