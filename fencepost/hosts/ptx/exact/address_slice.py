"""Which instructions a run has to carry out: those that shared addresses, barriers and the way to them depend on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.hosts.ptx.exact.forms import (
    Elect,
    Form,
    Harmless,
    InitFence,
    MemoryFence,
    Refused,
    brings_bytes,
    is_relaxed,
    operands_of,
)
from fencepost.hosts.ptx.exact.made_up_values import BLOCKS
from fencepost.hosts.ptx.exact.reading_forms import form_of, uses_cluster
from fencepost.hosts.ptx.exact.tcgen05_forms import TensorForm
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import Access, destinations, effect, space_of
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Instruction,
    Operand,
    Register,
    Symbol,
    registers_in,
)


def sources(instruction: Instruction) -> set[str]:
    """The registers that an instruction reads, its predicate included."""
    skip = 1 if destinations(instruction) else 0
    found = {name for operand in instruction.operands[skip:] for name in registers_in(operand)}
    return found | ({instruction.guard.name} if instruction.guard is not None else set())


def decides_over_boxes(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands of a `tensormap` instruction that the size of boxes depends on."""
    if {"box_dim", "elemtype", "rank"} & set(instruction.parts):
        return instruction.operands[1:]
    return instruction.operands if "cp_fenceproxy" in instruction.parts else ()


@dataclass
class AddressSlice:
    """What a run carries out, and the branches that it has to take as the kernel does."""

    flow: Flow
    values: bool
    """Whether what is stored in shared memory is needed too."""
    control: AddressSlice | None = None
    """What decides where threads go and what they touch. Other parameters are not numbers then, but any values."""
    addresses: bool = True
    """With values: whether it is needed where in global memory these are loaded from."""
    forms: dict[Place, Form] = field(default_factory=dict)
    accesses: dict[Place, tuple[Access, ...]] = field(default_factory=dict)
    places: set[Place] = field(default_factory=set)
    branches: set[int] = field(default_factory=set)
    relevant: set[int] = field(default_factory=set)
    """Blocks with a barrier or an access to shared memory."""
    parameters: set[str] = field(default_factory=set)
    specials: set[str] = field(default_factory=set)
    """Special registers, such as `ctaid.x`, that something depends on."""
    loads_shared: bool = False
    """Whether something depends on what is read from shared memory."""
    of_cluster: Place | None = None
    """An instruction that has to do with other blocks of a cluster."""

    def __post_init__(self) -> None:
        self.shared_pointers = any(
            each.name == "cvta" and "shared" in ".".join(each.parts) and "to" not in each.parts
            for number in self.flow.order
            for each in self.flow.blocks[number].instructions
        )
        self.relaxed = any(
            is_relaxed(form_of(each))
            for number in self.flow.order
            for each in self.flow.blocks[number].instructions
        )
        self.ordered_apart = False
        """Whether something tells what has happened without making it visible: the bytes of copies, and lanes that
        wait for each other to elect one."""
        self.tensors = False
        """Whether tensor memory is used."""
        self._definitions: dict[str, list[Place]] = {}
        self._registers: list[str] = []
        self._wanted: set[str] = set()
        for number in self.flow.order:
            for index, instruction in enumerate(self.flow.blocks[number].instructions):
                for target in destinations(instruction):
                    for name in registers_in(target):
                        self._definitions.setdefault(name, []).append(Place(number, index))
        for number in self.flow.order:
            for index, instruction in enumerate(self.flow.blocks[number].instructions):
                self._root(Place(number, index), instruction)
        self._close()

    @property
    def refused(self) -> dict[Place, str]:
        """Forms that are not judged."""
        return {place: each.why for place, each in self.forms.items() if isinstance(each, Refused)}

    def is_unknown(self, parameter: str) -> bool:
        """Whether a parameter is any value, not a number."""
        return self.control is not None and parameter not in self.control.parameters

    @property
    def unknown_specials(self) -> frozenset[str]:
        """Special registers of the block that are any value."""
        if self.control is None:
            return frozenset()
        return frozenset(each for each in self.specials - self.control.specials if each.startswith(BLOCKS))

    def _root(self, place: Place, instruction: Instruction) -> None:
        """Takes in an instruction that accesses shared memory or synchronizes, with what it depends on."""
        form = form_of(instruction)
        if self.of_cluster is None and uses_cluster(instruction, form):
            self.of_cluster = place
        if isinstance(form, Harmless) or (isinstance(form, MemoryFence | InitFence) and not self.relaxed):
            return
        touched = () if form is not None else self._touched(instruction)
        if form is None and not touched:
            return
        roots: list[Operand] = [each.address for each in touched]
        if form is not None:
            self.forms[place] = form
            self.ordered_apart |= brings_bytes(form) or isinstance(form, Elect)
            self.tensors |= isinstance(form, TensorForm)
            roots += operands_of(form)
        else:
            self.accesses[place] = touched
            if self.values and instruction.name in ("st", "stmatrix", "atom", "red"):
                roots += instruction.operands
            if instruction.name == "tensormap":
                roots += decides_over_boxes(instruction)
        self.places.add(place)
        self.relevant.add(place.block)
        for operand in roots:
            self._want(registers_in(operand))
        if instruction.guard is not None:
            self._want([instruction.guard.name])
        self._take_as_is(place.block)

    def _touched(self, instruction: Instruction) -> tuple[Access, ...]:
        found = effect(instruction).accesses
        return tuple(each for each in found if not each.generic or self.shared_pointers)

    def _want(self, names: Iterator[str] | list[str]) -> None:
        for name in names:
            if name not in self._wanted:
                self._wanted.add(name)
                self._registers.append(name)

    def _take_as_is(self, block: int) -> None:
        """The branches that decide whether a block runs are taken as the kernel takes them."""
        todo = [block]
        while todo:
            for branch in self.flow.control_dependences.get(todo.pop(), ()):
                if branch not in self.branches:
                    self.branches.add(branch)
                    todo.append(branch)
                    decides = self.flow.blocks[branch]
                    for register in (decides.guard, decides.index):
                        if register is not None:
                            self._want([register.name])

    def _close(self) -> None:
        while self._registers:
            name = self._registers.pop()
            for place in self._definitions.get(name, ()):
                if place in self.places and place not in self.accesses:
                    continue
                self.places.add(place)
                self._take_as_is(place.block)
                self._depend(self.flow.blocks[place.block].instructions[place.index])

    def _depend(self, instruction: Instruction) -> None:
        if instruction.guard is not None:
            self._want([instruction.guard.name])
        if instruction.name in ("ld", "ldu"):
            self._depend_on_memory(instruction)
            return
        if instruction.name == "atom" and not self.values:
            return
        for operand in instruction.operands:
            for item in operand.items if isinstance(operand, Group) else (operand,):
                if hasattr(item, "name") and not isinstance(item, Register | Symbol):
                    self.specials.add(item.name)
        self._want(list(sources(instruction)))

    def _depend_on_memory(self, instruction: Instruction) -> None:
        space = space_of(instruction)
        address = next(each for each in instruction.operands if isinstance(each, Address))
        if space == "param" and isinstance(address.base, Symbol):
            offset = address.offset
            self.parameters.add(address.base.name + (f"+{offset}" if offset else ""))
        elif space in ("shared", "shared::cluster") or (space is None and self.shared_pointers):
            self.loads_shared = True
        if space == "local" or (self.values and self.addresses):
            self._want(registers_in(address))
