"""The table has a word about every operation of the installed Triton, and none about others.

The bindings do not list what is registered. But every name of an operation is a string in the library, and the parser
says of any name whether it knows it: so the strings that look like names are tried, each by itself.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fencepost.hosts.triton.mlir.newest_operations import newest_name
from fencepost.hosts.triton.releases import NEWEST, NEWEST_AMD_DIALECT, installed_release
from fencepost.hosts.triton.shared_memory_effects import (
    HARMLESS,
    NOT_JUDGED,
    OLDER,
    PURE,
    TABLE,
    Does,
    row_of,
)
from tests.hosts.triton.conftest import new_context

LISTED = (
    "tt",
    "ttg",
    "ttng",
    "tti",
    "amdg",
    "nvg",
    "nvws",
    "gluon",
    "proton",
    "proton_gpu",
    "builtin",
    "scf",
    "cf",
)
"""Dialects whose operations are all in the table."""
COUNTS = {"3.9": 234, "3.8": 207, "3.7": 191, "3.6": 182, "3.5": 171, "3.4": 135, "3.3": 125}
"""How many operations they have, by release."""
NOT_KNOWN = re.compile("is unknown|not found for custom op")
_NAME = re.compile(
    rb"((?:%s)\.[a-z][a-z0-9_.]*)\0" % "|".join((*LISTED, installed_release().amd_dialect, *PURE)).encode()
)


def constants(path: Path) -> bytes:
    """The section of a library (ELF, 64 bits) that its constant strings are in."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        (sections,) = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        headers = [struct.unpack_from("<IIQQQQ", data, sections + size * place) for place in range(count)]
        texts = headers[names][4]
        for name, _, _, _, start, length in headers:
            if data[texts + name : texts + name + 8] == b".rodata\0":
                return bytes(data[start : start + length])
    raise AssertionError("no constants in the library")


@cache
def operations() -> frozenset[str]:
    """The operations that Triton's parser knows, of these dialects or in the table."""
    native = import_module("triton._C.libtriton")
    context = new_context()
    native.proton.load_dialects(context)
    found = {match[1].decode() for match in _NAME.finditer(constants(Path(str(native.__file__))))} | {
        *map(as_printed, (*TABLE, *OLDER)),
        "ttng.fence",
    }
    with Said() as said:
        return frozenset(
            newest_name(name)
            for name in found
            if not NOT_KNOWN.search(said.of(f"module {{ {name} }}", context))
        )


def as_printed(name: str) -> str:
    """The name that the installed release has for an operation of the table."""
    return re.sub(rf"^{NEWEST_AMD_DIALECT}\.", f"{installed_release().amd_dialect}.", name)


class Said:
    """What Triton's parser writes to standard error about a text."""

    def __enter__(self) -> Said:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "module.mlir"
        self.parse = import_module("triton._C.libtriton").ir.parse_mlir_module
        self.log = os.open(Path(self.folder.name) / "said", os.O_RDWR | os.O_CREAT, 0o600)
        self.before = os.dup(2)
        os.dup2(self.log, 2)
        return self

    def __exit__(self, *_: object) -> None:
        os.dup2(self.before, 2)
        os.close(self.before)
        os.close(self.log)
        self.folder.cleanup()

    def of(self, text: str, context: Any) -> str:
        """What it says about one."""
        self.path.write_text(text)
        os.ftruncate(self.log, 0)
        os.lseek(self.log, 0, os.SEEK_SET)
        try:
            self.parse(str(self.path), context)
        except RuntimeError:
            return os.pread(self.log, 4096, 0).decode(errors="replace")
        return ""


def of_dialects(dialects: tuple[str, ...]) -> Iterator[str]:
    return (name for name in sorted(operations()) if name.partition(".")[0] in dialects)


def test_what_is_known_to_be_there_is_found() -> None:
    some = {
        "tt.load",
        "ttg.local_load",
        "ttng.tmem_load",
        "amdg.cond_barrier",
        "arith.addi",
        "rocdl.s.barrier",
    }
    assert some <= operations()
    assert "ttng.fence" not in operations()
    assert len(list(of_dialects(LISTED))) == COUNTS[installed_release().name]


def test_every_operation_of_tritons_dialects_is_in_the_table() -> None:
    assert [name for name in of_dialects(LISTED) if name not in TABLE and name not in OLDER] == []


@pytest.mark.skipif(installed_release() is not NEWEST, reason="older releases have fewer operations")
def test_every_operation_in_the_table_is_one_of_triton() -> None:
    assert sorted(set(TABLE) - operations()) == []
    assert sorted(set(OLDER) & operations()) == []


def test_nothing_is_harmless_and_not_judged() -> None:
    assert set(HARMLESS) & set(NOT_JUDGED) == set()
    assert len(HARMLESS) == len(set(HARMLESS))
    assert len(NOT_JUDGED) == len(set(NOT_JUDGED))
    handled = [name for name, row in TABLE.items() if row.does not in (Does.NOTHING, Does.NOT_JUDGED)]
    assert set(handled) & {*HARMLESS, *NOT_JUDGED} == set()


@pytest.mark.parametrize(
    "name", ["ttng.of_tomorrow", "rocdl.s.barrier.signal", "nvvm.barrier", "llvm.store", "x.y"]
)
def test_what_is_not_in_the_table_is_not_judged(name: str) -> None:
    assert row_of(name).does is Does.NOT_JUDGED


def test_dialects_of_arithmetic_are_harmless() -> None:
    assert {row_of(name).does for name in of_dialects(PURE)} == {Does.NOTHING}
