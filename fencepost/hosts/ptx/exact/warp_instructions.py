"""Instructions that the lanes of a warp carry out together: shuffles, votes, matrices, `tcgen05` of a warp."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fencepost.hosts.ptx.exact import forms
from fencepost.hosts.ptx.exact.made_up_values import mix, mixed
from fencepost.hosts.ptx.exact.problems import NotExact
from fencepost.hosts.ptx.exact.tcgen05_forms import (
    TensorAccess,
    TensorAllocation,
    TensorWait,
)
from fencepost.hosts.ptx.exact.waiting_threads import WaitingThreads
from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import destinations
from fencepost.hosts.ptx.reading.module import Instruction, Operand
from fencepost.hosts.ptx.runs.simulation_setup import AT_BARRIER, AT_COLLECTIVE, DONE, RUNNING, Threads

WARP = 32
WHOLE_WARP = 0xFFFFFFFF


class WarpInstructions(WaitingThreads):
    """Warps whose lanes act together."""

    def gather(self, masks: Bits, place: Place, who: Threads) -> Threads:
        """Threads that wait here with all lanes that their mask names, which must name the same mask; the others
        wait on."""
        self.state[who] = AT_COLLECTIVE
        self.masks[who] = masks & np.uint64(WHOLE_WARP)
        waiting = (self.state == AT_COLLECTIVE) & (self.blocks == place.block) & (self.indices == place.index)
        here = np.flatnonzero(waiting)
        lane = np.uint64(1) << (np.arange(self.count) % WARP).astype(np.uint64)
        live = np.zeros(self.count // WARP + 1, dtype=np.uint64)
        alive = np.flatnonzero(self.state != DONE)
        np.bitwise_or.at(live, alive // WARP, lane[alive])
        groups, number = np.unique(self.meeting_of(here), return_inverse=True)
        present = np.zeros(groups.shape, dtype=np.uint64)
        np.bitwise_or.at(present, number, lane[here])
        named = live[here // WARP] & self.masks[here]
        ready: Threads = here[(named & ~present[number]) == 0]
        self.state[ready] = RUNNING
        return ready

    def meeting_of(self, who: Threads) -> Bits:
        """A number for each thread that waits for other lanes: the same for those that meet."""
        return (who // WARP).astype(np.uint64) << np.uint64(32) | self.masks[who]

    def meetings(self, who: Threads) -> Iterator[Threads]:
        """The lanes that meet at an instruction: those of a warp that name the same mask."""
        keys = self.meeting_of(who)
        for key in np.unique(keys):
            yield who[keys == key]

    def _whole_warps(self, place: Place, who: Threads) -> Threads:
        """Warps all of whose threads that have not ended are here."""
        return self.gather(np.full(who.shape, np.uint64(WHOLE_WARP)), place, who)

    def _warps(self, form: forms.Form, instruction: Instruction, place: Place, who: Threads) -> Threads:
        """Instructions that lanes carry out together."""
        if isinstance(form, forms.WarpBarrier | forms.Elect):
            who = self.gather(self.certain(form.lanes, who, 32, place), place, who)
        else:
            who = self._whole_warps(place, who)
        for lanes in self.meetings(who):
            held = self.held(instruction, lanes, place)
            if not held.size:
                continue
            if held.size < lanes.size:
                raise NotExact("an instruction of a whole warp that some lanes skip", place)
            self.clocks.meet(lanes)
            if isinstance(form, TensorAllocation | TensorAccess | TensorWait):
                who = np.setdiff1d(who, self._tensor_of_warp(form, instruction, place, lanes))
            elif isinstance(form, forms.WarpBarrier):
                self._refuse_unnamed(lanes, place)
                self.clocks.acquire(lanes, self.clocks.release(lanes))
            elif isinstance(form, forms.Elect):
                self._elect(form, lanes)
            elif isinstance(form, forms.Wgmma):
                self.wgmma(form, instruction, place, lanes)
            elif isinstance(form, forms.WideMatrix):
                self.wide_matrix(form, instruction, place, lanes)
        return who

    def _tensor_of_warp(
        self,
        form: TensorAllocation | TensorAccess | TensorWait,
        instruction: Instruction,
        place: Place,
        lanes: Threads,
    ) -> Threads:
        """`tcgen05`, as the lanes of a warp carry it out together; those that wait."""
        if isinstance(form, TensorWait):
            self.tensor.wait(form, lanes)
        elif isinstance(form, TensorAccess):
            self.tensor.access(form, place, lanes)
            for target in destinations(instruction):
                self.make_up(target, lanes)
        elif not self.tensor.allocate(form, place, lanes):
            self.state[lanes] = AT_BARRIER
            self.waiting_warps.append(lanes)
            return lanes
        elif form.does == "dealloc":
            self._retry_allocations()
        return lanes[:0]

    def _retry_allocations(self) -> None:
        """Tensor memory was freed: warps that wait for some try again."""
        for lanes in self.waiting_warps:
            self.state[lanes] = RUNNING
        self.waiting_warps = []

    def _refuse_unnamed(self, lanes: Threads, place: Place) -> None:
        """A lane that its own mask leaves out is in order with nobody; PTX does not define what happens then."""
        if (self.masks[lanes] >> (lanes % WARP).astype(np.uint64) & np.uint64(1) == 0).any():
            raise NotExact("a lane that its own mask does not name", place)

    def _elect(self, form: forms.Elect, lanes: Threads) -> None:
        """The lowest lane, as GPUs do."""
        values = [np.full(lanes.shape, np.uint64(lanes[0] % WARP)), (lanes == lanes[0]).astype(np.uint64)]
        for target, bits in zip(form.targets, values[-len(form.targets) :], strict=True):
            self.write(target, lanes, bits)
            self.made_up.set(target, lanes, np.zeros(lanes.shape, dtype=bool))

    def _exchange(self, instruction: Instruction, place: Place, who: Threads) -> Threads:
        """Shuffles, votes and reductions of a warp."""
        who = self.gather(self.certain(instruction.operands[-1], who, 32, place), place, who)
        for lanes in self.meetings(who):
            self.clocks.meet(lanes)
        for mask in np.unique(self.masks[who]):
            self._exchange_among(instruction, place, who[self.masks[who] == mask])
        return who

    def _exchange_among(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """The same for the lanes that name one mask."""
        held = self.held(instruction, who, place)
        targets = destinations(instruction)
        if not held.size or not targets:
            return
        values = instruction.operands[1 : 4 if instruction.name == "shfl" else 2]
        unsure = self.made_up.any_of(values, held)
        if instruction.name == "shfl" and not self.made_up.any_of(values[1:], held).any():
            self._shuffled(instruction, held, targets)
        elif instruction.name in ("vote", "redux") and not unsure.any():
            self._collective(instruction, held)
            self.made_up.set(targets[0], held, unsure)
        elif instruction.name in ("vote", "redux"):
            self._one_result(instruction, held, targets[0])
        else:
            for target in targets:
                self.make_up(target, held)

    def _one_result(self, instruction: Instruction, who: Threads, target: Operand) -> None:
        """A vote or reduction: made up, and the same for all lanes."""
        total = np.zeros(self.count // WARP + 1, dtype=np.uint64)
        given = self.identity(instruction.operands[1], who)
        if "ballot" in instruction.parts:
            given = given + mix((who % WARP).astype(np.uint64))
        np.add.at(total, who // WARP, mixed(instruction, [given]))
        self.made_up.set(target, who, np.ones(who.shape, dtype=bool), mix(total[who // WARP]))

    def _shuffled(self, instruction: Instruction, who: Threads, targets: tuple[Operand, ...]) -> None:
        """What lanes get from others; from lanes that take no part, it is not defined."""
        source, _ = self.shuffled_from(instruction, who)
        flags = np.ones(self.count + WARP, dtype=bool)
        identities = self.made_up.fresh(np.arange(self.count + WARP))
        flags[who] = self.made_up.of(instruction.operands[1], who)
        identities[who] = self.identity(instruction.operands[1], who)
        self._collective(instruction, who)
        self.made_up.set(targets[0], who, flags[source], identities[source])
        for target in targets[1:]:
            self.made_up.set(target, who, np.zeros(who.shape, dtype=bool))
