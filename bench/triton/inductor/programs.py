"""All programs by name, and the kernels of them that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inductor import elementwise, models, reductions, templates
from inductor.generate import Kernel, kernels_of
from inductor.program import Program

PROGRAMS: dict[str, Program] = {
    each.name: each for family in (elementwise, reductions, templates, models) for each in family.programs()
}


def distinct_kernels(programs: Iterable[Program], seen: set[str]) -> Iterator[Kernel]:
    """The kernels of some programs that were not seen before, by their identity; each once."""
    for program in programs:
        for kernel in kernels_of(program):
            if kernel.identity not in seen:
                seen.add(kernel.identity)
                yield kernel
