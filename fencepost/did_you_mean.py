"""What somebody may have meant who mistyped a name: a note for errors."""

from __future__ import annotations

from collections.abc import Iterable

LIKENESS = 0.6
"""From 0 to 1: how much a word has to be like a known one before that is suggested."""


def close(word: str, known: Iterable[str]) -> list[str]:
    """The known word that one is nearest to, in upper or lower case; nothing if none is near."""
    from difflib import get_close_matches

    names = {name.casefold(): name for name in known}
    return [names[found] for found in get_close_matches(word.casefold(), names, n=1, cutoff=LIKENESS)]


def did_you_mean(word: str, known: Iterable[str]) -> list[tuple[str, str]]:
    """A note that names the nearest known word; no note if none is near."""
    return [("help", f"did you mean `{name}`?") for name in close(word, known)]
