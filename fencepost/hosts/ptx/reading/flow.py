"""The control flow of one kernel: basic blocks, dominators, postdominators and natural loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fencepost.hosts.ptx.reading.module import Instruction, Label, Register, Routine, Symbol

ENTRY = 0


class NotJudged(Exception):
    """Something about the kernel is outside of what can be judged; the instruction to blame comes with it."""

    def __init__(self, message: str, instruction: Instruction | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.instruction = instruction


@dataclass
class Block:
    """A basic block: instructions, and the blocks that may come next.

    With two successors, the last instruction's predicate decides: the first is taken if it holds."""

    number: int
    instructions: list[Instruction] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)
    guard: Register | None = None
    guard_negated: bool = False
    index: Register | None = None
    """The register that `brx.idx` jumps by; then the successors are its targets, in order."""


@dataclass(frozen=True)
class Loop:
    """A natural loop: its header and all its blocks."""

    header: int
    blocks: frozenset[int]
    latches: tuple[int, ...]

    def __contains__(self, block: object) -> bool:
        return block in self.blocks


def ends_thread(instruction: Instruction) -> bool:
    """Whether the thread is done after this instruction."""
    return instruction.name in ("ret", "exit", "trap")


def stands_alone(instruction: Instruction) -> bool:
    """Whether a predicated instruction needs a block of its own: barriers, waits for copies and the commits that they
    count, and what ends a thread."""
    if instruction.name == "cp":
        return bool({"commit_group", "wait_group", "wait_all"} & set(instruction.parts))
    return instruction.name in ("bar", "barrier", "ret", "exit", "trap")


class Builder:
    """Cuts the body of a routine into blocks."""

    def __init__(self, routine: Routine) -> None:
        self.routine = routine
        self.blocks: list[Block] = [Block(0)]
        self.labels: dict[str, int] = {}
        self.jumps: list[tuple[Block, list[str], int | None]] = []
        """Where to patch in a target: the block, the labels it jumps to, and the block it falls through to."""

    def _new(self) -> Block:
        self.blocks.append(Block(len(self.blocks)))
        return self.blocks[-1]

    def build(self) -> list[Block]:
        """The blocks; the last one is where every thread ends."""
        here: Block | None = self.blocks[0]
        for item in self.routine.body:
            if isinstance(item, Label):
                following = self._new()
                if here is not None:
                    here.successors.append(following.number)
                self.labels[item.name] = following.number
                here = following
            else:
                here = self._instruction(here if here is not None else self._new(), item)
        end = self._new()
        if here is not None:
            here.successors.append(end.number)
        for block, names, fall in self.jumps:
            targets = [self._target(name, block) for name in names]
            block.successors = [*targets, *([] if fall is None else [fall])]
        for block in self.blocks:
            block.successors = [end.number if each < 0 else each for each in block.successors]
        return self.blocks

    def _target(self, name: str, block: Block) -> int:
        if name not in self.labels:
            raise NotJudged(f"a branch to `{name}`, which is no label", block.instructions[-1])
        return self.labels[name]

    def _instruction(self, here: Block, item: Instruction) -> Block | None:
        if item.name in ("bra", "brx"):
            return self._branch(here, item)
        if item.guard is not None and stands_alone(item):
            own, following = self._guarded(here, item)
            own.instructions.append(item)
            own.successors.append(-1 if ends_thread(item) else following.number)
            return following
        here.instructions.append(item)
        if ends_thread(item):
            here.successors.append(-1)
            return None
        return here

    def _branch(self, here: Block, item: Instruction) -> Block | None:
        if item.name == "brx":
            return self._indexed(here, item)
        here.instructions.append(item)
        target = item.operands[0]
        if not isinstance(target, Symbol):
            raise NotJudged("a branch to a place that is computed", item)
        if item.guard is None:
            self.jumps.append((here, [target.name], None))
            return None
        following = self._new()
        here.guard, here.guard_negated = item.guard, item.guard_negated
        self.jumps.append((here, [target.name], following.number))
        return following

    def _indexed(self, here: Block, item: Instruction) -> Block | None:
        """`brx.idx`."""
        table = item.operands[1] if len(item.operands) > 1 else None
        targets = self.routine.branch_targets.get(table.name, ()) if isinstance(table, Symbol) else ()
        register = item.operands[0] if item.operands else None
        if not targets or not isinstance(register, Register):
            raise NotJudged("a branch through a table that is not known", item)
        following: Block | None = None
        if item.guard is not None:
            here, following = self._guarded(here, item)
        here.instructions.append(item)
        here.index = register
        self.jumps.append((here, list(targets), None))
        return following

    def _guarded(self, here: Block, item: Instruction) -> tuple[Block, Block]:
        """A block of its own for a predicated instruction, and the block behind it."""
        own = self._new()
        here.guard, here.guard_negated = item.guard, item.guard_negated
        following = self._new()
        here.successors += [own.number, following.number]
        return own, following


def immediate_dominators(count: int, root: int, predecessors: list[list[int]], order: list[int]) -> list[int]:
    """Cooper, Harvey and Kennedy's algorithm; unreachable blocks have -1."""
    position = {block: at for at, block in enumerate(order)}
    found = [-1] * count
    found[root] = root
    changed = True
    while changed:
        changed = False
        for block in order:
            if block == root:
                continue
            chosen = -1
            for other in predecessors[block]:
                if found[other] < 0:
                    continue
                chosen = other if chosen < 0 else _meet(chosen, other, found, position)
            if chosen != found[block]:
                found[block] = chosen
                changed = True
    return found


def _meet(left: int, right: int, found: list[int], position: dict[int, int]) -> int:
    while left != right:
        while position[left] > position[right]:
            left = found[left]
        while position[right] > position[left]:
            right = found[right]
    return left


def reverse_postorder(root: int, successors: list[list[int]]) -> list[int]:
    """The blocks that can be reached from the root, each before those that only it leads to."""
    order: list[int] = []
    seen = {root}
    stack = [(root, iter(successors[root]))]
    while stack:
        block, rest = stack[-1]
        for following in rest:
            if following not in seen:
                seen.add(following)
                stack.append((following, iter(successors[following])))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]


class Flow:
    """The blocks of a kernel and what follows from their edges."""

    def __init__(self, routine: Routine) -> None:
        self.blocks = Builder(routine).build()
        self.successors = [list(dict.fromkeys(block.successors)) for block in self.blocks]
        self.order = reverse_postorder(ENTRY, self.successors)
        reached = set(self.order)
        self.predecessors: list[list[int]] = [[] for _ in self.blocks]
        for number in self.order:
            for following in self.successors[number]:
                self.predecessors[following].append(number)
        self.position = {block: at for at, block in enumerate(self.order)}
        self.exit = len(self.blocks) - 1
        self.idom = immediate_dominators(len(self.blocks), ENTRY, self.predecessors, self.order)
        self.reached = reached
        self.loops = self._loops()
        self.loop_of = {loop.header: loop for loop in self.loops}

    @cached_property
    def ipdom(self) -> list[int]:
        """Immediate postdominators; every block of an endless loop may lead to the end."""
        return self._postdominators(self.successors)

    def _postdominators(self, successors: list[list[int]]) -> list[int]:
        successors = self._with_ends(successors)
        backwards = self._backwards(successors)
        order = reverse_postorder(self.exit, backwards)
        return immediate_dominators(len(self.blocks), self.exit, successors, order)

    def _backwards(self, successors: list[list[int]]) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.blocks]
        for number in self.order:
            for following in successors[number]:
                found[following].append(number)
        return found

    def _with_ends(self, successors: list[list[int]]) -> list[list[int]]:
        """The same edges, and one to the end from every block that never leads there: no such block is sure to be
        passed, and each depends on the branches before it."""
        ending = set(reverse_postorder(self.exit, self._backwards(successors)))
        endless = self.reached - ending
        if not endless:
            return successors
        return [[*each, self.exit] if at in endless else each for at, each in enumerate(successors)]

    def dominates(self, first: int, second: int) -> bool:
        """Whether every path to the second passes the first."""
        while self.position.get(second, -1) > self.position[first]:
            second = self.idom[second]
        return first == second

    def postdominates(self, first: int, second: int) -> bool:
        """Whether every path from the second to the end passes the first."""
        while second != first:
            above = self.ipdom[second]
            if above in (-1, second):
                return False
            second = above
        return True

    def is_back_edge(self, source: int, target: int) -> bool:
        """Whether the edge goes to a block that dominates its source."""
        return self.dominates(target, source)

    def _loops(self) -> list[Loop]:
        latches: dict[int, list[int]] = {}
        for number in self.order:
            for following in self.successors[number]:
                if self.position[following] <= self.position[number]:
                    if not self.dominates(following, number):
                        last = self.blocks[number].instructions
                        raise NotJudged("control flow that is not reducible", last[-1] if last else None)
                    latches.setdefault(following, []).append(number)
        found = [self.natural_loop(header, ends) for header, ends in latches.items()]
        return sorted(found, key=lambda loop: self.position[loop.header])

    def natural_loop(self, header: int, latches: Sequence[int]) -> Loop:
        """The loop that these back edges to a header make."""
        inside = {header}
        todo = list(latches)
        while todo:
            block = todo.pop()
            if block not in inside:
                inside.add(block)
                todo += self.predecessors[block]
        return Loop(header, frozenset(inside), tuple(latches))

    def loops_around(self, block: int) -> list[Loop]:
        """The loops that a block is in, outermost first."""
        return self._around.get(block, [])

    @cached_property
    def _around(self) -> dict[int, list[Loop]]:
        found: dict[int, list[Loop]] = {}
        for loop in sorted(self.loops, key=lambda each: -len(each.blocks)):
            for block in loop.blocks:
                found.setdefault(block, []).append(loop)
        return found

    @cached_property
    def frontiers(self) -> dict[int, set[int]]:
        """Dominance frontiers: where a value that a block defines meets others."""
        found: dict[int, set[int]] = {}
        for number in self.order:
            if len(self.predecessors[number]) > 1:
                for other in self.predecessors[number]:
                    while other != self.idom[number]:
                        found.setdefault(other, set()).add(number)
                        other = self.idom[other]
        return found

    @cached_property
    def control_dependences(self) -> dict[int, set[int]]:
        """For each block, the branches that decide whether it runs."""
        return self.dependences_along(self.successors)

    def dependences_along(self, successors: list[list[int]]) -> dict[int, set[int]]:
        """Control dependences if branches have these successors only."""
        successors = self._with_ends(successors)
        ipdom = self._postdominators(successors)
        found: dict[int, set[int]] = {}
        for number in self.order:
            if len(successors[number]) < 2:
                continue
            for following in successors[number]:
                runner = following
                while runner not in (-1, ipdom[number]):
                    found.setdefault(runner, set()).add(number)
                    if ipdom[runner] == runner:
                        break
                    runner = ipdom[runner]
        return found

    def reachable(self, starts: Iterable[int]) -> set[int]:
        """The blocks that control can get to from some blocks, these included."""
        seen = set(starts)
        todo = list(seen)
        while todo:
            for following in self.successors[todo.pop()]:
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
        return seen
