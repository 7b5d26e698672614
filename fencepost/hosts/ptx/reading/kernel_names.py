"""Names of kernels as people write them: C++ compilers mangle them in PTX (`_Z6reduceILi256EEvPf`).

Of the Itanium ABI only what names of kernels are made of is read: nested names, and template arguments that are
numbers, built-in types or classes. A name that says more is left to the runtime library of C++, if there is one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fencepost.hosts.ptx.reading.demangle import demangled

_ENTRY = re.compile(r"^[ \t]*(?:\.(?:visible|weak|extern)[ \t]+)*\.entry[ \t]+([\w$]+)", re.MULTILINE)
_LOCAL = re.compile(r"\b_ZZ\w+")
_TYPES = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip

NESTED = ("_3clocals_3e", "<locals>")
"""How numba spells that a function is defined in another one."""


def kernels_in(ptx: str) -> tuple[str, ...]:
    """The kernels of a PTX text, in order, as it names them."""
    return tuple(dict.fromkeys(_ENTRY.findall(ptx)))


def plain_name(mangled: str) -> str:
    """`_Z6reduceILi256EEvPf` as `reduce<256>`."""
    if not mangled.startswith("_Z"):
        return mangled
    try:
        return _Reader(mangled, 2).name()
    except _UnreadError:
        return demangled(mangled) or mangled


def instance_name(mangled: str) -> str | None:
    """The instance of a template that a kernel is, as a compiler can be asked for it; None if it is none."""
    name = plain_name(mangled)
    # A function without a name, as an argument, cannot be asked for.
    return name if name.endswith(">") and "{" not in name else None


def function_name(mangled: str) -> str:
    """What a kernel is called where it is launched, without namespaces and template arguments, read or not: kernels
    are no members of classes, so that nothing comes behind their arguments."""
    if not mangled.startswith("_Z"):
        return mangled
    reader = _Reader(mangled, 2)
    found = ""
    try:
        nested = reader.takes("N")
        while True:
            found = reader.identifier()
            if not nested or reader.peek() in "IE":
                return found
    except _UnreadError:
        return found or mangled


def plain_text(text: str) -> str:
    """A message with the names of variables as people write them: `_ZZ6reducePfE4sums` is `sums`."""
    return _LOCAL.sub(lambda match: _local(match[0]), text)


def _local(mangled: str) -> str:
    """The variable of a function: what stands behind the function's own name."""
    for match in re.finditer(r"E(\d+)", mangled):
        name = mangled[match.end() :]
        if len(name) == int(match[1]) or re.fullmatch(r"_\d+_?", name[int(match[1]) :]):
            return name[: int(match[1])]
    return mangled


def matches(mangled: str, wanted: str) -> bool:
    """Whether a user means this kernel: by its whole name, without namespaces, or without template arguments."""
    plain = plain_name(mangled)
    bare = plain.partition("<")[0]
    spaceless = wanted.replace(" ", "")
    return spaceless in {mangled, plain.replace(" ", ""), bare, bare.rpartition("::")[2]}


class _UnreadError(Exception):
    """Something that is not read here."""


@dataclass
class _Reader:
    """Reads a mangled name from a place on."""

    text: str
    at: int

    def name(self) -> str:
        """A name, nested or not, with template arguments."""
        if self.takes("N"):
            parts: list[str] = []
            while not self.takes("E"):
                if self.peek() == "I" and parts:
                    parts[-1] += self.arguments()
                else:
                    parts.append(self.identifier())
            return "::".join(part for part in parts if part)
        found = self.identifier()
        return found + self.arguments() if self.peek() == "I" else found

    def identifier(self) -> str:
        """A length and that many characters; empty for an unnamed namespace."""
        match = re.compile(r"L?(\d+)").match(self.text, self.at)
        if match is None:
            raise _UnreadError
        begin, self.at = match.end(), match.end() + int(match[1])
        found = self.text[begin : self.at]
        while self.at < len(self.text) and self.text[self.at] == "B":
            self.at += 1
            self.identifier()  # numba tells versions of a function apart by such tags
        return "" if found.startswith("_GLOBAL__N_") else found.replace(*NESTED)

    def arguments(self) -> str:
        """`<256, float>`"""
        self.takes("I")
        found = []
        while not self.takes("E"):
            found.append(self.argument())
        return f"<{', '.join(found)}>"

    def argument(self) -> str:
        """A number, a built-in type or a class."""
        if match := re.compile(r"L(\w)(n?\d+)E").match(self.text, self.at):
            self.at = match.end()
            number = match[2].replace("n", "-")
            return {"0": "false", "1": "true"}.get(number, number) if match[1] == "b" else number
        if self.peek() == "N" or self.peek().isdigit():
            return self.name()
        if self.peek() in _TYPES:
            self.at += 1
            return _TYPES[self.text[self.at - 1]]
        raise _UnreadError

    def peek(self) -> str:
        """The next character."""
        if self.at >= len(self.text):
            raise _UnreadError
        return self.text[self.at]

    def takes(self, character: str) -> bool:
        """Go on if this is the next character."""
        if self.peek() != character:
            return False
        self.at += 1
        return True
