"""The names whose numbers are followed: those that slots, ranges and branches depend on.

The numbers of labelled blocks are followed only where they may still be asked for (`live_numbers`): elsewhere, blocks
that differ in them are one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fencepost.analysis.last_iterations import LastIterations
from fencepost.analysis.parameters import Asked, Parameters
from fencepost.analysis.slot_periods import MOST_ROUNDS, Rounds, follows_no_rule, moduli, rounds_of
from fencepost.flow import Block, Flow
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg, View
from fencepost.ir.expr import Compare, Condition, Expr, Var, leaves
from fencepost.ir.loop_carried import names_of
from fencepost.ir.trace import Body, CapturedTrace, Graph

Name = tuple[str, str]
"""A function (or "" for the kernel) and a name in it."""
EXACT_ROUNDS = 16
"""A loop that carries numbers, or issues copies, and has no more iterations is followed from beginning to end."""


@dataclass(slots=True)
class FollowedNames:
    """The names that slots, ranges and branches depend on."""

    followed: set[Name] = field(default_factory=set)
    home: dict[Name, Graph] = field(default_factory=dict)
    """The region in which each can be named."""
    rounds: dict[ops.Iterate, Rounds | None] = field(default_factory=dict)
    live: dict[str, set[Graph]] = field(default_factory=dict)
    """For the numbers of labelled blocks: the blocks in which each may still be asked for."""
    modulus: dict[Name, int] = field(default_factory=dict)
    """For numbers that grow and of which only a remainder matters: by what."""
    makes: dict[Name, set[Name]] = field(default_factory=dict)
    """For each name: the other names that are made from it."""
    parameters: Parameters = field(default_factory=Parameters)
    last: dict[ops.Iterate, LastIterations] = field(default_factory=dict)
    """Loops of unknown length in which branches ask how many iterations are left."""
    blind: dict[ops.Operation, frozenset[str]] = field(default_factory=dict)
    """Branches whose conditions on a loop's variable follow no rule: to them its value is unknown."""
    waves: int = 1
    """How many waves run the kernel: conditions on a loop's variable and `wave` change where they do for any."""

    @classmethod
    def of(cls, flow: Flow) -> FollowedNames:
        """Those of a kernel and its functions."""
        names = cls(waves=flow.trace.waves)
        bodies: list[tuple[str, Body]] = [("", flow.trace)]
        bodies += [(function.name, function) for function in flow.trace.functions()]
        asynchronous = any(isinstance(op, ops.AsyncOperation) for block in flow.blocks for op in block.ops)
        for function, body in bodies:
            names.read(function, body, asynchronous)
        names.live = live_numbers(flow, {name for function, name in names.followed if not function})
        if flow.trace.numbers:
            names.parameters = Parameters.of(flow, list(names.asked(flow.trace)))
            names.followed |= {("", name) for name in names.parameters.values}
            names.find_last_iterations(flow.trace)
        for op, hidden in names.blind.items():
            names.parameters.blind[op] = names.parameters.blind.get(op, frozenset()) | hidden
        return names

    def asked(self, trace: CapturedTrace) -> Iterator[Asked]:
        """Everything that decides which bytes are touched or which way a branch goes, itself or through a name."""
        for op in trace.preorder_walk():
            for part in _decisive(op):
                if isinstance(part, (Expr, Compare)):
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
            if isinstance(op, (ops.AsyncOperation, ops.GlobalRead, ops.GlobalWrite, ops.CommitGroup)):
                graph = op.graph
                while graph is not None and graph.owner is not None:
                    if isinstance(graph.owner, ops.Iterate):
                        found.add(graph.owner)
                    graph = graph.owner.graph
        return found

    def least_missed(self, values: Mapping[Name, set[int]]) -> Name:
        """Of names that have too many combinations of values: the one to do without.

        Without a name, what is made from it is unknown as well. So it is one that no other is made from, if there is
        such a one, and of those the one with most values.
        """
        last = [name for name in values if not self.makes.get(name, set()) & values.keys()]
        return max(last or values, key=lambda name: len(values[name]))

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
        sources: dict[str, list[tuple[ops.Forwarded, Graph]]] = {}
        for op in body.preorder_walk():
            _add_decisive_names(wanted, outside, op)
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
        for name, values in handed.items():
            for other in {other for value in values for other in _named(value)} - {name}:
                self.makes.setdefault((function, other), set()).add((function, name))
        numbered = {loop.var for loop in loops}
        self.followed |= {(function, name) for name in wanted if name not in numbered}
        self.find_homes(function, body, outside)
        self.find_rounds(function, body, loops, issuing, wanted)

    def find_rounds(
        self,
        function: str,
        body: Body,
        loops: list[ops.Iterate],
        issuing: set[ops.Iterate],
        wanted: dict[str, list[Expr | Condition]],
    ) -> None:
        """The loops whose iterations are distinguished, and how."""
        for loop in loops:
            counted = loop in issuing or any(name.name in wanted for name in loop.carried)
            if counted and loop.trip is not None and loop.trip <= EXACT_ROUNDS:
                # What its arguments are, or how much is in flight, depends on how many it has run: each
                # iteration by itself.
                wanted.setdefault(loop.var, []).append(loop.index)
            if loop.var in wanted:
                parts = self.without_last_iterations(function, loop, wanted[loop.var])
                if parts is None:
                    continue
                rounds = self.rounds_of(loop, parts) or self.rounds_without_conditions(loop, parts, body)
                if rounds is not None and counted:
                    # So it does between two iterations in which conditions change.
                    in_full = rounds.in_full(EXACT_ROUNDS)
                    rounds = in_full if in_full.count <= MOST_ROUNDS else rounds
                self.rounds[loop] = rounds
                if rounds is not None:
                    self.followed.add((function, loop.var))

    def without_last_iterations(
        self, function: str, loop: ops.Iterate, parts: list[Expr | Condition]
    ) -> list[Expr | Condition] | None:
        """What decides something in a loop but for conditions on how near its end is; None if that is all.

        How many iterations are left is followed by itself.
        """
        last = LastIterations.of(loop) if loop.upto else None
        if last is None:
            return parts
        self.add_last_iterations(function, loop, last)
        return [part for part in parts if part not in last.conditions] or None

    def add_last_iterations(self, function: str, loop: ops.Iterate, last: LastIterations) -> None:
        """Follow how many iterations of a loop are left."""
        self.last[loop] = last
        self.followed.add((function, last.name))
        self.home[function, last.name] = loop.body

    def find_last_iterations(self, trace: CapturedTrace) -> None:
        """Where something else is known of the bound of a loop, how often the loop runs goes by that."""
        for op in trace.preorder_walk():
            if isinstance(op, ops.Iterate) and op.upto in self.parameters.values:
                last = LastIterations.of(op, self.parameters.bounds[op.upto].values())
                if last is not None:
                    self.add_last_iterations("", op, last)

    def rounds_of(self, loop: ops.Iterate, parts: list[Expr | Condition]) -> Rounds | None:
        """The iterations that stand for all of a loop; None if too many differ."""
        return rounds_of(loop.var, loop.start, loop.step, loop.trip, parts, self.waves)

    def rounds_without_conditions(
        self, loop: ops.Iterate, parts: list[Expr | Condition], body: Body
    ) -> Rounds | None:
        """The same where conditions that follow no rule (`%i + 2 < %n`) may hold in any iteration or not."""

        def is_irregular(part: object) -> bool:
            return isinstance(part, Compare) and follows_no_rule(
                loop.var, loop.start, loop.step, part, self.waves
            )

        regular = [part for part in parts if not is_irregular(part)]
        rounds = self.rounds_of(loop, regular) if 0 < len(regular) < len(parts) else None
        for op in body.preorder_walk() if rounds is not None else ():
            if not isinstance(op, (ops.Conditional, ops.CondBranch)) or not is_inside(op.graph, loop.body):
                continue
            if loop.var in _named(op.condition) and is_irregular(op.condition):
                self.blind[op] = self.blind.get(op, frozenset()) | {loop.var}
        return rounds

    def find_homes(self, function: str, body: Body, used: dict[str, list[Graph]]) -> None:
        """The regions that the names of loops and conditionals belong to; `used` says where each is asked for."""
        for op in body.preorder_walk():
            if isinstance(op, ops.Iterate):
                self.home[function, op.var] = op.body
                for carried in op.carried:
                    graphs = used.get(carried.name, [])
                    assert op.graph is not None
                    self.home[function, carried.name] = (
                        op.body if all(is_inside(graph, op.body) for graph in graphs) else op.graph
                    )
            elif isinstance(op, ops.Conditional):
                for given in op.gives:
                    assert op.graph is not None
                    self.home[function, given.name] = op.graph


def _add_decisive_names(
    wanted: dict[str, list[Expr | Condition]], outside: dict[str, list[Graph]], op: ops.Operation
) -> None:
    """Names that decide which bytes an operation touches, or whether it runs: what is asked of each, and where."""
    for part in _decisive(op):
        for name in _named(part):
            asked = wanted.setdefault(name, [])
            if isinstance(part, (Expr, Compare)):
                asked.append(part)
            assert op.graph is not None
            outside.setdefault(name, []).append(op.graph)


def _add_sources(sources: dict[str, list[tuple[ops.Forwarded, Graph]]], op: ops.Operation) -> None:
    """Note what names are given by an operation, and where."""
    if isinstance(op, (ops.Iterate, ops.Conditional)):
        for number, carried in enumerate(names_of(op)):
            sources[carried.name] = list(_forwarded(op, carried, number))
    elif isinstance(op, ops.Branch):
        assert op.graph is not None
        for carried, value in zip(op.names, op.args, strict=True):
            sources.setdefault(carried.name, []).append((value, op.graph))


def _close_over(
    wanted: dict[str, list[Expr | Condition]],
    sources: dict[str, list[tuple[ops.Forwarded, Graph]]],
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
                # What a number becomes of itself decides nothing yet: see `slot_periods.moduli`.
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
    elif isinstance(op, (ops.Conditional, ops.CondBranch)):
        yield op.condition


def _named(value: ops.Forwarded | Condition) -> list[str]:
    """The names in an expression; the name of a buffer that is forwarded."""
    if isinstance(value, Buffer):
        return [value.name] if isinstance(value, BufferArg) else []
    if isinstance(value, (Expr, Compare)):
        return [leaf.name for leaf in leaves(value) if isinstance(leaf, Var)]
    return []


def _given_at(op: ops.Operation) -> Iterator[tuple[ops.Carried, ops.Forwarded | None]]:
    """The names that are given something at an operation, and what."""
    if isinstance(op, ops.Iterate):
        yield from ((name, name.init) for name in op.carried)
    elif isinstance(op, ops.Branch):
        yield from zip(op.names, op.args, strict=True)
    elif isinstance(op, (ops.Next, ops.Give)) and op.graph is not None:
        owner = op.graph.owner
        assert isinstance(owner, (ops.Iterate, ops.Conditional))
        yield from zip(names_of(owner), op.values, strict=True)


def _forwarded(
    op: ops.Iterate | ops.Conditional, carried: ops.Carried, number: int
) -> Iterator[tuple[ops.Forwarded, Graph]]:
    """What a name can become, and where that is said."""
    if carried.init is not None and op.graph is not None:
        yield carried.init, op.graph
    for graph in ops.regions(op):
        if isinstance(graph.last, (ops.Next, ops.Give)):
            yield graph.last.values[number], graph


def is_inside(graph: Graph | None, region: Graph) -> bool:
    """Whether a region is another one, or stands inside of it."""
    while graph is not None:
        if graph is region:
            return True
        graph = graph.owner.graph if graph.owner is not None else None
    return False


def live_numbers(flow: Flow, wanted: set[str]) -> dict[str, set[Graph]]:
    """For each number of a labelled block that matters: the blocks where it is used, or on the way to a use."""
    graphs = flow.trace.blocks
    params = {name.name for graph in graphs for name in graph.params} & wanted
    if not params:
        return {}
    before: dict[Graph, set[Graph]] = {graph: set() for graph in graphs}
    used: dict[str, set[Graph]] = {name: set() for name in params}
    for graph in graphs:
        for name in _used(graph, wanted) & params:
            used[name].add(graph)
    for block in flow.blocks:
        here = labelled(block)
        # The flow, not the branches: of a divergent branch, one side runs after the other.
        for target in block.successors:
            before[labelled(flow.blocks[target])].add(here)
        for guard in block.guards:
            for name in _in(guard.condition) & params:
                used[name].add(here)
    found: dict[str, set[Graph]] = {}
    for name, places in used.items():
        live = set(places)
        todo = list(places)
        while todo:
            graph = todo.pop()
            if any(param.name == name for param in graph.params):
                continue  # it gets its value here
            for source in before[graph] - live:
                live.add(source)
                todo.append(source)
        found[name] = live
    return found


def labelled(block: Block) -> Graph:
    """The labelled block that a block, or the call that it belongs to, stands in."""
    graph = block.calls[0].graph if block.calls else block.graph
    while graph is not None and graph.owner is not None:
        graph = graph.owner.graph
    assert graph is not None
    return graph


def _used(graph: Graph, wanted: set[str]) -> set[str]:
    """The names that a block and what is nested in it asks for."""
    found: set[str] = set()
    todo = [graph]
    while todo:
        for op in todo.pop():
            todo += ops.regions(op)
            if isinstance(op, ops.MemoryOperation):
                for view in op.views:
                    found |= _in_view(view)
            elif isinstance(op, (ops.Conditional, ops.CondBranch)):
                found |= _in(op.condition)
            elif isinstance(op, ops.Branch):
                for name, value in zip(op.names, op.args, strict=True):
                    if name.name in wanted:
                        found |= _in(value)
            elif isinstance(op, (ops.Iterate, ops.Next, ops.Give)):
                values = [name.init for name in op.carried] if isinstance(op, ops.Iterate) else op.values
                for handed in values:
                    if isinstance(handed, Expr):
                        found |= _in(handed)
    return found


def _in_view(view: View) -> set[str]:
    parts = (part for part in (view.slot, view.lo, view.hi) if part is not None)
    return set().union(*(_in(part) for part in parts))


def _in(value: Expr | Condition) -> set[str]:
    if not isinstance(value, (Expr, Compare)):
        return set()
    return {leaf.name for leaf in leaves(value) if isinstance(leaf, Var)}
