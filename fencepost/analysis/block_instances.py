"""A kernel's blocks, once for every combination of the numbers that slots and branches depend on.

In a loop over a ring of three slots every third iteration touches the same slot. So the loop's body is looked at
three times, as three *instances* that follow each other in a cycle; in each of them every slot is a plain
number. The same goes for numbers and buffers that loops carry (`carry %x = 0`, rotated buffers): they are
followed from what they begin as. Of a parameter, a few values stand for all (see `parameters`); a block that is the
first to ask for it is there once for each. Numbers with too many values are not followed, and what depends on them is
unknown. Placement does not see instances: a barrier stands in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fencepost.analysis.followed_names import FollowedNames, Name, is_inside
from fencepost.analysis.last_iterations import trips
from fencepost.analysis.parameters import Bounds, Parameters
from fencepost.analysis.slot_periods import MOST_ROUNDS
from fencepost.flow import Block, Flow, Guard
from fencepost.flow.blocks import reverse_postorder
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg
from fencepost.ir.expr import Expr, Unknown, decide, evaluate, is_divergent
from fencepost.ir.loop_carried import names_of

Env = tuple[tuple[int, str, int], ...]
"""What is known: how many calls deep, name, value."""
LARGEST = 2**64
"""Numbers beyond this are taken as unknown: squares of squares soon fill the memory, and no address is that large."""
MOST_INSTANCES = 4096
"""Blocks times instances that a kernel may have, or four times its blocks if that is more."""
MOST_ACCESSES = 16_384
"""Accesses times instances, or four times its accesses if that is more."""
PATIENCE = 4
"""How many times as many instances are looked at in vain before less is followed."""


class BlockInstance(NamedTuple):
    """A block with the numbers that it is executed with."""

    block: int
    env: Env


@dataclass(slots=True)
class BlockInstances:
    """The instances of a kernel and the edges between them. Execution starts in one of the first `entries`."""

    nodes: list[BlockInstance] = field(default_factory=list)
    edges: list[list[tuple[int, int]]] = field(default_factory=list)
    """For each instance: where execution can go, and the loop whose back edge that is, or -1."""
    order: list[int] = field(default_factory=list)
    entries: int = 1
    parameters: Parameters = field(default_factory=Parameters)
    dropped: list[str] = field(default_factory=list)
    """Names that are not followed because there would be too many instances."""
    coarsest: bool = False
    """No name is followed: there is nothing left to drop."""

    def waves_admitted(self, flow: Flow, instance: BlockInstance, *, other_side: bool = False) -> int:
        """The waves that can run an instance, as bits; or the other side of the innermost divergent conditional."""
        guards = self._guards(flow, instance)
        if other_side:
            *around, (guard, values) = guards
            guards = [*around, (replace(guard, holds=not guard.holds), values)]
        return _bits(
            wave
            for wave in range(flow.trace.waves)
            if all(guard.admits(wave, seen) for guard, seen in guards)
        )

    def waves_certain(self, flow: Flow, instance: BlockInstance) -> int:
        """The waves that are certain to run it, as bits."""
        if not flow.blocks[instance.block].guards:
            return (1 << flow.trace.waves) - 1
        guards = self._guards(flow, instance)
        return _bits(
            wave
            for wave in range(flow.trace.waves)
            if all(guard.demands(wave, seen) for guard, seen in guards)
        )

    def seen(self, op: ops.Operation | None, env: dict[str, int]) -> dict[str, int]:
        """What an operation sees of the numbers that are known: it may be blind to some."""
        blind = self.parameters.blind.get(op) if op is not None else None
        return {name: env[name] for name in env if name not in blind} if blind else env

    def _guards(self, flow: Flow, instance: BlockInstance) -> list[tuple[Guard, dict[str, int]]]:
        """The guards around an instance, with the numbers that each sees: those of the function that asks."""
        return [
            (guard, self.seen(guard.branch, _values_at(guard.depth, instance)))
            for guard in flow.blocks[instance.block].guards
        ]


def values_in(instance: BlockInstance, flow: Flow) -> dict[str, int]:
    """The numbers that the operations of an instance see."""
    return _values_at(len(flow.blocks[instance.block].calls), instance)


def _values_at(depth: int, instance: BlockInstance) -> dict[str, int]:
    return {name: value for deep, name, value in instance.env if deep == depth}


def _bits(waves: Iterable[int]) -> int:
    found = 0
    for wave in waves:
        found |= 1 << wave
    return found


def find_instances(flow: Flow, slots: bool = True) -> BlockInstances:
    """The instances of a kernel; one for each block if nothing depends on a number, or `slots` is off."""
    return next(coarser_and_coarser(flow, slots))


def coarser_and_coarser(flow: Flow, slots: bool = True) -> Iterator[BlockInstances]:
    """The instances of a kernel, then fewer and fewer of them, down to one for each block."""
    names = FollowedNames.of(flow) if slots else FollowedNames()
    dropped = list(names.parameters.dropped)
    share, explored = 1, 0
    while names.followed and share < MOST_INSTANCES:
        exploration = _Exploration(flow, names, _Limits.of(flow, share))
        found = exploration.run()
        if isinstance(found, BlockInstances):
            found.dropped = list(dropped)
            yield found
            while share < MOST_INSTANCES and not exploration.exceeds(_Limits.of(flow, share)):
                share *= 8
            continue
        # Too much to follow: without one of the numbers it is less.
        names.followed.discard(found)
        names.parameters.without(found[1])
        dropped.append(found[1])
        explored += len(exploration.found.nodes)
        if explored > PATIENCE * MOST_INSTANCES // share:
            # Where number after number is dropped, finding that out must not take for ever.
            share, explored = 2 * share, 0
    last = _one_for_each_block(flow)
    last.coarsest = True
    last.dropped = dropped + sorted(name for _, name in names.followed)
    yield last


class _Limits(NamedTuple):
    """How much is explored."""

    instances: int
    accesses: int

    @classmethod
    def of(cls, flow: Flow, share: int) -> _Limits:
        """All that is allowed, or a share of it: one part in so many."""
        blocks, accesses = len(flow.blocks), sum(_accesses_in(block) for block in flow.blocks)
        if share == 1:
            return cls(max(MOST_INSTANCES, 4 * blocks), max(MOST_ACCESSES, 4 * accesses))
        return cls(blocks + MOST_INSTANCES // share, accesses + MOST_ACCESSES // share)


def _accesses_in(block: Block) -> int:
    return sum(isinstance(op, ops.MemoryOperation) for op in block.ops)


def _one_for_each_block(flow: Flow) -> BlockInstances:
    edges = [
        [
            (target, flow.crossed_loop(block.index, target))
            for target in block.successors
            if not _ruled_out(block, flow.blocks[target], {})
        ]
        for block in flow.blocks
    ]
    reached, todo = {0}, [0]
    while todo:
        for target, _ in edges[todo.pop()]:
            if target not in reached:
                reached.add(target)
                todo.append(target)
    order = [index for index in flow.order if index in reached]
    return BlockInstances([BlockInstance(block.index, ()) for block in flow.blocks], edges, order)


class _Exploration:
    """Every instance that can be reached."""

    def __init__(self, flow: Flow, names: FollowedNames, most: _Limits) -> None:
        self.flow = flow
        self.names = names
        self.parameters = names.parameters
        self.asks_for_last = {branch: last for last in names.last.values() for branch in last.answers}
        self.found = BlockInstances(parameters=names.parameters)
        self.number: dict[BlockInstance, int] = {}
        self.values: dict[Name, set[int]] = {}
        self.most = most
        self.accesses_in = [_accesses_in(block) for block in flow.blocks]
        self.accesses = 0
        self.overgrown = False
        self.keeps: dict[tuple[int, int, str], bool] = {}
        """For a block, how many calls deep and a name: whether it can still be named there."""

    def run(self) -> BlockInstances | Name:
        """All instances, or the name that has too many values."""
        for begun in self.entered((), self.flow.blocks[0]):
            self.enter(BlockInstance(0, begun))
        self.found.entries = len(self.found.nodes)
        for number, instance in enumerate(self.found.nodes):  # grows on the way
            for target, env, loop in self.successors(instance):
                self.found.edges[number].append((self.enter(BlockInstance(target, env)), loop))
            if self.overgrown:
                return max(self.values, key=lambda name: len(self.values[name]))
            if self.exceeds(self.most):
                return self.names.least_missed(self.values)
        # Instances are numbered from 1 on here: 0 leads to all entries.
        edges = [[1 + target for target, _ in edges] for edges in self.found.edges]
        order = reverse_postorder([list(range(1, 1 + self.found.entries)), *edges])
        self.found.order = [instance - 1 for instance in order[1:]]
        return self.found

    def enter(self, instance: BlockInstance) -> int:
        number = self.number.get(instance)
        if number is None:
            number = self.number[instance] = len(self.found.nodes)
            self.found.nodes.append(instance)
            self.found.edges.append([])
            calls = self.flow.blocks[instance.block].calls
            for depth, name, value in instance.env:
                values = self.values.setdefault((_function(calls, depth), name), set())
                values.add(value)
                self.overgrown = self.overgrown or len(values) > MOST_ROUNDS
            self.accesses += self.accesses_in[instance.block]
        return number

    def exceeds(self, most: _Limits) -> bool:
        """Whether that is more than what is allowed. Without a number to drop it never is."""
        return bool(self.values) and (len(self.found.nodes) > most.instances or self.accesses > most.accesses)

    def successors(self, instance: BlockInstance) -> Iterator[tuple[int, Env, int]]:
        """Where an instance leads: the next block, what is known there, the loop whose back edge it is."""
        block = self.flow.blocks[instance.block]
        depth = len(block.calls)
        here = values_in(instance, self.flow)
        for target in block.successors:
            around = self.flow.crossed_loop(block.index, target)
            following = self.flow.blocks[target]
            if self.ruled_out(block, following, here):
                continue
            forwarded = dict(here)
            self.forward(instance, forwarded)
            for after in self.step(block, following, around, forwarded):
                known = {(depth, name): value for name, value in after.items()}
                if depth:
                    known |= {(deep, name): value for deep, name, value in instance.env if deep < depth}
                for env in self.entered(self.kept(known, following), following):
                    yield target, env, around

    def entered(self, known: Env, block: Block) -> Iterator[Env]:
        """What is known where a block begins, for each value of the parameters that it is the first to ask for."""
        if not self.parameters.values:
            yield known
            return
        own = {name: value for deep, name, value in known if not deep}
        for env in self.parameters.forked(block, own):
            new = ((0, name, value) for name, value in env.items() if name not in own)
            yield tuple(sorted((*known, *new))) if len(env) > len(own) else known

    def ruled_out(self, block: Block, target: Block, env: dict[str, int]) -> bool:
        """Whether a branch on known numbers goes another way, or a loop up to a parameter runs or does not."""
        anchor = block.anchor
        if isinstance(anchor, ops.Iterate) and anchor.upto in env:
            return (anchor.start < env[anchor.upto]) is not (target.graph is anchor.body)
        if isinstance(anchor, (ops.Conditional, ops.CondBranch)):
            if anchor in self.parameters.sums:
                return _goes_elsewhere(block, target, self.parameters.holds(anchor, env))
            last = self.asks_for_last.get(anchor)
            if last is not None:
                return _goes_elsewhere(block, target, last.holds(anchor, env.get(last.name)))
        return _ruled_out(block, target, self.found.seen(anchor, env))

    def step(self, block: Block, target: Block, around: int, env: dict[str, int]) -> Iterator[dict[str, int]]:
        """What the names stand for behind an edge; the block's end has forwarded its values already."""
        function = _function(block.calls, len(block.calls))
        anchor = block.anchor
        loop = self.flow.loops[around].op if around >= 0 else self.left_loop(block, target)
        if loop is not None:
            again, can_leave = self.next_iterations(function, loop, env)
            if around >= 0:
                yield from ({**env, **moved} for moved in again)
                return
            if not can_leave:
                return
        if isinstance(anchor, ops.Iterate):
            inits = (carried.init for carried in anchor.carried)
            given = tuple(init for init in inits if init is not None)
            self.give(function, anchor, names_of(anchor), given, env)
            if target.graph is anchor.body:
                yield from ({**env, **begun} for begun in self.first_iterations(function, anchor, env))
                return
        yield env

    def first_iterations(self, function: str, loop: ops.Iterate, env: dict[str, int]) -> list[dict[str, int]]:
        """The numbers of a loop in its first iteration."""
        first = {loop.var: loop.start} if (function, loop.var) in self.names.followed else {}
        last = self.names.last.get(loop)
        if last is None or (function, last.name) not in self.names.followed:
            return [first]
        bound = Bounds(None, None)
        if loop.upto in env and loop.upto in self.parameters.values:
            bound = self.parameters.bounds[loop.upto][env[loop.upto]]
        return [{**first, last.name: left} for left in last.at_first(trips(loop, bound))]

    def next_iterations(
        self, function: str, loop: ops.Iterate, env: dict[str, int]
    ) -> tuple[list[dict[str, int]], bool]:
        """The numbers of a loop in its next iteration, and whether it can be left now."""
        again: list[dict[str, int]] = [{}]
        can_leave = True
        if (function, loop.var) in self.names.followed:
            rounds = self.names.rounds[loop]
            assert rounds is not None
            values, can_leave = rounds.following(env[loop.var])
            again = [{loop.var: value} for value in values]
        last = self.names.last.get(loop)
        if last is not None and (function, last.name) in self.names.followed:
            left = env[last.name]
            again = [{**each, last.name: now} for each in again for now in last.following(left)]
            can_leave = can_leave and left == 1
        return again, can_leave

    def forward(self, instance: BlockInstance, env: dict[str, int]) -> None:
        """Give the values that the end of a block forwards."""
        block = self.flow.blocks[instance.block]
        function, anchor = _function(block.calls, len(block.calls)), block.anchor
        if isinstance(anchor, ops.Branch):
            # What only some waves forward is not the same for all.
            args = tuple(Unknown() for _ in anchor.args) if block.guards else anchor.args
            self.give(function, anchor, anchor.names, args, env)
        elif isinstance(anchor, (ops.Next, ops.Give)) and anchor.graph is not None:
            owner = anchor.graph.owner
            assert isinstance(owner, (ops.Iterate, ops.Conditional))
            merge = False
            if isinstance(owner, ops.Conditional) and anchor.graph is owner.orelse and _is_divergent(owner):
                if not self.found.waves_admitted(self.flow, instance):
                    # No wave is on this side: the results are those of the other one.
                    return
                merge = bool(self.found.waves_admitted(self.flow, instance, other_side=True))
            self.give(function, anchor, names_of(owner), anchor.values, env, merge)

    def left_loop(self, block: Block, target: Block) -> ops.Iterate | None:
        """The loop that an edge leaves; structured loops are left one at a time."""
        if block.loop < 0 or block.loop == target.loop:
            return None
        if any(loop.index == block.loop for loop in self.flow.loops_around(target.index)):
            return None
        return self.flow.loops[block.loop].op

    def give(
        self,
        function: str,
        at: ops.Operation,
        names: tuple[ops.Carried, ...],
        values: tuple[ops.Forwarded, ...],
        env: dict[str, int],
        merge: bool = False,
    ) -> None:
        """Give names their new values, all at once; what is not known is forgotten.

        With `merge` other waves have given them values before: only what is the same for all is known.
        """
        seen = self.found.seen(at, env)
        numbers = [_value(value, seen) for value in values]
        for carried, number in zip(names, numbers, strict=True):
            if (function, carried.name) not in self.names.followed:
                continue
            before = env.pop(carried.name, None)
            modulus = self.names.modulus.get((function, carried.name))
            if number is not None and modulus is not None:
                number %= modulus
            if number is not None and abs(number) > LARGEST:
                number = None
            if number is not None and (not merge or number == before):
                env[carried.name] = number

    def kept(self, known: dict[tuple[int, str], int], target: Block) -> Env:
        """What can still be named at `target`."""
        found: list[tuple[int, str, int]] = []
        for (deep, name), value in known.items():
            key = (target.index, deep, name)
            keeps = self.keeps.get(key)
            if keeps is None:
                keeps = self.keeps[key] = self.is_kept(target, deep, name)
            if keeps:
                found.append((deep, name, value))
        return tuple(sorted(found))

    def is_kept(self, target: Block, deep: int, name: str) -> bool:
        """Whether a name of a function that is so many calls deep can still be named at `target`."""
        depth = len(target.calls)
        if deep > depth:
            return False
        home = self.names.home.get((_function(target.calls, deep), name))
        graph = target.graph if deep == depth else target.calls[deep].graph
        if home is not None and is_inside(graph, home):
            return True
        if self.names.is_live(name, deep, graph):
            return True
        return bool(self.parameters.values) and not deep and self.parameters.is_live(name, target)


def _is_divergent(op: ops.Iterate | ops.Conditional) -> bool:
    return isinstance(op, ops.Conditional) and is_divergent(op.condition)


def _function(calls: tuple[ops.Call, ...], depth: int) -> str:
    return calls[depth - 1].function.name if depth else ""


def _value(value: ops.Forwarded, env: Mapping[str, int]) -> int | None:
    if isinstance(value, BufferArg):
        return env.get(value.name)
    if isinstance(value, Buffer):
        return value.number
    return evaluate(value, env) if isinstance(value, Expr) else None


def _ruled_out(block: Block, target: Block, env: dict[str, int]) -> bool:
    """Whether a uniform branch on known numbers goes the other way."""
    branch = block.anchor
    if len(block.successors) < 2 or not isinstance(branch, (ops.Conditional, ops.CondBranch)):
        return False
    if is_divergent(branch.condition):
        return False
    return _goes_elsewhere(block, target, decide(branch.condition, env))


def _goes_elsewhere(block: Block, target: Block, holds: bool | None) -> bool:
    """Whether a branch whose condition holds, or does not, goes to another block."""
    if holds is None or len(block.successors) < 2:
        return False
    return target.index != block.way(holds)
