"""Where Python packages that compile CUDA have their PTX: numba-cuda, CuPy, CuTe DSL.

Each hook wraps one function. What the function returns is not touched; the PTX is given to `tell` beside it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

Tell = Callable[[str, str], None]
"""Is told of each PTX text: the front end and the text."""
Warn = Callable[[str], None]
NUMBA, CUPY, CUTE = "numba-cuda", "CuPy", "CuTe DSL"
CUTE_VARIABLES = {"CUTE_DSL_KEEP_PTX": "1"}
"""What makes CuTe DSL keep PTX; it is read when the package is imported."""
CUTE_FOLDER = "CUTE_DSL_DUMP_DIR"
"""The folder where it then writes files, besides."""


@dataclass
class Replacements:
    """Functions that were replaced, to be put back."""

    made: list[tuple[Any, str, Any, Any]] = field(default_factory=list)

    def put(self, owner: Any, name: str, new: Callable[[Any], Any]) -> None:
        """Put something in the place of a function, given that function; AttributeError if there is none."""
        before = getattr(owner, name)
        now = functools.wraps(before)(new(before))
        self.made.append((owner, name, before, now))
        setattr(owner, name, now)

    def undo(self) -> None:
        """Put everything back that nobody has replaced since."""
        for owner, name, before, now in reversed(self.made):
            if getattr(owner, name) is now:
                setattr(owner, name, before)
        self.made.clear()


def hook_numba(module: ModuleType, replaced: Replacements, tell: Tell, warn: Warn) -> None:
    """`numba.cuda.codegen`: a code library makes PTX of its NVVM IR, or links a cubin of what NVVM keeps for that."""

    def asm_strs(before: Callable[..., Any]) -> Callable[..., Any]:
        def get_asm_strs(self: Any, *rest: Any, **options: Any) -> Any:
            made = before(self, *rest, **options)
            for text in made:
                tell(NUMBA, text)
            return made

        return get_asm_strs

    def cubin(before: Callable[..., Any]) -> Callable[..., Any]:
        def get_cubin(self: Any, *rest: Any, **options: Any) -> Any:
            known = bool(getattr(self, "_cubin_cache", None))
            made = before(self, *rest, **options)
            if getattr(self, "_lto", False) and not known:
                try:
                    tell(NUMBA, self.get_lto_ptx(*rest, **options))
                except Exception as error:  # whatever it is, the user's kernel has to run
                    warn(f"numba-cuda has no PTX of this kernel after linking: {error}")
            return made

        return get_cubin

    replaced.put(module.CUDACodeLibrary, "get_asm_strs", asm_strs)
    replaced.put(module.CUDACodeLibrary, "get_cubin", cubin)


def hook_cupy(module: ModuleType, replaced: Replacements, tell: Tell, warn: Warn) -> None:
    """`cupy.cuda.compiler`: a program of NVRTC has its PTX also where CuPy asks for a cubin."""
    from importlib import import_module

    def compiled(before: Callable[..., Any]) -> Callable[..., Any]:
        def compile_(self: Any, *rest: Any, **options: Any) -> Any:
            made = before(self, *rest, **options)
            try:
                text = import_module("cupy_backends.cuda.libs.nvrtc").getPTX(self.ptr)
            except Exception as error:  # whatever it is, the user's kernel has to run
                warn(f"CuPy has no PTX of this kernel: {error}")
            else:
                tell(CUPY, text.decode() if isinstance(text, bytes) else text)
            return made

        return compile_

    replaced.put(module._NVRTCProgram, "compile", compiled)


def hook_cute(module: ModuleType, replaced: Replacements, tell: Tell, warn: Warn) -> None:
    """`cutlass.base_dsl.jit_executor`: a compiled function has PTX among its artifacts, if that is kept."""

    def made(before: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(self: Any, *rest: Any, **options: Any) -> None:
            before(self, *rest, **options)
            text = self.__ptx__
            if text:
                tell(CUTE, text)
            else:
                warn("CuTe DSL kept no PTX of this kernel: install fencepost before cutlass is imported")

        return __init__

    replaced.put(module.JitCompiledFunction, "__init__", made)


HOOKS: dict[str, tuple[str, Callable[[ModuleType, Replacements, Tell, Warn], None]]] = {
    "numba.cuda.codegen": (NUMBA, hook_numba),
    "cupy.cuda.compiler": (CUPY, hook_cupy),
    "cutlass.base_dsl.jit_executor": (CUTE, hook_cute),
}
"""By the module that is looked at once it is imported."""
