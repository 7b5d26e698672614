"""The parser's tables, kept between runs: to build them from the grammar takes longer than most kernels do.

They lie in the user's own cache folder, under a name that says for which grammar, Python and lark they are. Without
such a folder (or with one that cannot be written to) the tables are built each time.
"""

from __future__ import annotations

import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lark import Lark

VARIABLE = "XDG_CACHE_HOME"
OPTIONS: dict[str, Any] = {"parser": "lalr", "maybe_placeholders": True}


def parser_of(grammar: str, transformer: Any) -> Lark:
    """A parser for a grammar."""
    from lark import Lark

    kept = _kept(grammar)
    if kept is not None and kept.exists():
        try:
            with kept.open("rb") as file:
                made: Any = Lark.__new__(Lark)
                # What `Lark.load` does, which takes no transformer.
                return made._load(file, transformer=transformer)  # type: ignore[no-any-return]
        except Exception:  # a file that is cut off, or not lark's, fails in whatever way pickles do
            kept.unlink(missing_ok=True)
    found = Lark(grammar, transformer=transformer, **OPTIONS)
    if kept is not None:
        # Others may be about to write the same: a file is there as a whole, or not at all.
        own = kept.with_suffix(f".{os.getpid()}")
        try:
            with own.open("wb") as file:
                found.save(file, exclude_options={"transformer"})
            own.replace(kept)
        except OSError:
            own.unlink(missing_ok=True)  # a full disk, say: nothing is kept then
    return found


def _kept(grammar: str) -> Path | None:
    """The file of a grammar's tables; None if there is no place for it."""
    import lark

    key = f"{grammar} {sorted(OPTIONS.items())} {lark.__version__} {sys.version_info[:2]}"
    folder = _folder()
    return None if folder is None else folder / f"grammar-{sha256(key.encode()).hexdigest()[:16]}.lark"


def _folder() -> Path | None:
    """A folder that is the user's own: what is read from it is run."""
    try:
        around = Path(os.environ.get(VARIABLE) or Path.home() / ".cache")
        folder = around / "fencepost"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    mine = not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    return folder if mine and os.access(folder, os.W_OK) else None
