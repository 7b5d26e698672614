"""One installation of a host at a time: made, taken out again, and nested in another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


@dataclass(slots=True)
class Installations(Generic[Made]):
    """The installation that a host has in this process, if there is one."""

    take_out: Callable[[Made], None]
    """Lets the compiler alone again."""
    current: list[Made] = field(default_factory=list)

    def put(self, made: Made) -> None:
        """Note an installation. Whatever was installed before has been taken out."""
        assert not self.current, "one at a time"
        self.current.append(made)

    def clear(self) -> None:
        """Take out what is installed."""
        while self.current:
            self.take_out(self.current.pop())

    @contextmanager
    def nested(
        self, install: Callable[[], Made | None], again: Callable[[Made], Any]
    ) -> Iterator[Made | None]:
        """An installation for the body of a `with` statement; `again` brings back the one around it."""
        outer = self.current[-1] if self.current else None
        made = install()
        try:
            yield made
        finally:
            if made is not None:
                self.clear()
                if outer is not None:
                    again(outer)
