"""Which loops have to be followed one iteration at a time, and where execution can go from each state.

A loop whose variable decides no byte and no branch looks the same in every iteration, so going round it
is going back to the same program point: its trip count need not be unrolled at all. The others are
followed with their variable; where everything that depends on it repeats with a period, iterations a period
apart are the same, and following one period is following all of them. A loop of unknown length that carries
names is followed through these alone: sooner or later they take values that they had before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from fencepost.check.concrete_access import (
    LDS,
    Bytes,
    Place,
    effect_of,
    is_known,
    touched,
)
from fencepost.check.deciding_names import Names, variables
from fencepost.check.environments import Env, Environments, Frame, bodies_of, body_of
from fencepost.check.iteration_folds import Fold, carries, fold_of, patience
from fencepost.check.lockstep import in_step
from fencepost.check.loop_ends import LoopEnd, trips
from fencepost.check.parameter_classes import Parameters, runs
from fencepost.check.report import Iteration, OutOfRange, Touch
from fencepost.check.wave_kinds import Side, first_of_each, kinds_of_waves, side_of
from fencepost.flow import Block, Flow, Guard, Loop
from fencepost.ir import ops
from fencepost.ir.differing_names import Differing
from fencepost.ir.expr import Compare, decide, is_divergent
from fencepost.ir.trace import Body

UNROLLED = 24
"""Iterations that a loop of unknown length is followed for, if nothing in it repeats."""

Successor = tuple[int, Env, int]
"""The next block, the environment there, the loop whose back edge that is, or -1."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from one block to another, with the followed loops that it leaves and enters."""

    target: int
    around: int
    left: list[Loop]
    entered: list[Loop]
    plain: bool
    """No name changes on it."""


@dataclass(slots=True)
class Context:
    """What `check` knows about a kernel before it starts."""

    flow: Flow
    environments: Environments
    followed: set[int]
    """The loops that are followed iteration by iteration."""
    waves: list[int]
    """The waves to follow: one of each kind (see `wave_kinds`) stands for all of it."""
    compared: list[int]
    """The waves to compare them with: another one of the same kind, too."""
    folded: dict[int, Fold]
    """Followed loops whose iterations repeat."""
    grouped: set[str]
    """Counters that count groups; what a wave does to shared memory itself is in none."""
    ends: dict[int, LoopEnd] = field(default_factory=dict)
    """Loops up to a parameter in which branches ask how many iterations are still to come."""
    asking: dict[ops.Operation, LoopEnd] = field(init=False)
    """The branches that ask, and what for."""
    cut: set[int] = field(default_factory=set)
    """Followed loops of unknown length that had to be cut short."""
    edges: dict[int, list[Edge]] = field(default_factory=dict)
    known: dict[tuple[int, Env], list[Successor]] = field(default_factory=dict)
    touched: dict[tuple[int, int, Frame, int], list[Place]] = field(default_factory=dict)
    shared: dict[tuple[int, int, Frame, int, int], bool] = field(default_factory=dict)
    """For a copy and two waves: whether they share its work."""
    differing: dict[Body, Differing] = field(default_factory=dict)
    """For the kernel and its functions: the names that differ from wave to wave."""
    sides: dict[tuple[int, int], Side | None] = field(default_factory=dict)
    """For a block and a wave: whether the wave takes part; None where names decide that."""

    def __post_init__(self) -> None:
        self.asking = {branch: end for end in self.ends.values() for branch in end.answers}

    @classmethod
    def of(cls, flow: Flow, *, parameters: bool = False, phases: bool = True, ends: bool = False) -> Context:
        """Read the kernel. With `parameters`, a few values of each stand for all; else whoever asks has values.

        Without `phases`, nobody asks which phase a wait for an mbarrier is for. With `ends`, nobody knows how often
        loops up to a parameter run, and how near its end each of them is is followed by itself.
        """
        names = {body: Names.of(body, phases=phases) for body in bodies_of(flow)}
        given = Parameters.of(flow.trace, names[flow.trace]) if parameters else Parameters()
        rounds = patience(flow)
        followed: set[int] = set()
        folded: dict[int, Fold] = {}
        known: dict[int, LoopEnd] = {}
        for loop in flow.loops:
            if loop.op is None:
                continue
            spans = given.spans.get(loop.op.upto, {})
            end = LoopEnd.of(loop.op, spans.values()) if ends else None
            if end is not None:
                known[loop.index] = end
            mine = names[body_of(flow, flow.blocks[loop.header])]
            # Where operations complete one by one, how many iterations a loop runs matters by itself; where it
            # carries names, so do the values that it leaves them with.
            counts = loop.trip is not None and (rounds or carries(loop.op, mine))
            if loop.op.var in mine.deciding or counts:
                followed.add(loop.index)
                fold = fold_of(loop, mine, rounds, end)
                if fold is not None:
                    folded[loop.index] = fold
        kinds = kinds_of_waves(flow, alike=not any(mine.touches_by_wave for mine in names.values()))
        waves, compared = first_of_each(kinds, 1), first_of_each(kinds, 2)
        everything = (op for block in flow.blocks for op in block.ops)
        grouped = {op.counter for op in everything if isinstance(op, ops.CommitGroup)} - {LDS}
        environments = Environments.of(flow, names, given, in_step=in_step(flow))
        return cls(flow, environments, followed, waves, compared, folded, grouped, known)

    @property
    def hands_on(self) -> bool:
        """Whether names that loops carry or conditionals give decide anything, or how near its end a loop is."""
        return self.environments.hands_on or bool(self.ends)

    def touches_by_wave(self) -> bool:
        """Whether waves touch different bytes."""
        return any(names.touches_by_wave for names in self.environments.names.values())

    def names(self, block: Block) -> Names:
        """The names of the body that a block belongs to."""
        return self.environments.names[body_of(self.flow, block)]

    def others(self, wave: int) -> list[int]:
        """The waves to compare `wave` with."""
        return [other for other in self.compared if other != wave]

    def follow_in_full(self, loop: int) -> None:
        """Follow a loop iteration by iteration after all."""
        self.followed.add(loop)
        self.folded.pop(loop, None)
        self.edges.clear()
        self.known.clear()

    def reachable_blocks(self) -> set[int]:
        """The blocks that can be reached when branches on constants go the way they do."""
        seen, todo = {0}, [0]
        while todo:
            block = self.flow.blocks[todo.pop()]
            for target in block.successors:
                if target not in seen and not ruled_out(block, target, {}):
                    seen.add(target)
                    todo.append(target)
        return seen

    def admits(self, block: Block, env: Env, wave: int) -> bool:
        """Whether `wave` can take part in `block`."""
        if not block.guards:
            return True
        known = self.side(block, wave)
        if known is not None:
            return known.admits
        guards, parameters = self.environments.guards(block), self.environments.parameters
        return all(
            guard.admits(wave, parameters.seen(guard.branch, dict(env[depth]))) for depth, guard in guards
        )

    def demands(self, block: Block, env: Env, wave: int) -> bool:
        """Whether `wave` is certain to take part in `block`."""
        if not block.guards:
            return True
        known = self.side(block, wave)
        if known is not None:
            return known.demands
        guards, parameters = self.environments.guards(block), self.environments.parameters
        return all(
            guard.demands(wave, parameters.seen(guard.branch, dict(env[depth]))) for depth, guard in guards
        )

    def undecided(self, block: Block, env: Env, wave: int) -> list[Guard]:
        """The guards of a block of which it is not known whether `wave` takes part, from the outside in."""
        parameters = self.environments.parameters
        asked = [
            (guard, parameters.seen(guard.branch, dict(env[depth])))
            for depth, guard in self.environments.guards(block)
        ]
        return [guard for guard, seen in asked if guard.admits(wave, seen) != guard.demands(wave, seen)]

    def side(self, block: Block, wave: int) -> Side | None:
        """Whether a wave takes part in a block; None where that depends on names."""
        key = (block.index, wave)
        if key not in self.sides:
            by_name = any(variables(guard.condition) for guard in block.guards)
            self.sides[key] = None if by_name else side_of(block.guards, wave)
        return self.sides[key]

    def iteration(self, block: Block, frame: Frame) -> Iteration:
        """The names of a block's body and their values, for people: buffers have names again."""
        handed, buffers = self.names(block).handed, body_of(self.flow, block).buffers
        numbers = {buffer.number: f"%{name}" for name, buffer in buffers.items()}
        shown: list[tuple[str, int | str]] = []
        hidden = {each.name for each in self.environments.parameters.differences.values()}
        hidden |= {end.name for end in self.ends.values()}
        for name, value in frame:
            if name in hidden:
                continue
            is_buffer = name in handed and handed[name].kind == ops.BUFFER
            shown.append((name, numbers.get(value, value) if is_buffer else value))
        return tuple(shown)

    def out_of_range(self, place: Place, op: ops.MemoryOperation, block: Block, frame: Frame) -> OutOfRange:
        """An access that leaves its buffer."""
        text = f"{place.view} lies outside %{place.view.buffer.name}"
        return OutOfRange(op, self.iteration(block, frame), text, block.calls)

    def touch(self, op: ops.MemoryOperation, block: Block, wave: int, frame: Frame, place: Bytes) -> Touch:
        """One access as it happened."""
        effect = effect_of(op)
        assert effect is not None
        iteration = self.iteration(block, frame)
        return Touch(op, wave, iteration, place, effect.verb, effect.engine, block.index, block.calls)

    def places(self, op: ops.MemoryOperation, block: Block, frame: Frame, wave: int) -> list[Place]:
        """The bytes that an access can touch."""
        key = (id(op), block.frame, frame, wave)
        found = self.touched.get(key)
        if found is None:
            values = self.environments.parameters.seen(op, dict(frame))
            found = [place for view in op.views for place in touched(view, values, wave, block.frame)]
            self.touched[key] = found
        return found

    def cooperates(self, op: ops.MemoryOperation, block: Block, frame: Frame, one: int, other: int) -> bool:
        """Whether two waves that both issue a copy share its work: it is the same bytes to both."""
        key = (id(op), block.frame, frame, one, other)
        found = self.shared.get(key)
        if found is None:
            mine, theirs = (self.places(op, block, frame, wave) for wave in (one, other))
            found = [place.bytes for place in mine] == [place.bytes for place in theirs]
            found = self.shared[key] = found and self._agree(op, block, frame, one, other)
        return found

    def _agree(self, op: ops.MemoryOperation, block: Block, frame: Frame, one: int, other: int) -> bool:
        """Whether bytes that are not known are the same for two waves all the same."""
        body = body_of(self.flow, block)
        if body not in self.differing:
            self.differing[body] = Differing.of(body)
        views = [view for view in op.views if self.differing[body].through(view, op)]
        values = self.environments.parameters.seen(op, dict(frame))
        return all(is_known(view, values, wave) for view in views for wave in (one, other))

    # ------------------------------------------------------------ where execution can go

    def successors(self, block: Block, env: Env) -> list[Successor]:
        """Where execution can go from the end of a block."""
        key = (block.index, env)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = list(self._successors(block, env))
        return found

    def _successors(self, block: Block, env: Env) -> list[Successor]:
        values = dict(env[-1])
        after = self.environments.after(block, env)
        found = []
        for edge in self._edges(block):
            if self._ruled_out(block, edge.target, values):
                continue
            if edge.plain:
                found.append((edge.target, env, edge.around))
                continue
            target = self.flow.blocks[edge.target]
            for here in self._passed(edge, after):
                entered = self.environments.enter(env, here, block, target)
                found += [
                    (edge.target, forked, edge.around) for forked in self.environments.forked(entered, target)
                ]
        return found

    def _ruled_out(self, block: Block, target: int, values: dict[str, int]) -> bool:
        """Whether a branch goes another way, or a loop up to a parameter runs or does not."""
        parameters, anchor = self.environments.parameters, block.anchor
        difference = parameters.differences.get(anchor) if anchor is not None else None
        if difference is not None:
            holds = difference.holds(values)
            return holds is not None and _goes_elsewhere(block, target, holds)
        end = self.asking.get(anchor) if anchor is not None else None
        if end is not None and anchor is not None:
            holds = end.holds(anchor, values)
            return holds is not None and _goes_elsewhere(block, target, holds)
        if isinstance(anchor, ops.Iterate):
            enters = self.flow.blocks[target].graph is anchor.body
            return runs(anchor, values) is not None and runs(anchor, values) is not enters
        return ruled_out(block, target, parameters.seen(anchor, values))

    def _edges(self, block: Block) -> list[Edge]:
        found = self.edges.get(block.index)
        if found is None:
            found = self.edges[block.index] = [self._edge(block, target) for target in block.successors]
        return found

    def _edge(self, block: Block, target: int) -> Edge:
        flow = self.flow
        around = flow.crossed_loop(block.index, target)
        moving = self.followed | self.ends.keys()
        before = [loop for loop in flow.loops_around(block.index) if loop.index in moving]
        behind = [loop for loop in flow.loops_around(target) if loop.index in moving]
        left = [loop for loop in before if loop not in behind]
        entered = [loop for loop in reversed(behind) if loop not in before]
        plain = not (left or entered or around in moving or self.hands_on)
        plain = plain and len(block.calls) == len(flow.blocks[target].calls)
        return Edge(target, around, left, entered, plain)

    def _passed(self, edge: Edge, values: dict[str, int]) -> list[dict[str, int]]:
        """The loop variables and what is to come of loops behind an edge; nothing if their values rule it out."""
        here = dict(values)
        if not all(self._leave(loop, here) for loop in edge.left):
            return []
        if edge.around in self.followed and not self._go_round(self.flow.loops[edge.around], here):
            return []
        for loop in edge.entered:
            if loop.index in self.followed:
                assert loop.op is not None
                here[loop.op.var] = loop.op.start
        found = [here]
        end = self.ends.get(edge.around)
        if end is not None:
            found = [{**here, end.name: to_come} for to_come in end.after_one_more(here[end.name])]
        for loop in edge.entered:
            end = self.ends.get(loop.index)
            if end is not None:
                begun = end.at_first(self._trips(loop, values))
                found = [{**each, end.name: to_come} for each in found for to_come in begun]
        return found

    def _trips(self, loop: Loop, values: dict[str, int]) -> tuple[float, float]:
        """How often a loop up to a parameter runs, by what is known of the parameter."""
        assert loop.op is not None
        spans = self.environments.parameters.spans.get(loop.op.upto, {})
        anywhere = (-inf, inf)
        return trips(
            loop.op, spans.get(values[loop.op.upto], anywhere) if loop.op.upto in values else anywhere
        )

    def _leave(self, loop: Loop, values: dict[str, int]) -> bool:
        """Leave a loop; False if this is not its last iteration."""
        assert loop.op is not None
        op, fold, end = loop.op, self.folded.get(loop.index), self.ends.get(loop.index)
        if end is not None and values.pop(end.name):
            return False
        if loop.index in self.followed:
            at = values.pop(op.var)
            if op.stop is not None:
                # The last iteration, or one that looks just like it.
                ahead = range(op.start, op.stop, op.step)[-1] - at
                if fold is not None and at >= fold.start:
                    ahead %= fold.length
                return not ahead
        return True

    def _go_round(self, loop: Loop, values: dict[str, int]) -> bool:
        assert loop.op is not None
        op, fold = loop.op, self.folded.get(loop.index)
        again = values[op.var] + op.step
        if fold is not None:
            if again >= fold.start + fold.length:
                again -= fold.length
        elif op.stop is None and again >= op.start + op.step * UNROLLED:
            self.cut.add(loop.index)
            return False
        elif op.stop is not None and again >= op.stop:
            return False
        values[op.var] = again
        return True


def ruled_out(block: Block, target: int, values: dict[str, int]) -> bool:
    """Whether a uniform branch on names goes the other way."""
    branch = block.anchor
    if not isinstance(branch, (ops.Conditional, ops.CondBranch)) or not isinstance(branch.condition, Compare):
        return False
    if is_divergent(branch.condition) or len(block.successors) < 2:
        return False
    holds = decide(branch.condition, values)
    return holds is not None and _goes_elsewhere(block, target, holds)


def _goes_elsewhere(block: Block, target: int, holds: bool) -> bool:
    """Whether a branch whose condition does or does not hold goes to another block."""
    if not isinstance(block.anchor, (ops.Conditional, ops.CondBranch)) or len(block.successors) < 2:
        return False
    return target != block.way(holds)
