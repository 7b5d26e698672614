"""Takes all threads of a block through a kernel side by side: both sides of conditions that data decide over, counted
loops iteration by iteration, and any iteration of the others.

Where threads part, the side with barriers comes last: no thread waits for the others on both. That all of them come
to the same barriers is proven before, so a side that has one is that of all threads which have not exited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fencepost.hosts.ptx.expressions.expression_nodes import Expression
from fencepost.hosts.ptx.proof.block_values import BlockValues, Undetermined
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import destinations, effect
from fencepost.hosts.ptx.reading.flow import ENTRY, Loop
from fencepost.hosts.ptx.reading.module import Register, registers_in, width_of

DEEPEST = 200
"""Conditions inside of each other that are followed, iterations that threads leave one after the other included."""
Threads = Sequence[int]


class BlockPaths(BlockValues):
    """A block on its way through a kernel."""

    def run(self, alike: Callable[[int], bool]) -> None:
        """From the entry to the end. `alike` says whether all threads that come to a branch take the same side."""
        self._alike = alike
        self._any_iteration: set[int] = set()
        self._left_in: dict[int, list[int]] = {}
        """For loops that are looked at in any iteration: the intervals in which threads may leave them."""
        self._depth = 0
        self._go(ENTRY, list(range(self.count)), self.flow.exit)

    def _go(self, number: int, threads: Threads, end: int) -> None:
        """Takes threads from the beginning of a block to that of another, or to the end of the kernel."""
        first = True
        while first or number not in (end, self.flow.exit):
            if not first and number in self._any_iteration:
                raise Undetermined("a condition that iterations end in")
            first = False
            self._carry_out(number, threads)
            number, threads = self._following(number, threads)
            if not threads:
                return

    def _carry_out(self, number: int, threads: Threads) -> None:
        for index, instruction in enumerate(self.flow.blocks[number].instructions):
            if effect(instruction).barrier == "block":
                self.interval += 1
                if destinations(instruction):
                    self.execute(instruction, Place(number, index), threads)
            elif instruction.name not in ("bra", "brx", "ret", "exit", "trap", "bar", "barrier"):
                self.execute(instruction, Place(number, index), threads)

    def _following(self, number: int, threads: Threads) -> tuple[int, Threads]:
        """Where threads are next together, and those that are; on the way there, they may have parted."""
        block = self.flow.blocks[number]
        if block.index is not None:
            raise Undetermined("a branch with many targets")
        if len(set(block.successors)) == 1:
            return block.successors[0], threads
        assert block.guard is not None
        taken: list[int] = []
        left: list[int] = []
        open_: dict[int, Expression] = {}
        for thread in threads:
            held = self.read(block.guard, thread, 1)
            held = self.values.invert(held) if block.guard_negated else held
            if held.known is None:
                held = self.under_path(held, thread)
            if held.known is None:
                open_[thread] = held
            else:
                (taken if held.known else left).append(thread)
        yes, no = block.successors
        if not open_ and (not taken or not left):
            return (yes if taken else no), threads
        if open_ and not taken and not left and self._alike(number):
            open_ = dict.fromkeys(open_, self.fresh(1))
        if open_:
            loop = self._left_by(number)
            if loop is not None:
                return self._unknown_loop(loop, number, (taken, left, open_))
        self._sides(number, (taken, left, open_))
        return self._meeting(number), threads

    def _meeting(self, number: int) -> int:
        found = self.flow.ipdom[number]
        return self.flow.exit if found < 0 else found

    def _left_by(self, number: int) -> Loop | None:
        """The innermost loop that a branch may leave."""
        successors = self.flow.successors[number]
        around = reversed(self.flow.loops_around(number))
        return next((loop for loop in around if any(each not in loop for each in successors)), None)

    def _region(self, start: int, end: int) -> set[int]:
        """The blocks on the way from one to another."""
        seen, todo = {end}, [start]
        while todo:
            number = todo.pop()
            if number not in seen:
                seen.add(number)
                todo += self.flow.successors[number]
        return seen - {end}

    def _barriers(self, blocks: Iterable[int]) -> set[int]:
        return {
            number
            for number in blocks
            if any(effect(each).barrier == "block" for each in self.flow.blocks[number].instructions)
        }

    # ---- conditions

    def _sides(self, number: int, parted: tuple[list[int], list[int], dict[int, Expression]]) -> None:
        """Both sides of a branch, up to where they meet."""
        taken, left, open_ = parted
        yes, no = self.flow.blocks[number].successors
        meeting = self._meeting(number)
        sides = []
        for start, sure, holds in ((yes, taken, True), (no, left, False)):
            has_barrier = bool(self._barriers(self._region(start, meeting)))
            sides.append((has_barrier, start, sorted([*sure, *open_]), holds))
        if all(has_barrier for has_barrier, *_ in sides):
            raise Undetermined("a barrier on both sides of a condition")
        self._depth += 1
        if self._depth > DEEPEST:
            raise Undetermined("too many conditions inside of each other")
        before, interval = list(self.paths), self.interval
        changes = {}
        for _, start, threads, holds in sorted(sides, key=lambda side: side[0]):
            self.journals.append({})
            if start != meeting and threads:
                for thread, held in open_.items():
                    side = held if holds else self.values.invert(held)
                    self.paths[thread] = self.values.binary("and", before[thread], side)
                self._go(start, threads, meeting)
                self.paths = list(before)
            changes[holds] = self._taken_back(open_)
        self._depth -= 1
        # Who goes by the barriers of one side is in the same interval before and behind the condition.
        self.may_be_one(interval, self.interval)
        self._merge(open_, changes[True], changes[False])

    def _taken_back(self, open_: dict[int, Expression]) -> dict[tuple[str, int], Expression]:
        """What one side has assigned to threads that may be on the other; their registers are as they were before."""
        journal = self.journals.pop()
        found = {}
        for key, old in journal.items():
            if key[1] in open_:
                found[key] = self.registers[key]
                if old is None:
                    del self.registers[key]
                else:
                    self.registers[key] = old
            elif self.journals:
                self.journals[-1].setdefault(key, old)
        return found

    def _merge(
        self,
        open_: dict[int, Expression],
        yes: dict[tuple[str, int], Expression],
        no: dict[tuple[str, int], Expression],
    ) -> None:
        for key in yes.keys() | no.keys():
            one = yes.get(key) or self.registers.get(key)
            other = no.get(key) or self.registers.get(key)
            if one is None or other is None:
                # On one side, it has no value that anybody uses.
                self.assign(key, one or other or self.fresh(32))
            else:
                self.assign(key, self.values.choose(open_[key[1]], one, other))

    # ---- loops that are not counted

    def _unknown_loop(
        self, loop: Loop, number: int, parted: tuple[list[int], list[int], dict[int, Expression]]
    ) -> tuple[int, Threads]:
        """Where threads go on at a branch that data may have them leave a loop by."""
        taken, left, open_ = parted
        end = self._meeting(number)
        while end in loop:
            end = self._meeting(end)
        region = self._region(loop.header, end)
        threads = sorted([*taken, *left, *open_])
        if not self._barriers(region):
            if any(each.block in region for each in self.wanted):
                raise Undetermined("a loop that is not counted")
            self._forget_all(region, threads)
            return end, threads
        if loop.header in self._any_iteration:
            return self._stay(loop, number, parted)
        if any(each.block in region - loop.blocks for each in self.wanted):
            raise Undetermined("a way out of a loop")
        self._any_two_iterations(loop, threads)
        self._forget_all(region, threads)
        return end, threads

    def _stay(
        self, loop: Loop, number: int, parted: tuple[list[int], list[int], dict[int, Expression]]
    ) -> tuple[int, Threads]:
        """The threads that go on in any iteration of a loop."""
        taken, left, open_ = parted
        self._left_in[loop.header].append(self.interval)
        yes, no = self.flow.blocks[number].successors
        inside, sure = (yes, taken) if yes in loop else (no, left)
        if inside not in loop:
            raise Undetermined("a loop that is left in two ways at once")
        for thread, held in () if self._alike(number) else open_.items():
            side = held if inside == yes else self.values.invert(held)
            self.paths[thread] = self.values.binary("and", self.paths[thread], side)
        return inside, sorted([*sure, *open_])

    def _any_two_iterations(self, loop: Loop, threads: Threads) -> None:
        """Any iteration and the one after it: accesses of both may be between the same two barriers."""
        barriers = self._barriers(loop.blocks)
        for latch in loop.latches:
            if not any(self.flow.dominates(each, latch) for each in barriers):
                raise Undetermined("an iteration without a barrier")
        self._forget_all(loop.blocks, threads)
        self.memory.clear()
        before, interval = list(self.paths), self.interval
        self._any_iteration.add(loop.header)
        self._left_in[loop.header] = [interval]
        for _ in range(2):
            self._go(loop.header, threads, loop.header)
        self._any_iteration.discard(loop.header)
        self.paths = before
        for each in self._left_in.pop(loop.header):
            self.may_be_one(each, self.interval)

    def _forget_all(self, region: Iterable[int], threads: Threads) -> None:
        """After any number of iterations: what they assign and store is not known."""
        assigned: dict[str, int] = {}
        for number in sorted(region):
            for index, instruction in enumerate(self.flow.blocks[number].instructions):
                for target in destinations(instruction):
                    if isinstance(target, Register):
                        assigned[target.name] = max(width_of(target.type), 1)
                    elif any(True for _ in registers_in(target)):
                        raise Undetermined("an instruction with a group of results")
                for access in effect(instruction).accesses:
                    if access.kind != "read":
                        self._forget(Place(number, index), access)
        for name, width in assigned.items():
            for thread in threads:
                self.assign((name, thread), self.fresh(width))
