"""Braces in conditionals of the preprocessor: of `#if A`, `void f() {`, `#else`, `void f(int n) {` only one is there.

Which branches are compiled is not known here, so all of them are read. Where that leaves braces open, or closes too
many, those of branches that cannot be there together are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class _Branch:
    start: int
    stop: int = 0
    known: bool = False
    """Whether its condition is a number: what such a conditional leaves out is blank."""


@dataclass
class ConditionalBraces:
    """The conditionals of a text, as far as it was read."""

    _open: list[list[_Branch]] = field(default_factory=list)
    _done: list[tuple[list[_Branch], bool]] = field(default_factory=list)
    """The branches of each, inner conditionals first, and whether one of them is there in any case."""
    _last: list[bool] = field(default_factory=list)

    def directive(self, word: str, span: tuple[int, int], state: str) -> None:
        """Follows a conditional directive, which opens a branch in that state."""
        start, stop = span
        if word.startswith("if"):
            self._open.append([])
            self._last.append(False)
        elif not self._open:
            return
        else:
            self._open[-1][-1].stop = start
        if word == "endif":
            self._done.append((self._open.pop(), self._last.pop()))
        else:
            self._open[-1].append(_Branch(stop, known=state != "maybe"))
            self._last[-1] |= word == "else"

    def balanced(self, seen: str) -> str:
        """The text without braces that branches have too many, if not every brace of it has its counterpart."""
        if seen.count("{") == seen.count("}"):
            return seen
        letters = list(seen)
        for branches, exhaustive in self._done:
            if any(each.known for each in branches):
                continue
            more = [_opened(letters, each) for each in branches]
            alike = exhaustive and len(set(more)) == 1
            for each, opened in zip(branches, more, strict=True):
                if opened and not (alike and each is branches[0]):
                    for at in range(each.start, each.stop):
                        letters[at] = " " if letters[at] in "{}" else letters[at]
        return "".join(letters)


def _opened(letters: list[str], branch: _Branch) -> int:
    """How many more braces a branch opens than it closes."""
    inside = letters[branch.start : branch.stop]
    return inside.count("{") - inside.count("}")
