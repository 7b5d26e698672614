"""A compilation watched: the module that is lowered gets numbers, and the assembly is compared with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fencepost.hosts.triton.assembly.numbered_locations import with_numbers
from fencepost.hosts.triton.assembly.verify import Verdict, verify_assembly
from fencepost.hosts.triton.generic import generic_form, parse_live
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.ir.source import FencepostError

ASSEMBLY = "amdgcn"
"""The stage that makes assembly, on AMD."""


@dataclass(slots=True)
class AssemblyWatch:
    """One compilation."""

    tell: Callable[[Verdict, Any], None]
    """Is given the verdict, and the kernel's metadata."""
    module: Module | None = None
    """What is lowered, with its barriers, and with numbers,"""
    assembly: str = ""
    """and what has become of it."""

    def put_into(self, stages: dict[str, Any]) -> None:
        """Compare what the stage makes that comes last before the binary."""
        assemble = stages[ASSEMBLY]

        def watched(source: Any, metadata: Any) -> Any:
            made = assemble(source, metadata)
            self.assembly = str(made)
            self.tell(self.verdict(metadata), metadata)
            return made

        stages[ASSEMBLY] = watched

    def verdict(self, metadata: Any) -> Verdict:
        """What the assembly is like; whatever goes wrong, the user's kernel has to compile."""
        try:
            if self.module is not None:
                return verify_assembly(self.module, self.assembly)
            reason = "no membar pass ran while it was lowered"
        except Exception as error:
            reason = str(error) if isinstance(error, FencepostError) else repr(error)
        return Verdict(str(metadata.get("name", "?")), str(metadata["target"].arch), not_compared=reason)

    def numbered(self, module: Any) -> Any:
        """The live module with numbers, to be lowered in the place of this one, barriers included."""
        text = with_numbers(read_module(generic_form(module), trusted=True))
        self.module = read_module(text, trusted=True)
        return parse_live(text, module.context)
