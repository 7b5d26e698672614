"""A right form and wrong ones of every operation of the table, each file one operation: how such a file is read.

Comments at the top say what the module is and what is expected of each form:

    // GPU: cuda:90                   the target (cuda:80 unless it is said)
    // WARPS: 8                       how many warps run it (4 unless it is said)
    // GIVEN: %d: <DESC>              more arguments of the kernel
    // RIGHT: clean                   a form of the module, by its name, and what is found in it
    // EARLY: race WAR, stuck         another one
    // REFUSED: not judged            one that gets no verdict: the operation is named instead

Then the statements of the kernel. A line that ends in `//@ RIGHT` stands in that form only, one that ends in
`//@ EARLY, LATE` in those two, all others in every form. What follows `// FUNCTIONS` stands behind the kernel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.hosts.triton.modules import BYTES, MMA, module

FOLDER = Path(__file__).parent
_SETTING = re.compile(r"// ([A-Z]+): (.*)")
_MARKED = re.compile(r"(.*?)\s*//@ ([A-Z]+(?:, [A-Z]+)*)")

LAYOUTS = """\
#r1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#rows = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], \
warpsPerCTA = [1, 4], order = [1, 0]}>}>
#amdrows = #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [64, 1], threadsPerWarp = [1, 32], \
warpsPerCTA = [1, 4], order = [1, 0]}>}>
#amdparts = #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [1, 32], \
warpsPerCTA = [4, 1], order = [1, 0]}>}>
"""
SHORT = {
    "OBJECT": "!ttg.memdesc<1xi64, #r1, #smem, mutable>",
    "OBJECTS": "!ttg.memdesc<2x1xi64, #r1, #smem, mutable>",
    "DESC": "!tt.tensordesc<64x64xf16, #n>",
    "NTILE": "!ttg.memdesc<64x64xf16, #n, #smem, mutable>",
    "NPAIR": "!ttg.memdesc<2x64x64xf16, #n, #smem, mutable>",
    "WIDEDESC": "!tt.tensordesc<64x128xf16, #n>",
    "WIDE": "!ttg.memdesc<64x128xf16, #n, #smem, mutable>",
    "ROWDESC": "!tt.tensordesc<1x64xf16, #n>",
    "TDESC": "!tt.tensordesc<64x64xf16, #s>",
    "ACC": f"tensor<64x64xf32, {MMA % 4}>",
    "OTHER": "tensor<64x64xf16, #t>",
    "NUMBERS": "tensor<64x64xi32, #b>",
    "LINE": "tensor<64xi32, #r>",
    "BINS": "!ttg.memdesc<256xi32, #r1, #smem, mutable>",
}


@dataclass(frozen=True)
class Forms:
    """The forms of a module, and what is expected of each."""

    operation: str
    expected: dict[str, frozenset[str]]
    texts: dict[str, str] = field(repr=False)


def files() -> list[Path]:
    """All of them."""
    return sorted(FOLDER.glob("*.mlir"))


def read(path: Path) -> Forms:
    """The forms of one file; its name is that of the operation, behind which a dash may say more."""
    settings, expected, lines = _split(path.read_text())
    texts = {form: _module(settings, [line for line in lines if form in line[1]]) for form in expected}
    return Forms(path.stem.partition("-")[0], expected, texts)


def _split(text: str) -> tuple[dict[str, str], dict[str, frozenset[str]], list[tuple[str, frozenset[str]]]]:
    """What is set, what is expected, and each line with the forms that it stands in."""
    settings = {"GPU": "cuda:80", "WARPS": "4", "GIVEN": ""}
    expected: dict[str, frozenset[str]] = {}
    lines: list[tuple[str, frozenset[str]]] = []
    for line in text.splitlines():
        said, marked = _SETTING.fullmatch(line), _MARKED.fullmatch(line)
        if said is not None and said[1] in settings:
            settings[said[1]] = said[2]
        elif said is not None:
            expected[said[1]] = frozenset(said[2].split(", ")) - {"clean"}
        elif marked is not None:
            forms = frozenset(marked[2].split(", "))
            assert forms <= set(expected), f"{line}: no such form"
            lines.append((marked[1], forms))
        else:
            lines.append((line, frozenset(expected)))
    return settings, expected, lines


def _module(settings: dict[str, str], lines: list[tuple[str, frozenset[str]]]) -> str:
    body, _, functions = "\n".join(line for line, _ in lines).partition("// FUNCTIONS\n")
    text = LAYOUTS + module(
        f"{body.strip()}\ntt.return",
        arguments=settings["GIVEN"],
        warps=int(settings["WARPS"]),
        target=settings["GPU"],
        shared=4 * BYTES,
        more=functions,
    )
    for short, spelled in SHORT.items():
        text = text.replace(f"<{short}>", spelled)
    return text
