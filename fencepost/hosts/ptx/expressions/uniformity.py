"""Which values are the same in every thread of a block, when the threads are at the same place in the same
iterations."""

from __future__ import annotations

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves
from fencepost.hosts.ptx.reading.flow import Loop


class Uniformity:
    """Answers whether an expression is uniform. Loops whose exits are not have no common last iteration."""

    def __init__(self, evaluator: Evaluator, forms: ClosedForms) -> None:
        self.evaluator = evaluator
        self.forms = forms
        self.flow = evaluator.flow
        self._varying: dict[Expression, bool] = {}
        """Leaves that were decided: whether they differ between threads."""
        self._loops: dict[int, bool] = {}
        self.matters: set[int] = set()
        """The blocks with barriers or shared accesses; an exit that leads to none of them ends the thread."""

    def uniform(self, value: Expression, block: int) -> bool:
        """Whether all threads of the block that are at a block of the kernel have the same value."""
        return all(self._leaf_is_uniform(leaf, block) for leaf in leaves(value))

    def _leaf_is_uniform(self, leaf: Expression, block: int) -> bool:
        if self.varies(leaf):
            return False
        home = leaf.leaf.block
        if home is None:
            return True
        around = [loop for loop in self.flow.loops_around(home) if block not in loop]
        return all(self.loop_is_uniform(loop) for loop in around)

    def varies(self, leaf: Expression) -> bool:
        """Whether a leaf differs between threads that are in the same iteration of every loop around it."""
        found = self._varying.get(leaf)
        if found is None:
            found = self._decide(leaf)
        return found

    def _dependences(self, leaf: Expression) -> list[Expression]:
        if leaf.leaf.kind == "carried":
            return [self.forms.closed(each) for each in (self.forms.first(leaf), self.forms.following(leaf))]
        address = self.evaluator.loads.get(leaf)
        return [self.forms.closed(address)] if address is not None else []

    def _decide(self, leaf: Expression) -> bool:
        """Assumes that everything the leaf depends on is uniform and takes back what does not hold."""
        inputs: dict[Expression, list[tuple[Expression, int]]] = {}
        todo = [leaf]
        while todo:
            each = todo.pop()
            if each in inputs:
                continue
            found = []
            for value in self._dependences(each):
                found += [(inner, each.leaf.block or 0) for inner in leaves(value)]
            inputs[each] = found
            todo += [inner for inner, _ in found]
        varying = {each for each in inputs if self._varies_by_itself(each)}
        changed = True
        while changed:
            changed = False
            for each, needs in inputs.items():
                if each not in varying and any(
                    inner in varying or self._differs_when_left(inner, block) for inner, block in needs
                ):
                    varying.add(each)
                    changed = True
        for each in inputs:
            self._varying[each] = each in varying
        return leaf in varying

    def _varies_by_itself(self, leaf: Expression) -> bool:
        kind = leaf.leaf.kind
        if kind == "opaque":
            return leaf.leaf.scope != "block" and leaf not in self.evaluator.loads
        return kind == "thread"

    def _differs_when_left(self, leaf: Expression, block: int) -> bool:
        home = leaf.leaf.block
        if home is None:
            return False
        return any(
            block not in loop and not self.loop_is_uniform(loop) for loop in self.flow.loops_around(home)
        )

    def loop_is_uniform(self, loop: Loop) -> bool:
        """Whether all threads leave the loop in the same iteration by the same exit."""
        found = self._loops.get(loop.header)
        if found is None:
            # Until it is known, the loop is taken as not uniform: the cautious side.
            self._loops[loop.header] = False
            found = all(self._exit_is_uniform(loop, block) for block in self._deciding(loop))
            self._loops[loop.header] = found
        return found

    def _deciding(self, loop: Loop) -> set[int]:
        """The branches in a loop that decide whether and where it is left."""
        leads = {
            block
            for block in loop.blocks
            if any(
                following not in loop and self.flow.reachable([following]) & self.matters
                for following in self.flow.successors[block]
            )
        }
        todo = list(leads)
        found = set(leads)
        while todo:
            for branch in self.flow.control_dependences.get(todo.pop(), ()):
                if branch in loop.blocks and branch not in found:
                    found.add(branch)
                    todo.append(branch)
        return found

    def _exit_is_uniform(self, loop: Loop, block: int) -> bool:
        conditions = [
            self.forms.closed(self.evaluator.edge(block, following))
            for following in self.flow.successors[block]
        ]
        return all(self.uniform(condition, block) for condition in conditions)
