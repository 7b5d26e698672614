"""Small Triton modules for the tests: a body of statements in a function, with the layouts that they need."""

from __future__ import annotations

from functools import cache
from textwrap import indent
from typing import Any

from fencepost.check import check
from fencepost.hosts.triton.generic import generic_form
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.parsing_process import parse_texts
from fencepost.hosts.triton.source_edits import edit_source
from fencepost.hosts.triton.strip_locations import without_locations
from fencepost.hosts.triton.translate import Translation, translate
from fencepost.hosts.triton.write_back import edits_of, place_barriers
from fencepost.ir.source import Source

HEAD = """\
#b = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [{warps}, 1], order = [1, 0]}}>
#r = #ttg.slice<{{dim = 0, parent = #b}}>
#t = #ttg.blocked<{{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, {warps}], order = [0, 1]}}>
#w = #ttg.blocked<{{sizePerThread = [4, 1], threadsPerWarp = [1, 32], warpsPerCTA = [{warps}, 1], order = [0, 1]}}>
#s = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#o = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}}>
#n = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}}>
#smem = #ttg.shared_memory
"""
"""Layouts of tensors: two across the waves, one that moves values within each wave; and those of shared memory."""

TENSOR = "tensor<64x64xf16, #b>"
TILE = "!ttg.memdesc<64x64xf16, #s, #smem, mutable>"
RING = "!ttg.memdesc<3x64x64xf16, #s, #smem, mutable>"
NVMMA = "!ttg.memdesc<64x64xf16, #n, #smem, mutable>"
"""A tile that the matrix unit of Hopper reads by itself."""
MMA = (
    "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [%d, 1], instrShape = [16, 64, 16]}>"
)
POINTERS = "tensor<64x64x!tt.ptr<f16>, #b>"
BYTES = 64 * 64 * 2

ALLOC = "%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>"
NUMBERS = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%two = arith.constant 2 : i32
%three = arith.constant 3 : i32
"""

SHORT = {
    "TENSOR": TENSOR,
    "TILE": TILE,
    "RING": RING,
    "POINTERS": POINTERS,
}


def module(
    body: str,
    *,
    arguments: str = "",
    warps: int = 4,
    target: str = "cuda:80",
    shared: int | None = None,
    more: str = "",
) -> str:
    """A module with one function; `shared` is how much memory it was given, None before that."""
    given = f"%x: {TENSOR}, %p: {POINTERS}, %n: i32, %c: i1" + (f", {arguments}" if arguments else "")
    attributes = {
        '"ttg.num-ctas"': "1 : i32",
        '"ttg.num-warps"': f"{warps} : i32",
        "ttg.target": f'"{target}"',
        '"ttg.threads-per-warp"': "32 : i32",
    }
    if shared is not None:
        attributes["ttg.shared"] = f"{shared} : i32"
    listed = ", ".join(f"{name} = {value}" for name, value in attributes.items())
    for short, spelled in SHORT.items():
        body, more, given = (text.replace(f"<{short}>", spelled) for text in (body, more, given))
    inside = indent(
        f"tt.func public @kernel({given}) {{\n{indent(body.strip(), '  ')}\n}}\n{more}".rstrip(), "  "
    )
    return f"{HEAD.format(warps=warps)}module attributes {{{listed}}} {{\n{inside}\n}}\n"


def line_of(text: str, statement: str) -> int:
    """The line that a statement stands on."""
    return text[: text.index(statement)].count("\n") + 1


def translated(text: str, *, local: bool = False, name: str = "kernel.ttgir") -> Translation:
    """What the first function of a module becomes."""
    tree = tree_of(text, name)
    return translate(tree, tree.functions()[0], local=local)


@cache
def tree_of(text: str, name: str = "kernel.ttgir") -> Module:
    """A module as a tree, which nothing changes: every text is read once."""
    (tree,) = read_sources([Source(name, text)])
    return tree


def statements(translation: Translation) -> list[str]:
    """The lines of a kernel that touch or order memory, in order and without the margin."""
    lines = [line.strip().partition("  #")[0] for line in str(translation.trace).splitlines()]
    skipped = ("kernel ", "shared ", "br ", "cond_br ", "return", "}", "^", "ret")
    return [line for line in lines if line and not line.startswith(skipped)]


def inserted(text: str) -> tuple[str, float]:
    """The module with the barriers that it lacks, and how often they run."""
    translation = translated(text)
    result = place_barriers(translation)
    return edit_source(translation.module, edits_of(translation)), result.executed


def lines(body: str, **options: object) -> list[str]:
    """The kernel's lines for the body of a function."""
    return statements(translated(module(body, **options)))  # type: ignore[arg-type]


def races(body: str, **options: object) -> int:
    """How many pairs of accesses of a function can meet."""
    return len(check(translated(module(body, **options)).trace).races)  # type: ignore[arg-type]


def read_live(module: Any, context: Any = None) -> Module:
    """The tree of a live module."""
    return read_module(generic_form(module, context), "<module>")


def custom_form(text: str, *, locations: bool = True) -> str:
    """A module in the form that Triton prints and people read."""
    (parsed,) = parse_texts([Source("<module>", text)])
    if locations:
        return parsed.custom
    lines = [line.rstrip() for line in without_locations(parsed.custom).split("\n")]
    return parsed.custom_blank or "\n".join([*(line for line in lines if line), ""])
