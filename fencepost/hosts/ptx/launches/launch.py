"""What is known about a launch: the block, or how large it may be, and values of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fencepost.hosts.ptx.launches.preconditions import Condition
from fencepost.hosts.ptx.launches.thread_names import shown_sizes
from fencepost.hosts.ptx.reading.module import Routine

DYNAMIC_BYTES = 232448
"""What the dynamic shared memory of a block has at most: 227 KiB, as on sm_90."""

MOST_THREADS = 1024
MOST_BLOCKS = 16
"""Of a cluster: more than eight only if the host allows it."""
MOST_Z = 64
IN_STEP = "if the threads of a warp run in step"
INTEGERS = frozenset(f"{kind}{bits}" for kind in "usb" for bits in (16, 32))
"""Types of parameters that launches give numbers for; those of 64 bits may be pointers."""
BOX = ".box"
"""Behind the name of a tensor map: the bytes of its box."""


@dataclass(frozen=True)
class Assumption:
    """What a proof takes for granted about an integer parameter, by `name+offset`."""

    parameter: str
    at_least: int = 1
    power_of_two: bool = False

    def __str__(self) -> str:
        if self.power_of_two:
            return f"{self.parameter} is a power of two"
        return f"{self.parameter} >= {self.at_least}"


@dataclass(frozen=True)
class Given:
    """What the user says about a launch: the block, the blocks of a cluster, and parameters by any of their names."""

    block: tuple[int, int, int] | None = None
    params: Mapping[str, int] = field(default_factory=dict)
    cluster: tuple[int, int, int] | None = None
    required: tuple[Condition, ...] = ()
    """What the file requires of parameters."""
    grid: tuple[int, int, int] | None = None
    numbers: Mapping[int, int] = field(default_factory=dict)
    """What launches in the file give for parameters, by their place: believed where nothing is proven without."""
    blocks: tuple[tuple[int, int, int], ...] = ()
    """The blocks of launches in the file, where they name several."""
    threads: Mapping[int, int] = field(default_factory=dict)
    """Parameters, by their place, that are so many times the threads of a row of the block in all launches."""
    warp_synchronous: bool = False
    """Whether the threads of a warp run in step, as they did before Volta."""
    any_input: bool = False
    """Whether the file states what launches keep to: numbers and data may then be anything else."""


@dataclass(frozen=True)
class Launch:
    """Block sizes (None where any is meant, up to `largest`) and parameter values, by `name+offset`."""

    block: tuple[int, int, int] | None
    largest: tuple[int, int, int]
    parameters: Mapping[str, int] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()
    cluster: tuple[int, int, int] | None = None
    """Blocks of a cluster, if anything says so."""
    required: tuple[Condition, ...] = ()
    """What the file requires of parameters."""
    grid: tuple[int, int, int] | None = None
    """How many blocks there are; looked at for races between blocks alone, proofs are for every grid."""
    launched: tuple[tuple[int, int, int], ...] = ()
    """Blocks that launches in the file name, if there are several."""
    tied: Mapping[str, int] = field(default_factory=dict)
    """Parameters that are so many times the threads of a row of the block."""
    warp_synchronous: bool = False
    """Whether the threads of a warp run in step: then two of them race only at one instruction."""
    any_input: bool = False
    """Whether the file states what launches keep to: numbers and data may then be anything else."""

    def with_block(self, block: tuple[int, int, int]) -> Launch:
        """The same with a block, and with the parameters that go with it."""
        sizes = {name: factor * block[0] for name, factor in self.tied.items()}
        return replace(self, block=block, largest=block, parameters={**sizes, **self.parameters})

    def limits(self) -> dict[str, int]:
        """The largest value of each special register that a launch bounds."""
        sizes = self.block or self.largest
        found = {f"tid.{axis}": size - 1 for axis, size in zip("xyz", sizes, strict=True)}
        found |= {f"ntid.{axis}": size for axis, size in zip("xyz", sizes, strict=True)}
        found |= {"ctaid.x": (1 << 31) - 2, "ctaid.y": 65534, "ctaid.z": 65534}
        return found | {"nctaid.x": (1 << 31) - 1, "nctaid.y": 65535, "nctaid.z": 65535}

    def describe(self, parameters: int) -> str:
        """For which launches a verdict holds, in words."""
        if self.block is not None:
            said = f"blocks of {shown_sizes(self.block)} threads"
        else:
            said = f"every {self._shape()} of up to {max(self.largest)} threads"
        given = ", ".join(f"{name} = {self._value(name)}" for name in self.parameters)
        if self.assumptions or self.required:
            held = " and ".join(map(str, (*self.assumptions, *self.required)))
            given = "; ".join([*([given] if given else []), f"if {held}"])
        if given:
            said = f"{said}; {given}"
        elif parameters:
            said = f"{said}; every value of the parameters"
        return f"{said}; {IN_STEP}" if self.warp_synchronous else said

    def _shape(self) -> str:
        """Which blocks are meant: along axes that a kernel does not read, they have one thread."""
        _, y, z = (size > 1 for size in self.largest)
        if y and not z:
            return "two-dimensional block"
        if z and not y:
            return "block with one row (blockDim.y = 1)"
        return "block" if y else "one-dimensional block"

    def _value(self, name: str) -> str:
        """A parameter's value in words."""
        factor = self.tied.get(name)
        if factor is None:
            return str(self.parameters[name])
        return "blockDim.x" if factor == 1 else f"{factor} * blockDim.x"


def parameter_key(routine: Routine, name: str) -> str | None:
    """The parameter that a name, a number or `param_2` stands for; None if there is none. `a.box` is the size of the
    box, in bytes, of the tensor map `a`."""
    if name.endswith(BOX):
        whole = parameter_key(routine, name.removesuffix(BOX))
        return None if whole is None else whole + BOX
    names = [parameter.name for parameter in routine.parameters]
    for key in names:
        if name == key:
            return key
    number = name.removeprefix("param_")
    if number.isdigit() and int(number) < len(names):
        return names[int(number)]
    return None


def launch_of(
    routine: Routine,
    given: Given,
    axes: frozenset[str] = frozenset("xyz"),
) -> Launch:
    """What the user and the kernel say. A kernel that never reads tid.y is taken as launched with one row."""
    block, cluster = given.block or routine.required_block, given.cluster or routine.required_cluster
    named = {parameter_key(routine, name): value for name, value in given.params.items()}
    known = {key: value for key, value in named.items() if key is not None}
    known = _numbers_at(routine, given.numbers) | known
    names = {each.name for each in routine.parameters}
    required = tuple(each for each in given.required if each.keys <= names)
    said = Launch(
        block,
        block or _largest(routine, axes),
        known,
        cluster=cluster,
        required=required,
        warp_synchronous=given.warp_synchronous,
    )
    if block is not None:
        return replace(said, grid=given.grid, any_input=given.any_input)
    tied = {name: each for name, each in _numbers_at(routine, given.threads).items() if name not in known}
    return replace(said, launched=given.blocks, tied=tied)


def _numbers_at(routine: Routine, numbers: Mapping[int, int]) -> dict[str, int]:
    """What is said about parameters by their place, as far as these are integers."""
    parameters = dict(enumerate(routine.parameters))
    integers = {at: each.name for at, each in parameters.items() if each.type in INTEGERS}
    return {integers[at]: value for at, value in numbers.items() if at in integers}


def _largest(routine: Routine, axes: frozenset[str]) -> tuple[int, int, int]:
    """How large a block can be along each axis."""
    most = routine.largest_block or (MOST_THREADS, MOST_THREADS, MOST_Z)
    if routine.largest_block is not None:
        count = min(most[0] * most[1] * most[2], MOST_THREADS)
        most = (count, count, min(count, MOST_Z))
    x, y, z = (size if axis in axes else 1 for axis, size in zip("xyz", most, strict=True))
    return x, y, z
