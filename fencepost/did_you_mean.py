"""What somebody may have meant who mistyped a name: a note for errors."""

from __future__ import annotations

from collections.abc import Iterable

LETTERS = 3
"""One letter in so many may be wrong, and one in any case: what is further off is another word, and no suggestion."""


def close(word: str, known: Iterable[str]) -> list[str]:
    """The known word that one is nearest to, in upper or lower case; nothing if none is near."""
    names = {name.casefold(): name for name in known}
    meant = word.casefold()
    most = max(1, len(meant) // LETTERS)
    found = [(mistakes(meant, name), name) for name in names if abs(len(name) - len(meant)) <= most]
    near = [(count, name) for count, name in found if count <= most]
    return [names[min(near)[1]]] if near else []


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
