"""The Triton host: modules of the released package `triton`, live or from files.

Triton's own bindings show too little of a module: no attribute dictionary, no successors, no
locations of operations. So a module is printed in MLIR's generic form (`generic`, `module_files`), read
into a tree of our own (`mlir`), and changed by edits on that text (`text_edits`), which Triton parses
again. Nothing here imports Triton before it is needed; `versions` says which releases are accepted.
"""

from fencepost.hosts.triton.audit import Audit
from fencepost.hosts.triton.installation import Installation, install, installed, uninstall
from fencepost.hosts.triton.translate import Translation, translate, translations

__all__ = [
    "Audit",
    "Installation",
    "Translation",
    "install",
    "installed",
    "translate",
    "translations",
    "uninstall",
]
