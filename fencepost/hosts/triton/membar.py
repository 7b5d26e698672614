"""Membar as the installed release has it: what it does to a module, and how another choice is handed on past it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fencepost.hosts.triton.generic import generic_form, parse_live
from fencepost.hosts.triton.live_edits import can_be_made_live, make_live
from fencepost.hosts.triton.membar_in_conversion import added_by_membar, converted_without_more
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.pipeline import AtMembar
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.scratch_sizes import ScratchSizes
from fencepost.hosts.triton.text_edits import Edit, apply_edits

Judge = Callable[[Module], None]
"""Refuses a module that is not right."""


class HalfDone(Exception):
    """Edits of a live module went wrong, and some may have been made: it is to be replaced by what it was."""

    def __init__(self, module: Any, reason: Exception) -> None:
        super().__init__(str(reason))
        self.module = module
        self.reason = reason


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
    """A pass of its own: it can be run on a copy, or left out."""

    @cached_property
    def stock(self) -> Any:
        """A copy of the live module, with membar's barriers."""
        made = parse_live(self.text, self.context)
        began = time.thread_time()
        self.stopped.membar(made)
        self.seconds.append(time.thread_time() - began)
        return made

    @cached_property
    def after(self) -> Module:
        """The module with the barriers that membar puts in."""
        return read_module(generic_form(self.stock, self.context), trusted=True)

    def passed_on(self) -> Any:
        """The copy: membar need not run again."""
        return self.stock

    def exchanged(self, edits: list[Edit], judge: Judge) -> Any:
        """The module with other barriers, in the live module itself where that can be done."""
        module = self.stopped.module
        if not edits:
            judge(self.before)
            return module
        if not can_be_made_live(self.before, edits):
            text = apply_edits(self.before, edits)
            judge(read_module(text, trusted=True))
            return parse_live(text, self.context)
        try:
            make_live(module, self.before, edits)
            judge(read_module(generic_form(module), trusted=True))
        except Exception as error:
            raise HalfDone(parse_live(self.text, self.context), error) from error
        return module


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
        made = self.sizes.noted(read_module(apply_edits(self.before, edits), trusted=True))
        judge(made)
        return converted_without_more(made, self.stopped.membar, self.context)


def membar_at(stopped: AtMembar, text: str, seconds: list[float] | None = None) -> Membar:
    """Membar as the installed release has it; `seconds` gets how long it took."""
    kind = MembarPass if installed_release().membar_is_a_pass else MembarInConversion
    return kind(stopped, text, [] if seconds is None else seconds)
