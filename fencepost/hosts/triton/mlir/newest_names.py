"""Operations that have another name in older releases, under the name that the newest one has for them."""

from __future__ import annotations

from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.releases import NEWEST_AMD_DIALECT, installed_release


def with_newest_names(module: Module) -> Module:
    """The module: the names of operations in the tree are the newest ones, the text stays what it is."""
    dialect = installed_release().amd_dialect
    if dialect != NEWEST_AMD_DIALECT and f'"{dialect}.' in module.text:
        for op in module.every:
            prefix, _, name = op.name.partition(".")
            if prefix == dialect:
                op.name = f"{NEWEST_AMD_DIALECT}.{name}"
    return module
