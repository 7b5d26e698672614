"""Loads, stores, atomics and copies of a simulated block, each noted in the log of its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.expressions.lanes import Bits, Lane, Lanes, mask
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import (
    Access,
    commits_copies,
    destinations,
    effect,
    is_strong,
    space_of,
    waits_for_copies,
)
from fencepost.hosts.ptx.reading.instructions import (
    types_of,
)
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Instruction,
    Operand,
    Register,
    Symbol,
    width_of,
)
from fencepost.hosts.ptx.runs.atomic_results import updated
from fencepost.hosts.ptx.runs.observed_races import (
    ATOMIC,
    READ,
    WRITE,
    Conflict,
    CopyHistory,
    Event,
    WaitEvent,
    copy_at,
)
from fencepost.hosts.ptx.runs.simulated_block import SimulatedBlock
from fencepost.hosts.ptx.runs.simulated_memory import POINTERS
from fencepost.hosts.ptx.runs.simulation_setup import (
    Threads,
)
from fencepost.hosts.ptx.runs.warp_clocks import NEVER

TEXTURE_MEMORY = np.uint64(1) << np.uint64(POINTERS + 12)
"""Where what textures hold is made up: behind all pointers."""
KINDS = {"read": READ, "write": WRITE, "atomic": ATOMIC, "copy": WRITE}


class SimulatedAccesses(SimulatedBlock):
    """A block that accesses memory."""

    def _load(self, instruction: Instruction, here: Place, who: Threads) -> None:
        space = space_of(instruction)
        kind = types_of(instruction)[-1]
        size = width_of(kind) // 8
        targets = destinations(instruction)
        address = next(each for each in instruction.operands if isinstance(each, Address))
        for at, target in enumerate(targets):
            if space == "param" and isinstance(address.base, Symbol):
                offset = address.offset + at * size
                bits = np.full(
                    who.shape, np.uint64(self.parameter(address.base.name, offset, kind)), dtype=np.uint64
                )
            else:
                addresses = self._address(instruction, who) + np.uint64(at * size)
                bits = self._loaded(space, addresses, size, who)
            if kind.startswith("s") and isinstance(target, Register):
                bits = Lanes(len(who)).extend(Lane(bits, 8 * size), width_of(target.type), True).bits
            self.write(target, who, bits)
        for access in effect(instruction).accesses:
            self._record(here, access, who, self._address(instruction, who))

    def _fetch(self, instruction: Instruction, who: Threads) -> None:
        """What a texture holds is made up, like global memory: the same for the same coordinates."""
        where = np.full(who.shape, TEXTURE_MEMORY, dtype=np.uint64)
        for operand in instruction.operands[1:]:
            for item in operand.items if isinstance(operand, Group) else (operand,):
                where = where * np.uint64(31) + (self.read(item, who, 64).bits << np.uint64(4))
        for at, target in enumerate(destinations(instruction)):
            self.write(target, who, self.memory.load_other(where | TEXTURE_MEMORY, 4) + np.uint64(at))

    def _loaded(self, space: str | None, addresses: Bits, size: int, who: Threads) -> Bits:
        if space == "shared":
            return self.memory.load_shared(addresses, size)
        shared, private = self._spaces(space, addresses)
        if not shared.any() and not private.any():
            return self.memory.load_other(addresses, size)
        found = np.zeros(addresses.shape, dtype=np.uint64)
        found[shared] = self.memory.load_shared(addresses[shared], size)
        found[private] = self.local.load(addresses[private], size, who[private])
        other = ~shared & ~private
        found[other] = self.memory.load_other(addresses[other], size)
        return found

    def _ask_for_space(self, instruction: Instruction, who: Threads) -> None:
        """Whether generic addresses are shared, local or global, as accesses through them take them."""
        shared, private = self._spaces(None, self.read(instruction.operands[1], who, 64).bits)
        asked = instruction.parts[1].partition("::")[0]
        answers = {"shared": shared, "local": private, "global": ~shared & ~private}
        held = answers.get(asked, np.zeros(who.shape, dtype=bool))
        self.write(instruction.operands[0], who, held.astype(np.uint64))

    def _spaces(self, space: str | None, addresses: Bits) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which of some addresses are shared, and which are local."""
        shared = np.full(addresses.shape, space == "shared")
        private = np.full(addresses.shape, space == "local")
        if space is None:
            private = self.local.holds(addresses)
            shared = addresses < np.uint64(self.memory.shared.size)
        return shared, private

    def _store(self, instruction: Instruction, here: Place, who: Threads) -> None:
        """`st`, `red` and `atom`; an atomic adds one, which is as good as what it would do."""
        space = space_of(instruction)
        size = width_of(types_of(instruction)[-1]) // 8
        addresses = self._address(instruction, who)
        shared, private = self._spaces(space, addresses)
        other = ~shared & ~private
        if instruction.name in ("atom", "red"):
            self._atomic(instruction, who, addresses, size)
        else:
            last = instruction.operands[-1]
            for at, item in enumerate(last.items if isinstance(last, Group) else (last,)):
                values = self.read(item, who, max(8 * size, 8)).bits
                where = addresses + np.uint64(at * size)
                self.memory.store_shared(where[shared], size, values[shared])
                self.local.store(where[private], size, values[private], who[private])
                self.memory.store_other(where[other], values[other])
        for access in effect(instruction).accesses:
            self._record(here, access, who[shared], addresses[shared])

    def _atomic(self, instruction: Instruction, who: Threads, addresses: Bits, size: int) -> None:
        shared, private = self._spaces(space_of(instruction), addresses)
        target = instruction.operands[0] if instruction.name == "atom" else None
        operands = instruction.operands[-2:] if "cas" in instruction.parts else instruction.operands[-1:]
        given = [self.read(each, who, 8 * size).bits for each in operands]
        old = np.zeros(who.shape, dtype=np.uint64)
        for at in range(len(who)):
            where, one = addresses[at : at + 1], slice(at, at + 1)
            if shared[at]:
                old[one] = self.memory.load_shared(where, size)
                new = updated(instruction, old[one], [each[one] for each in given], 8 * size)
                self.memory.store_shared(where, size, new)
            elif private[at]:
                old[one] = self.local.load(where, size, who[one])
                new = updated(instruction, old[one], [each[one] for each in given], 8 * size)
                self.local.store(where, size, new, who[one])
            else:
                old[one] = self.memory.load_other(where, size)
                new = updated(instruction, old[one], [each[one] for each in given], 8 * size)
                self.memory.store_other(where, new)
        if target is not None:
            self.write(target, who, old)

    def _record(self, here: Place, access: Access, who: Threads, addresses: Bits) -> None:
        """Notes an access to shared memory."""
        if access.rows:
            lanes = who % 32 < 8 * _matrices(self.flow.blocks[here.block].instructions[here.index])
            who, addresses = who[lanes], addresses[lanes]
        inside = self.memory.inside(addresses, access.size)
        if self.seen.outside is None and not access.generic and not inside.all():
            self.seen.outside = (here, int(who[~inside][0]))
        who, addresses = who[inside], addresses[inside]
        self._note_first_use(access, addresses)
        self._note_place(here, who)
        values: tuple[Bits, ...] = ()
        if access.kind == "write" and access.values and not access.rows:
            values = self._chunks(access.values, access.size, who)
        self._note_own_copies(here, access.size, who, addresses)
        self.time += 1
        knowledge = self.clocks_of_warps.row_of[who].copy()
        strong = is_strong(self.flow.blocks[here.block].instructions[here.index])
        kind = KINDS[access.kind]
        event = Event(
            here, kind, access.size, who, addresses, knowledge, values, self.time, self.time, strong
        )
        self.log.events.append(replace(event, element=access.element))

    def _note_own_copies(self, here: Place, size: int, who: Threads, addresses: Bits) -> None:
        """Whether threads touch what copies of their own that they have not waited for may not have written yet."""
        for event in self.copies:
            own = np.full(self.count, -1, dtype=np.int64)
            own[event.threads] = event.addresses.astype(np.int64)
            begin, where = own[who], addresses.astype(np.int64)
            met = np.flatnonzero((begin >= 0) & (begin < where + size) & (where < begin + event.size))
            if met.size:
                thread, address = int(who[met[0]]), int(max(where[met[0]], begin[met[0]]))
                times = event.time, self.time + 1
                copy = copy_at(event, thread, times[1])
                places, threads = (event.place, here), (thread, thread)
                self.seen.add([Conflict(places, threads, address, size, "error", False, copy, times)])

    def _note_place(self, here: Place, who: Threads) -> None:
        """Which threads came to an access."""
        if here not in self.seen.came:
            self.seen.came[here] = np.zeros(self.count, dtype=bool)
        self.seen.came[here][who] = True

    def _note_first_use(self, access: Access, addresses: Bits) -> None:
        """Whether a load finds what was stored there; one byte of each access stands for the others."""
        where = addresses.astype(np.int64)
        if access.kind == "read":
            self.seen.unwritten |= bool((~self.memory.written[where]).any())
        for at in range(access.size if access.kind != "read" else 0):
            self.memory.written[where + at] = True

    def _chunks(self, operands: Sequence[Operand], size: int, who: Threads) -> tuple[Bits, ...]:
        """What is stored, four bytes at a time."""
        each = size // len(operands)
        found: list[Bits] = []
        if each < 4:
            whole = np.zeros(who.shape, dtype=np.uint64)
            for at, operand in enumerate(operands):
                whole |= self.read(operand, who, 8 * each).bits << np.uint64(8 * each * (at % (4 // each)))
                if (at + 1) % (4 // each) == 0 or at + 1 == len(operands):
                    found.append(whole)
                    whole = np.zeros(who.shape, dtype=np.uint64)
            return tuple(found)
        for operand in operands:
            value = self.read(operand, who, 8 * each).bits
            found += [(value >> np.uint64(32 * at)) & mask(32) for at in range(each // 4)]
        return tuple(found)

    def _copy(self, instruction: Instruction, here: Place, who: Threads) -> None:
        if commits_copies(instruction):
            self.groups[who] += 1
        elif (left := waits_for_copies(instruction)) is not None:
            all_of_them = "wait_all" in instruction.parts
            self._wait(here, who, np.iinfo(np.int64).max if all_of_them else self.groups[who] - left)
        for access in effect(instruction).accesses:
            addresses = self.read(access.address, who, 32).bits
            inside = self.memory.inside(addresses, access.size)
            self.time += 1
            issuing, where = who[inside], addresses[inside]
            refills = self.memory.written[where.astype(np.int64)]
            self._note_first_use(access, where)
            self._note_place(here, issuing)
            copies = CopyHistory(self.groups[issuing].copy(), refills, self.waits)
            knowledge = self.clocks_of_warps.row_of[issuing].copy()
            self.copies.append(
                Event(
                    here, WRITE, access.size, issuing, where, knowledge, (), self.time, NEVER, copies=copies
                )
            )

    def _wait(self, here: Place, who: Threads, before: NDArray[np.int64] | int) -> None:
        """Copies of groups before a number are complete for these threads; they stay in this interval's log."""
        limit = np.full(self.count, -1, dtype=np.int64)
        limit[who] = before
        self.time += 1
        wait = WaitEvent(here, self.time, who, self.groups[who].copy())
        self.waits.append(wait)
        kept = []
        for event in self.copies:
            assert event.copies is not None
            done = event.copies.groups < limit[event.threads]
            if done.any():
                self.log.events.append(_of(event, done, wait))
            if not done.all():
                kept.append(_of(event, ~done))
        self.copies = kept


def _of(event: Event, some: NDArray[np.bool_], completed_by: WaitEvent | None = None) -> Event:
    """The copies of some of their threads."""
    copies = event.copies
    assert copies is not None
    part = replace(
        copies, groups=copies.groups[some], refills=copies.refills[some], completed_by=completed_by
    )
    return replace(
        event,
        threads=event.threads[some],
        addresses=event.addresses[some],
        knowledge=event.knowledge[some],
        complete=NEVER if completed_by is None else completed_by.time,
        copies=part,
    )


def _matrices(instruction: Instruction) -> int:
    return next((int(part[1:]) for part in instruction.parts if part in ("x1", "x2", "x4")), 1)
