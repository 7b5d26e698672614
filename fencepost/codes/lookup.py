"""Finding the page of a code."""

from __future__ import annotations

import re
from importlib.resources import files

from fencepost.codes.page import CodePage, read_page
from fencepost.did_you_mean import mistakes
from fencepost.ir.source import FencepostError

_LIKE_A_CODE = re.compile(r"fp\w{1,4}|\d{3}", flags=re.IGNORECASE)


def known_codes() -> tuple[str, ...]:
    """All codes, in order."""
    pages = (files("fencepost.codes") / "pages").iterdir()
    return tuple(sorted(page.name.removesuffix(".md") for page in pages if page.name.endswith(".md")))


def looks_like_a_code(text: str) -> bool:
    """Whether somebody who writes this means a code, maybe a mistyped one, and not a file."""
    return _LIKE_A_CODE.fullmatch(text) is not None


def page_of(code: str) -> CodePage:
    """The page of a code, in upper or lower case, or of its number alone; one that does not exist is an error that
    names the nearest."""
    name = f"FP{code}" if code.isdigit() else code.upper()
    known = known_codes()
    if name not in known:
        raise FencepostError(
            f"there is no code {code}",
            code="FP115",
            notes=[
                *(("help", f"did you mean {meant}?") for meant in nearest(name)),
                ("help", "`fencepost explain --codes` lists all codes"),
            ],
        )
    return read_page((files("fencepost.codes") / "pages" / f"{name}.md").read_text(encoding="utf-8"))


def nearest(code: str) -> list[str]:
    """The known code that one mistake makes of one that is not, the nearest in number; nothing if there is none."""
    number = _number(code)
    near = [known for known in known_codes() if mistakes(code, known) <= 1]
    return sorted(near, key=lambda known: abs(_number(known) - number))[:1]


def _number(code: str) -> int:
    digits = re.sub(r"\D", "", code.upper().replace("O", "0"))
    return int(digits) if digits else 0
