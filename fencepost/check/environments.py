"""The values of names, as far as they decide anything, and how they change from block to block.

A function knows its own names only, so an environment has one frame for the kernel and one for each function
that is being run. Names that nothing asks for any more are left out: states that differ in them are one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from fencepost.check.concrete_access import view_names
from fencepost.check.deciding_names import Names, Value, condition_of, given_at, results_given_at, variables
from fencepost.check.parameter_classes import Parameters
from fencepost.flow import Block, Flow, Guard
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg
from fencepost.ir.expr import Unknown, evaluate, is_divergent
from fencepost.ir.trace import Body, Graph

Frame = tuple[tuple[str, int], ...]
"""Names and their values: variables of the loops that are followed, and numbers and buffers that are forwarded."""
Env = tuple[Frame, ...]
"""One frame for the kernel and one for each function that is being run, outermost first."""

Frames = Sequence[Frame | Mapping[str, int]]
"""The same, as a walk over states or along one path has them."""

LARGEST = 2**64
"""Numbers beyond this are taken as unknown: no address is that large."""


def value_of(value: Value, values: Mapping[str, int], modulus: int | None = None) -> int | None:
    """What a name becomes that is given `value`; buffers are known by their number."""
    if isinstance(value, BufferArg):
        return values.get(value.name)
    if isinstance(value, Buffer):
        return value.number
    number = evaluate(value, values)
    if number is None or abs(number) > LARGEST:
        return None
    return number if modulus is None else number % modulus


def bodies_of(flow: Flow) -> list[Body]:
    """The kernel and the functions that it runs."""
    functions = dict.fromkeys(call.function for block in flow.blocks for call in block.calls)
    return [flow.trace, *functions]


def body_of(flow: Flow, block: Block) -> Body:
    """The kernel or function that a block belongs to."""
    return block.calls[-1].function if block.calls else flow.trace


@dataclass(slots=True)
class Environments:
    """How names change along the edges of a flow."""

    flow: Flow
    names: dict[Body, Names]
    parameters: Parameters = field(default_factory=Parameters)
    given: dict[int, list[tuple[str, Value]]] = field(default_factory=dict)
    """What the end of each block forwards."""
    sides: dict[int, Guard] = field(default_factory=dict)
    """Blocks that end a side of a divergent conditional with results, and which side that is."""
    live: list[set[tuple[int, str]]] = field(default_factory=list)
    """For each block: the handed-on names, with their depth, that may still be asked for."""
    asked: list[set[tuple[int, str]]] = field(default_factory=list)
    """For each block: the names, with their depth, that it asks for itself."""
    value_holders: set[int] = field(default_factory=set)
    """Blocks whose end forwards results of operations."""
    guards_at: dict[int, list[tuple[int, Guard]]] = field(default_factory=dict)
    homes: dict[str, frozenset[Guard]] = field(default_factory=dict)
    """Numbers that are forwarded between blocks of one side of a divergent branch, and which side that is."""

    @classmethod
    def of(
        cls,
        flow: Flow,
        names: dict[Body, Names],
        parameters: Parameters | None = None,
        *,
        in_step: bool = True,
    ) -> Environments:
        """Read the kernel.

        Where all waves meet the same barriers, what is forwarded within one side of a divergent branch is taken as
        not known, as the placement of barriers takes it. Where sides run on their own, it decides too much for that.
        """
        found = cls(flow, names, parameters or Parameters())
        found.value_holders = {block.index for block in flow.blocks if results_given_at(block.anchor)}
        if found.hands_on:
            starts: dict[str, Block] = {}
            for block in flow.blocks:
                starts.setdefault(block.graph.name, block)
            for block in flow.blocks:
                handed = names[body_of(flow, block)].handed
                given = [(name.name, value) for name, value in given_at(block.anchor) if name.name in handed]
                if given and block.guards and isinstance(block.anchor, ops.Branch):
                    home = starts[block.anchor.target]
                    if not in_step and set(block.guards) <= set(home.guards):
                        # The waves of one side agree about it; nobody else may ask for it.
                        found.homes |= {name: frozenset(home.guards) for name, _ in given}
                    else:
                        # What the sides of a divergent branch forward differs from wave to wave: it stays unknown.
                        given = [(name, Unknown()) for name, _ in given]
                if given:
                    found.given[block.index] = given
                    if _gives_divergently(block.anchor):
                        found.sides[block.index] = block.guards[-1]
            found.asked = [_asked(found, block) for block in flow.blocks]
            found.live = _liveness(found)
            found.parameters.keep_few(_active(found))
        return found

    @property
    def hands_on(self) -> bool:
        """Whether any name that decides something is forwarded, or is a parameter that is followed."""
        return bool(self.parameters.followed) or any(names.handed for names in self.names.values())

    def starts(self) -> list[Env]:
        """What is known where the kernel begins."""
        return self.forked(((),), self.flow.blocks[0])

    def forked(self, env: Env, block: Block) -> list[Env]:
        """What is known in a block, for each value of the parameters that it is the first to ask for."""
        choices = self.parameters.choices
        known = {name for name, _ in env[0]}
        asked = self.asked[block.index] if choices else set()
        new = [name for name in choices if (0, name) in asked and name not in known]
        if not new:
            return [env]
        order = self.names[self.flow.trace].order
        frames = [
            sorted(
                [*env[0], *zip(new, values, strict=True)], key=lambda item: (order.get(item[0], -1), item[0])
            )
            for values in product(*(choices[name] for name in new))
        ]
        return [(tuple(frame), *env[1:]) for frame in frames]

    def after(self, block: Block, frames: Frames) -> dict[str, int]:
        """The names of the block's body behind its end.

        The sides of a divergent conditional end one after the other, each for its own waves: what its results are is
        known where that is the same number on every side that a wave can take.
        """
        values = dict(frames[-1])
        given = self.given.get(block.index)
        if given is None:
            return values
        modulus = self.names[body_of(self.flow, block)].modulus
        after, seen = dict(values), self.parameters.seen(block.anchor, values)
        side = self.sides.get(block.index)
        second = side is not None and not side.holds
        if second and not self.is_taken(block, False, frames):
            return after
        joined = second and self.is_taken(block, True, frames)
        for name, value in given:
            number = value_of(value, seen, modulus.get(name))
            if number is None or (joined and number != values.get(name)):
                after.pop(name, None)
            else:
                after[name] = number
        return after

    def is_taken(self, block: Block, holds: bool, frames: Frames) -> bool:
        """Whether a wave can take this side of the innermost divergent conditional around a block."""
        *around, (depth, guard) = self.guards(block)
        asked = [
            (guard, self.parameters.seen(guard.branch, dict(frames[depth])))
            for depth, guard in (*around, (depth, replace(guard, holds=holds)))
        ]
        return any(
            all(guard.admits(wave, values) for guard, values in asked)
            for wave in range(self.flow.trace.waves)
        )

    def enter(self, env: Env, values: dict[str, int], block: Block, target: Block) -> Env:
        """The environment at `target`; `values` are the names of the block's body behind the edge."""
        deeper = len(target.calls) - len(block.calls)
        if deeper > 0:
            return (*env[:-1], self.frame(values, target, len(block.calls)), ())
        if deeper < 0:
            return (*env[:-2], self.frame(dict(env[-2]), target, len(target.calls)))
        return (*env[:-1], self.frame(values, target, len(block.calls)))

    def frame(self, values: dict[str, int], target: Block, depth: int) -> Frame:
        """The names that matter from `target` on, in the order of the text."""
        body = target.calls[depth - 1].function if depth else self.flow.trace
        handed, parameters = self.names[body].handed, set() if depth else self.parameters.followed
        if not (handed or parameters):
            return tuple(values.items())
        live = self.live[target.index]
        kept = [
            item
            for item in values.items()
            if not (item[0] in handed or item[0] in parameters)
            or ((depth, item[0]) in live and self.knows(target, item[0]))
        ]
        order = self.names[body].order
        return tuple(sorted(kept, key=lambda item: (order.get(item[0], -1), item[0])))

    # ------------------------------------------------------------ divergent conditionals

    def knows(self, block: Block, name: str) -> bool:
        """Whether the waves that run a block agree about what is forwarded as `name`."""
        return name not in self.homes or self.homes[name] <= set(block.guards)

    def guards(self, block: Block) -> list[tuple[int, Guard]]:
        """The guards of a block, each with the frame that its condition is asked in."""
        found = self.guards_at.get(block.index)
        if found is None:
            depths = _depths(self.flow, block)
            found = [(depths[_root(guard.branch)] if depths else 0, guard) for guard in block.guards]
            self.guards_at[block.index] = found
        return found


def _gives_divergently(op: ops.Operation | None) -> bool:
    owner = op.graph.owner if isinstance(op, ops.Give) and op.graph is not None else None
    return isinstance(owner, ops.Conditional) and is_divergent(owner.condition)


def _root(op: ops.Operation) -> Graph | None:
    """The outermost graph around an operation."""
    graph = op.graph
    while graph is not None and graph.owner is not None:
        graph = graph.owner.graph
    return graph


def _depths(flow: Flow, block: Block) -> dict[Graph | None, int]:
    """The depth of each outermost graph that is being run; empty without calls, where there is but one."""
    if not block.calls:
        return {}
    depths: dict[Graph | None, int] = dict.fromkeys(flow.trace.blocks, 0)
    for depth, call in enumerate(block.calls, 1):
        depths |= dict.fromkeys(call.function.blocks, depth)
    return depths


def _liveness(found: Environments) -> list[set[tuple[int, str]]]:
    """Which names can still be asked for at the start of each block."""
    flow = found.flow
    asked = found.asked
    live = [set(names) for names in asked]
    changed = True
    while changed:
        changed = False
        for index in reversed(flow.order):
            block, depth = flow.blocks[index], len(flow.blocks[index].calls)
            names = set().union(*(live[target] for target in block.successors))
            given = [(name, value) for name, value in found.given.get(index, ()) if (depth, name) in names]
            side = found.sides.get(index)
            if side is None or side.holds:
                names -= {(depth, name) for name, _ in given}
            names |= {(depth, used) for _, value in given for used in variables(value)}
            names |= asked[index]
            if names != live[index]:
                live[index] = names
                changed = True
    return live


def _active(found: Environments) -> list[set[str]]:
    """For each block, the parameters that were asked for on some way to it and may be asked for again."""
    flow, followed = found.flow, found.parameters.followed
    so_far = [{name for depth, name in asked if not depth and name in followed} for asked in found.asked]
    todo = deque(flow.order)
    while todo:
        block = flow.blocks[todo.popleft()]
        for target in block.successors:
            if not so_far[block.index] <= so_far[target]:
                so_far[target] |= so_far[block.index]
                todo.append(target)
    return [
        {name for name in names if (0, name) in live} for names, live in zip(so_far, found.live, strict=True)
    ]


def _asked(found: Environments, block: Block) -> set[tuple[int, str]]:
    """The names that a block itself asks for."""
    depth = len(block.calls)
    phases = found.names[body_of(found.flow, block)].phases
    names: set[str] = set().union(*(view_names(op, phases=phases) for op in block.ops))
    condition = None if block.anchor is None else condition_of(block.anchor)
    if condition is not None:
        names |= variables(condition)
    names |= found.parameters.asked_at(block.anchor)
    for _, value in found.given.get(block.index, ()):
        names |= variables(value) & found.parameters.followed
    asked = {(depth, name) for name in names}
    for at, guard in found.guards(block):
        asked |= {(at, name) for name in variables(guard.condition)}
    return asked
