"""docs/codes.md, made from the pages: `python -m fencepost.codes.index_page > docs/codes.md` (`make codes`)."""

from __future__ import annotations

import re
import sys

from fencepost.codes.lookup import known_codes, page_of
from fencepost.codes.raised_in import modules_by_code

GROUPS = {
    "FP0": ("Findings of `check`", "Exit code 1."),
    "FP1": ("Mistakes in a kernel's text or in a call", "Exit code 2; no file is changed."),
    "FP2": ("What `insert`, `prune` and `explain` refuse", "Exit code 1 where the kernel is wrong, else 2."),
    "FP3": ("Warnings", "They do not change the exit code."),
    "FP40": ("Triton: reading and writing modules", "Exit code 2."),
    "FP41": (
        "Triton: compiling with fencepost",
        "Errors in Python; a host keeps the compiler's own barriers.",
    ),
    "FP42": ("Wave", "Errors in Python; a host keeps the compiler's own barriers."),
    "FP43": ("CUDA and PTX", "Exit code 2."),
    "FP44": (
        "Assembly of AMD kernels",
        "Errors in Python; a kernel is compiled all the same, with a warning.",
    ),
    "FP5": ("What `schedule` refuses", "Exit code 1."),
}
"""The codes that begin alike: what they have in common."""
_HEAD = """# Codes

Every code that fencepost prints. `fencepost explain FP207` shows the same in a terminal, `fencepost explain --codes`
lists them. A finding of `check` that is known to be harmless can be [silenced at its place](silencing.md).

(This page is made from `fencepost/codes/pages/` by `make codes`; the tests run its examples. "In the source" are
the modules of `fencepost` that raise or report a code, for those who work on it.)
"""


def index_page() -> str:
    """The whole page: a table for each group, then every code by itself."""
    pages = [page_of(code) for code in known_codes()]
    parts = [_HEAD]
    for begin, (heading, exits) in GROUPS.items():
        rows = [
            f"| [{page.code}](#{page.code.lower()}) | {page.title} |\n"
            for page in pages
            if group_of(page.code) == begin
        ]
        parts.append(f"\n## {heading}\n\n{exits}\n\n| code | what is wrong |\n|---|---|\n{''.join(rows)}")
    modules = modules_by_code()
    for page in pages:
        parts.append(f"\n## {page.code}\n\n**{page.title}**\n")
        body = page.markdown.partition("\n")[2].rstrip("\n")
        # Not headings: there would be four of the same name for every code.
        parts.append(re.sub(r"^## (.*)$", r"**\1**", body, flags=re.MULTILINE) + "\n")
        raised = ", ".join(f"`{module}`" for module in modules[page.code])
        parts.append(f"\n*In the source:* {raised}.\n")
    return "".join(parts)


def group_of(code: str) -> str:
    """The group that a code belongs to: the longest beginning that is one."""
    return max((begin for begin in GROUPS if code.startswith(begin)), key=len)


if __name__ == "__main__":
    sys.stdout.write(index_page())
