"""How many operands each PTX instruction has, and which have an address: what the rest of the reader relies on."""

from __future__ import annotations

from fencepost.hosts.ptx.reading.module import Address, Group, Immediate, Operand

ONE_SOURCE = (
    "mov neg abs not cnot brev popc clz bfind cvta rcp sqrt rsqrt sin cos lg2 ex2 tanh testp isspacep"
)
TWO_SOURCES = "sub mul div rem and or xor shl shr mul24 addc subc bmsk szext copysign mapa"
THREE_SOURCES = "mad mad24 madc fma sad dp4a dp2a fns bfe shf prmt selp slct"
OPERANDS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(ONE_SOURCE.split(), (2, 2)),
    **dict.fromkeys(TWO_SOURCES.split(), (3, 3)),
    **dict.fromkeys(THREE_SOURCES.split(), (4, 4)),
    "add": (3, 3),
    "min": (3, 4),
    "max": (3, 4),
    "cvt": (2, 4),
    "bfi": (5, 5),
    "lop3": (5, 6),
    "setp": (3, 4),
    "set": (3, 4),
    "bra": (1, 1),
    "brx": (2, 2),
    "shfl": (4, 5),
    "vote": (2, 3),
    "redux": (3, 3),
    "match": (3, 3),
    "activemask": (1, 1),
    "elect": (2, 2),
    "getctarank": (2, 2),
    "call": (1, 4),
    "ld": (2, 3),
    "ldu": (2, 3),
    "st": (2, 3),
    "atom": (3, 6),
    "red": (2, 4),
    "ldmatrix": (2, 2),
    "stmatrix": (2, 2),
}
"""The least and the greatest number of operands, the destination counted in; opcodes that are not here have any."""
NEEDS_AN_ADDRESS = ("ld", "ldu", "st", "atom", "red", "ldmatrix", "stmatrix")
WITHOUT_RESULT = ("st", "red", "stmatrix", "bra", "brx", "call")


def misshapen(parts: tuple[str, ...], operands: tuple[Operand, ...]) -> str | None:
    """What is wrong with the operands of an instruction; None if nothing is."""
    name = parts[0]
    least, most = OPERANDS.get(name, (0, 1 << 10))
    if not least <= len(operands) <= most:
        count = str(least) if least == most else f"{least} to {most}"
        return f"`{name}` has {count} operands, not {len(operands)}"
    if name in NEEDS_AN_ADDRESS and not any(isinstance(each, Address) for each in operands):
        return f"`{name}` has no address"
    if name in OPERANDS and name not in WITHOUT_RESULT and isinstance(operands[0], Immediate | Address):
        return f"the first operand of `{name}` is no register"
    if name in ("bar", "barrier", "cp") and len(parts) < 2:
        return f"`{name}` does not say what it does"
    copies = name == "cp" and "mbarrier" not in parts and "shared" in " ".join(parts)
    if copies and len(operands) < 2:
        return "`cp` has no two addresses"
    if any(isinstance(each, Group) and not each.items for each in operands) and name != "call":
        return f"an operand of `{name}` is empty"
    return None
