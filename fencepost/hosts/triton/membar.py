"""Membar as the installed release has it: what it does to a module, and how other barriers get past it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fencepost.hosts.triton.generic import generic_form, parse_live
from fencepost.hosts.triton.membar_in_conversion import added_by_membar, converted_without_more
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.pipeline import AtMembar
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.round_trip import refuse_not_read_back
from fencepost.hosts.triton.scratch_sizes import ScratchSizes
from fencepost.hosts.triton.text_difference import ChangedModule
from fencepost.hosts.triton.text_edits import Edit, apply_edits

Judge = Callable[[Module], None]
"""Refuses a module that is not right."""


@dataclass
class Membar(ABC):
    """Membar, for one module that was stopped right in front of it."""

    stopped: AtMembar
    text: str
    """The module, in generic form."""
    seconds: list[float]
    """How long it took, if it was asked what it would do."""

    @property
    def context(self) -> Any:
        """What the module lives in."""
        return self.stopped.module.context

    @cached_property
    def before(self) -> Module:
        """The module as it was stopped."""
        return read_module(self.text, trusted=True)

    @property
    @abstractmethod
    def after(self) -> Module:
        """The module with the barriers that membar puts in."""

    @abstractmethod
    def passed_on(self) -> Any:
        """The module with membar's barriers, to go on with behind it; None if Triton is to go on by itself."""

    @abstractmethod
    def exchanged(self, edits: list[Edit], judge: Judge) -> Any:
        """The module with other barriers, once they are judged, to go on with behind membar."""


class MembarPass(Membar):
    """A pass of its own: it is run on the module itself, and its barriers are left behind if others are taken."""

    @cached_property
    def after(self) -> Module:
        """The module with the barriers that membar puts in; it has them from now on."""
        began = time.thread_time()
        self.stopped.membar(self.stopped.module)
        self.stopped.done = True
        self.seconds.append(time.thread_time() - began)
        return ChangedModule(self.before, generic_form(self.stopped.module, self.context))

    def passed_on(self) -> Any:
        """The module itself."""
        return self.stopped.module

    def exchanged(self, edits: list[Edit], judge: Judge) -> Any:
        """The module as it was before membar, with other barriers."""
        text = apply_edits(self.before, edits) if edits else self.text
        judge(ChangedModule(self.before, text))
        if not edits and not self.stopped.done:
            return self.stopped.module
        return parse_live(text, self.context)


class MembarInConversion(Membar):
    """The beginning of the conversion: it always runs, and what it adds to other barriers is dropped behind it."""

    @cached_property
    def sizes(self) -> ScratchSizes:
        """How much scratch memory operations have, which modules of such a release do not say."""
        return ScratchSizes(self.stopped.allocate, self.context)

    @cached_property
    def before(self) -> Module:
        """The module as it was stopped."""
        return self.sizes.noted(read_module(self.text, trusted=True))

    @cached_property
    def after(self) -> Module:
        """The module with the barriers that membar puts in."""
        began = time.thread_time()
        edits = added_by_membar(self.before, self.stopped.membar, self.context)
        self.seconds.append(time.thread_time() - began)
        return self.sizes.noted(read_module(apply_edits(self.before, edits), trusted=True))

    def passed_on(self) -> None:
        """Triton goes on by itself, with the conversion."""

    def exchanged(self, edits: list[Edit], judge: Judge) -> Any:
        """The module with other barriers, in LLVM's dialect."""
        refuse_not_read_back(self.text, self.context)
        made = self.sizes.noted(read_module(apply_edits(self.before, edits), trusted=True))
        judge(made)
        return converted_without_more(made, self.stopped.membar, self.context)


def membar_at(stopped: AtMembar, text: str, seconds: list[float] | None = None) -> Membar:
    """Membar as the installed release has it; `seconds` gets how long it took."""
    kind = MembarPass if installed_release().membar_is_a_pass else MembarInConversion
    return kind(stopped, text, [] if seconds is None else seconds)
