"""A kernel's blocks, once for every combination of the numbers that slots and branches depend on.

In a loop over a ring of three slots every third iteration touches the same slot. So the loop's body is looked at
three times, as three *phases* that follow each other round and round; in each of them every slot is a plain
number. The same goes for numbers and buffers that loops carry (`carry %x = 0`, rotated buffers): they are
followed from what they begin as. Of a parameter, a few values stand for all (see `parameters`); a block that is the
first to ask for it is there once for each. Numbers with too many values are not followed, and what depends on them is
unknown. Placement does not see phases: a barrier stands in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.analysis.liveness import live_numbers
from fencepost.analysis.loop_periods import MOST_ROUNDS, Rounds, rounds_of
from fencepost.analysis.moduli import moduli
from fencepost.analysis.parameters import Asked, Parameters
from fencepost.flow import Block, Flow, Guard
from fencepost.flow.unstructured import reverse_postorder
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg
from fencepost.ir.expr import Compare, Condition, Expr, Unknown, Var, decide, evaluate, is_divergent, leaves
from fencepost.ir.graph import Graph
from fencepost.ir.loop_carried import names_of
from fencepost.ir.trace import Body, CapturedTrace

Name = tuple[str, str]
"""A function (or "" for the kernel) and a name in it."""
Env = tuple[tuple[int, str, int], ...]
"""What is known: how many calls deep, name, value."""
EXACT_ROUNDS = 16
"""A loop that carries numbers, or issues copies, and goes round no more often is followed from beginning to end."""
LARGEST = 2**64
"""Numbers beyond this are taken as unknown: squares of squares soon fill the memory, and no address is that large."""
MOST_INSTANCES = 4096
"""Blocks times phases that a kernel may have, or four times its blocks if that is more."""
MOST_ACCESSES = 16_384
"""Accesses times phases, or four times its accesses if that is more."""
PATIENCE = 4
"""How many times as many phases are looked at in vain before less is followed."""


class BlockInstance(NamedTuple):
    """A block with the numbers that it is executed with."""

    block: int
    env: Env


@dataclass(slots=True)
class BlockInstances:
    """The phases of a kernel and the edges between them. Execution starts in one of the first `entries`."""

    nodes: list[BlockInstance] = field(default_factory=list)
    edges: list[list[tuple[int, int]]] = field(default_factory=list)
    """For each phase: where execution can go, and the loop that goes round or -1."""
    order: list[int] = field(default_factory=list)
    entries: int = 1
    parameters: Parameters = field(default_factory=Parameters)
    dropped: list[str] = field(default_factory=list)
    """Names that are not followed because there would be too many phases."""
    coarsest: bool = False
    """No name is followed: there is nothing left to drop."""

    def admits(self, guard: Guard, wave: int, env: dict[str, int]) -> bool:
        """Whether a wave can take part in what is guarded."""
        return guard.admits(wave, self.parameters.seen(guard.branch, env))

    def demands(self, guard: Guard, wave: int, env: dict[str, int]) -> bool:
        """Whether a wave is certain to take part."""
        return guard.demands(wave, self.parameters.seen(guard.branch, env))


def values_in(instance: BlockInstance, flow: Flow) -> dict[str, int]:
    """The numbers that the operations of a phase see."""
    depth = len(flow.blocks[instance.block].calls)
    return {name: value for deep, name, value in instance.env if deep == depth}


def find_instances(flow: Flow, slots: bool = True) -> BlockInstances:
    """The phases of a kernel; one for each block if nothing depends on a number, or `slots` is off."""
    return next(coarser_and_coarser(flow, slots))


def coarser_and_coarser(flow: Flow, slots: bool = True) -> Iterator[BlockInstances]:
    """The phases of a kernel, then fewer and fewer of them, down to one for each block."""
    names = _Names.of(flow) if slots else _Names()
    dropped: list[str] = []
    share, explored = 1, 0
    while names.followed and share < MOST_INSTANCES:
        exploration = _Exploration(flow, names, _Most.of(flow, share))
        found = exploration.run()
        if isinstance(found, BlockInstances):
            found.dropped = list(dropped)
            yield found
            while share < MOST_INSTANCES and not exploration.exceeds(_Most.of(flow, share)):
                share *= 8
            continue
        # Too much to follow: without the number that has most values it is less.
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


class _Most(NamedTuple):
    """How much is explored."""

    instances: int
    accesses: int

    @classmethod
    def of(cls, flow: Flow, share: int) -> _Most:
        """All that is allowed, or a share of it: one part in so many."""
        blocks, accesses = len(flow.blocks), sum(_accesses_in(block) for block in flow.blocks)
        if share == 1:
            return cls(max(MOST_INSTANCES, 4 * blocks), max(MOST_ACCESSES, 4 * accesses))
        return cls(blocks + MOST_INSTANCES // share, accesses + MOST_ACCESSES // share)


def _accesses_in(block: Block) -> int:
    return sum(isinstance(op, ops.MemoryOperation) for op in block.ops)


def _one_for_each_block(flow: Flow) -> BlockInstances:
    edges = [
        [(target, flow.crossed_loop(block.index, target)) for target in block.successors]
        for block in flow.blocks
    ]
    return BlockInstances([BlockInstance(block.index, ()) for block in flow.blocks], edges, flow.order)


# ---------------------------------------------------------------- which names matter


@dataclass(slots=True)
class _Names:
    """The names that slots, ranges and branches depend on."""

    followed: set[Name] = field(default_factory=set)
    home: dict[Name, Graph] = field(default_factory=dict)
    """The region in which each can be named."""
    rounds: dict[ops.Iterate, Rounds | None] = field(default_factory=dict)
    live: dict[str, set[Graph]] = field(default_factory=dict)
    """For the numbers of labelled blocks: the blocks in which each may still be asked for."""
    modulus: dict[Name, int] = field(default_factory=dict)
    """For numbers that grow and of which only a remainder matters: by what."""
    parameters: Parameters = field(default_factory=Parameters)

    @classmethod
    def of(cls, flow: Flow) -> _Names:
        names = cls()
        bodies: list[tuple[str, Body]] = [("", flow.trace)]
        bodies += [(function.name, function) for function in flow.trace.functions()]
        asynchronous = any(isinstance(op, ops.AsyncOperation) for block in flow.blocks for op in block.ops)
        for function, body in bodies:
            names.read(function, body, asynchronous)
        names.live = live_numbers(flow, {name for function, name in names.followed if not function})
        if flow.trace.numbers:
            names.parameters = Parameters.of(flow, list(names.asked(flow.trace)))
            names.followed |= {("", name) for name in names.parameters.values}
        return names

    def asked(self, trace: CapturedTrace) -> Iterator[Asked]:
        """Everything that decides which bytes are touched or which way a branch goes, itself or through a name."""
        for op in trace.preorder_walk():
            for part in _decisive(op):
                if isinstance(part, Expr | Compare):
                    yield op, part
            for name, value in _given_at(op):
                if isinstance(value, Expr) and ("", name.name) in self.followed:
                    modulus = self.modulus.get(("", name.name))
                    yield op, value if modulus is None else value % modulus

    @staticmethod
    def loops_that_issue(body: Body, loops: list[ops.Iterate]) -> set[ops.Iterate]:
        """The loops around operations that are counted: how many are in flight depends on how often they go round."""
        found: set[ops.Iterate] = set()
        for op in body.preorder_walk() if loops else ():
            if isinstance(op, ops.AsyncOperation | ops.GlobalRead | ops.GlobalWrite | ops.CommitGroup):
                graph = op.graph
                while graph is not None and graph.owner is not None:
                    if isinstance(graph.owner, ops.Iterate):
                        found.add(graph.owner)
                    graph = graph.owner.graph
        return found

    def is_live(self, name: str, depth: int, graph: Graph | None) -> bool:
        """Whether a number of a labelled block may still be asked for."""
        if depth or name not in self.live:
            return False
        while graph is not None and graph.owner is not None:
            graph = graph.owner.graph
        return graph in self.live[name]

    def read(self, function: str, body: Body, asynchronous: bool) -> None:
        """Find what matters in one kernel or function."""
        wanted: dict[str, list[Expr | Condition]] = {}
        outside: dict[str, list[Graph]] = {}
        loops: list[ops.Iterate] = []
        sources: dict[str, list[tuple[ops.Handed, Graph]]] = {}
        for op in body.preorder_walk():
            for part in _decisive(op):
                for name in _named(part):
                    if isinstance(part, Expr | Compare):
                        wanted.setdefault(name, []).append(part)
                    else:
                        wanted.setdefault(name, [])
                    assert op.graph is not None
                    outside.setdefault(name, []).append(op.graph)
            if isinstance(op, ops.Iterate):
                loops.append(op)
            _add_sources(sources, op)
        issuing = self.loops_that_issue(body, loops) if asynchronous else set()
        if not (wanted or issuing):
            return
        decided = {name: list(parts) for name, parts in wanted.items()}
        _close_over(wanted, sources, outside)
        handed = {name: [value for value, _ in sources[name]] for name in wanted if name in sources}
        for name, modulus in moduli(decided, handed).items():
            self.modulus[function, name] = modulus
        numbered = {loop.var for loop in loops}
        self.followed |= {(function, name) for name in wanted if name not in numbered}
        self.find_homes(function, body, outside)
        self.find_rounds(function, loops, issuing, wanted)

    def find_rounds(
        self,
        function: str,
        loops: list[ops.Iterate],
        issuing: set[ops.Iterate],
        wanted: dict[str, list[Expr | Condition]],
    ) -> None:
        """The loops whose iterations are distinguished, and how."""
        for loop in loops:
            counted = loop in issuing or any(name.name in wanted for name in loop.carried)
            if counted and loop.trip is not None and loop.trip <= EXACT_ROUNDS:
                # What its arguments are, or how much is in flight, depends on how often it has gone round: each
                # iteration by itself.
                wanted.setdefault(loop.var, []).append(loop.index)
            if loop.var in wanted:
                parts = wanted[loop.var]
                self.rounds[loop] = rounds_of(loop.var, loop.start, loop.step, loop.trip, parts)
                if self.rounds[loop] is not None:
                    self.followed.add((function, loop.var))

    def find_homes(self, function: str, body: Body, used: dict[str, list[Graph]]) -> None:
        """The regions that the names of loops and conditionals belong to; `used` says where each is asked for."""
        for op in body.preorder_walk():
            if isinstance(op, ops.Iterate):
                self.home[function, op.var] = op.body
                for carried in op.carried:
                    graphs = used.get(carried.name, [])
                    assert op.graph is not None
                    self.home[function, carried.name] = (
                        op.body if all(_is_inside(graph, op.body) for graph in graphs) else op.graph
                    )
            elif isinstance(op, ops.Conditional):
                for given in op.gives:
                    assert op.graph is not None
                    self.home[function, given.name] = op.graph


def _add_sources(sources: dict[str, list[tuple[ops.Handed, Graph]]], op: ops.Operation) -> None:
    """Note what names are given by an operation, and where."""
    if isinstance(op, ops.Iterate | ops.Conditional):
        for number, carried in enumerate(names_of(op)):
            sources[carried.name] = list(_handed_on(op, carried, number))
    elif isinstance(op, ops.Branch):
        assert op.graph is not None
        for carried, value in zip(op.names, op.args, strict=True):
            sources.setdefault(carried.name, []).append((value, op.graph))


def _close_over(
    wanted: dict[str, list[Expr | Condition]],
    sources: dict[str, list[tuple[ops.Handed, Graph]]],
    outside: dict[str, list[Graph]],
) -> None:
    """What a wanted name is made from is wanted, too."""
    todo = list(wanted)
    while todo:
        name = todo.pop()
        for value, graph in sources.get(name, ()):
            for other in _named(value):
                outside.setdefault(other, []).append(graph)
                if other not in wanted:
                    wanted[other] = []
                    todo.append(other)
                # What a number becomes of itself decides nothing yet: see `moduli`.
                if isinstance(value, Expr) and other != name:
                    wanted[other].append(value)


def _decisive(op: ops.Operation) -> Iterator[Expr | Condition | Buffer]:
    """What decides which bytes an operation touches or which way it branches."""
    if isinstance(op, ops.MemoryOperation):
        for view in op.views:
            if isinstance(view.buffer, BufferArg):
                yield view.buffer
            for part in (view.slot, view.lo, view.hi):
                if part is not None:
                    yield part
    elif isinstance(op, ops.Conditional | ops.CondBranch):
        yield op.condition


def _named(value: ops.Handed | Condition) -> list[str]:
    """The names in an expression; the name of a buffer that is forwarded."""
    if isinstance(value, Buffer):
        return [value.name] if isinstance(value, BufferArg) else []
    if isinstance(value, Expr | Compare):
        return [leaf.name for leaf in leaves(value) if isinstance(leaf, Var)]
    return []


def _given_at(op: ops.Operation) -> Iterator[tuple[ops.Carried, ops.Handed | None]]:
    """The names that are given something at an operation, and what."""
    if isinstance(op, ops.Iterate):
        yield from ((name, name.init) for name in op.carried)
    elif isinstance(op, ops.Branch):
        yield from zip(op.names, op.args, strict=True)
    elif isinstance(op, ops.Next | ops.Give) and op.graph is not None:
        owner = op.graph.owner
        assert isinstance(owner, ops.Iterate | ops.Conditional)
        yield from zip(names_of(owner), op.values, strict=True)


def _handed_on(
    op: ops.Iterate | ops.Conditional, carried: ops.Carried, number: int
) -> Iterator[tuple[ops.Handed, Graph]]:
    """What a name can become, and where that is said."""
    if carried.init is not None and op.graph is not None:
        yield carried.init, op.graph
    for graph in ops.regions(op):
        if isinstance(graph.last, ops.Next | ops.Give):
            yield graph.last.values[number], graph


def _is_inside(graph: Graph | None, region: Graph) -> bool:
    while graph is not None:
        if graph is region:
            return True
        graph = graph.owner.graph if graph.owner is not None else None
    return False


# ---------------------------------------------------------------- following them


class _Exploration:
    """Every phase that can be reached."""

    def __init__(self, flow: Flow, names: _Names, most: _Most) -> None:
        self.flow = flow
        self.names = names
        self.parameters = names.parameters
        self.found = BlockInstances(parameters=names.parameters)
        self.number: dict[BlockInstance, int] = {}
        self.values: dict[Name, set[int]] = {}
        self.most = most
        self.accesses_in = [_accesses_in(block) for block in flow.blocks]
        self.accesses = 0
        self.overgrown = False

    def run(self) -> BlockInstances | Name:
        """All phases, or the name that has too many values."""
        for begun in self.parameters.forked(self.flow.blocks[0], {}):
            self.enter(BlockInstance(0, tuple(sorted((0, name, value) for name, value in begun.items()))))
        self.found.entries = len(self.found.nodes)
        for number, instance in enumerate(self.found.nodes):  # grows on the way
            for target, env, loop in self.successors(instance):
                self.found.edges[number].append((self.enter(BlockInstance(target, env)), loop))
            if self.overgrown or self.exceeds(self.most):
                return max(self.values, key=lambda name: len(self.values[name]))
        # Phases are numbered from 1 on here: 0 leads to all entries.
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

    def exceeds(self, most: _Most) -> bool:
        """Whether that is more than what is allowed. Without a number to drop it never is."""
        return bool(self.values) and (len(self.found.nodes) > most.instances or self.accesses > most.accesses)

    def successors(self, instance: BlockInstance) -> Iterator[tuple[int, Env, int]]:
        """Where a phase leads: the next block, what is known there, the loop that goes round."""
        block = self.flow.blocks[instance.block]
        depth = len(block.calls)
        here = values_in(instance, self.flow)
        for target in block.successors:
            around = self.flow.crossed_loop(block.index, target)
            following = self.flow.blocks[target]
            if self.ruled_out(block, following, here):
                continue
            for after in self.step(block, following, around, dict(here)):
                known = {(deep, name): value for deep, name, value in instance.env if deep < depth}
                known.update({(depth, name): value for name, value in after.items()})
                for env in self.entered(self.kept(known, following), following):
                    yield target, env, around

    def entered(self, known: Env, block: Block) -> Iterator[Env]:
        """What is known where a block begins, for each value of the parameters that it is the first to ask for."""
        own = {name: value for deep, name, value in known if not deep}
        for env in self.parameters.forked(block, own):
            new = ((0, name, value) for name, value in env.items() if name not in own)
            yield tuple(sorted((*known, *new))) if len(env) > len(own) else known

    def ruled_out(self, block: Block, target: Block, env: dict[str, int]) -> bool:
        """Whether a branch on known numbers goes another way, or a loop up to a parameter runs or does not."""
        anchor = block.anchor
        if isinstance(anchor, ops.Iterate) and anchor.upto in env:
            return (anchor.start < env[anchor.upto]) is not (target.graph is anchor.body)
        if isinstance(anchor, ops.Conditional | ops.CondBranch) and anchor in self.parameters.sums:
            return _goes_elsewhere(block, target, self.parameters.holds(anchor, env))
        return _ruled_out(block, target, self.parameters.seen(anchor, env))

    def step(self, block: Block, target: Block, around: int, env: dict[str, int]) -> Iterator[dict[str, int]]:
        """What the names stand for behind an edge."""
        function = _function(block.calls, len(block.calls))
        anchor = block.anchor
        self.hand_on(function, block, env)
        loop = self.flow.loops[around].op if around >= 0 else self.left_loop(block, target)
        if loop is not None and (function, loop.var) in self.names.followed:
            rounds = self.names.rounds[loop]
            assert rounds is not None
            again, leaves_ = rounds.following(env[loop.var])
            if around >= 0:
                for value in again:
                    yield env | {loop.var: value}
                return
            if not leaves_:
                return
        if isinstance(anchor, ops.Iterate):
            inits = (carried.init for carried in anchor.carried)
            given = tuple(init for init in inits if init is not None)
            self.give(function, anchor, names_of(anchor), given, env)
            if target.graph is anchor.body and (function, anchor.var) in self.names.followed:
                env[anchor.var] = anchor.start
        yield env

    def hand_on(self, function: str, block: Block, env: dict[str, int]) -> None:
        """Give the values that the end of a block forwards."""
        anchor = block.anchor
        if isinstance(anchor, ops.Branch):
            # What only some waves forward is not the same for all.
            args = tuple(Unknown() for _ in anchor.args) if block.guards else anchor.args
            self.give(function, anchor, anchor.names, args, env)
        elif isinstance(anchor, ops.Next | ops.Give) and anchor.graph is not None:
            owner = anchor.graph.owner
            assert isinstance(owner, ops.Iterate | ops.Conditional)
            second = isinstance(owner, ops.Conditional) and anchor.graph is owner.orelse
            merge = second and _is_divergent(owner)
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
        values: tuple[ops.Handed, ...],
        env: dict[str, int],
        merge: bool = False,
    ) -> None:
        """Give names their new values, all at once; what is not known is forgotten.

        With `merge` other waves have given them values before: only what is the same for all is known.
        """
        seen = self.parameters.seen(at, env)
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
        depth = len(target.calls)
        found: list[tuple[int, str, int]] = []
        for (deep, name), value in known.items():
            if deep > depth:
                continue
            home = self.names.home.get((_function(target.calls, deep), name))
            graph = target.graph if deep == depth else target.calls[deep].graph
            known_here = (home is not None and _is_inside(graph, home)) or self.names.is_live(
                name, deep, graph
            )
            if known_here or (not deep and self.parameters.is_live(name, target)):
                found.append((deep, name, value))
        return tuple(sorted(found))


def _is_divergent(op: ops.Iterate | ops.Conditional) -> bool:
    return isinstance(op, ops.Conditional) and is_divergent(op.condition)


def _function(calls: tuple[ops.Call, ...], depth: int) -> str:
    return calls[depth - 1].function.name if depth else ""


def _value(value: ops.Handed, env: Mapping[str, int]) -> int | None:
    if isinstance(value, BufferArg):
        return env.get(value.name)
    if isinstance(value, Buffer):
        return value.number
    return evaluate(value, env) if isinstance(value, Expr) else None


def _ruled_out(block: Block, target: Block, env: dict[str, int]) -> bool:
    """Whether a uniform branch on known numbers goes the other way."""
    branch = block.anchor
    if not isinstance(branch, ops.Conditional | ops.CondBranch) or len(block.successors) < 2:
        return False
    if is_divergent(branch.condition):
        return False
    return _goes_elsewhere(block, target, decide(branch.condition, env))


def _goes_elsewhere(block: Block, target: Block, holds: bool | None) -> bool:
    """Whether a branch whose condition holds, or does not, goes to another block."""
    if holds is None or len(block.successors) < 2:
        return False
    return target.index != block.way(holds)
