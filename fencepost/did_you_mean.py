"""What somebody may have meant who mistyped a name: a note for errors."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

LETTERS = 3
"""One letter in so many may be wrong, and one in any case: what is further off is another word, and no suggestion."""


def close(word: str, known: Iterable[str]) -> list[str]:
    """The known word that one is nearest to, in upper or lower case; nothing if none is near."""
    names = {name.casefold(): name for name in known}
    meant = word.casefold()
    near = [(mistakes(meant, name), name) for name in names if _is_near(meant, name)]
    return [names[min(near)[1]]] if near else []


def _is_near(word: str, name: str) -> bool:
    """Whether few letters are wrong, or most of the word is how the name begins."""
    begins = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, name, strict=False)))
    most = max(1, len(word) // LETTERS)
    return LETTERS * begins > (LETTERS - 1) * len(word) or mistakes(word, name) <= most


def did_you_mean(word: str, known: Iterable[str]) -> list[tuple[str, str]]:
    """A note that names the nearest known word; no note if none is near."""
    return [("help", f"did you mean `{name}`?") for name in close(word, known)]


def mistakes(word: str, meant: str) -> int:
    """How many letters are missing, too many, wrong, or swapped with the next one."""
    above: list[int] = []
    row = list(range(len(meant) + 1))
    for number, letter in enumerate(word, 1):
        before, above, row = above, row, [number]
        for place, other in enumerate(meant, 1):
            least = min(above[place] + 1, row[place - 1] + 1, above[place - 1] + (letter != other))
            swapped = number > 1 and place > 1 and letter == meant[place - 2] and word[number - 2] == other
            row.append(min(least, before[place - 2] + 1) if swapped else least)
    return row[-1]
