"""A function of a Triton module as a kernel: what it does to shared memory, block by block.

Hosts translate, they decide nothing: every operation of the kernel has the operation of the module that it stands for
as its `host`, so that a barrier lands in front of the right one and a report names the user's line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fencepost.gc_pause import collection_paused
from fencepost.hosts.triton.allocations import Allocation, Allocations, Place, alone
from fencepost.hosts.triton.flatten_control_flow import Flat, Flattening
from fencepost.hosts.triton.mbarriers import FOR_ALL
from fencepost.hosts.triton.mlir.tree import Module, Operation, Value
from fencepost.hosts.triton.partitions import Partition, parts_of, specializations
from fencepost.hosts.triton.proxies import FENCES, uses_async_proxy
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.slot_views import Views, is_view
from fencepost.hosts.triton.thread_branches import divergent_branches
from fencepost.hosts.triton.translate_operations import OperationWriter
from fencepost.hosts.triton.unfollowed_values import BITS, TRIED
from fencepost.hosts.triton.warps import warps_of
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.builder import Kernel
from fencepost.ir.expr import Binary, Compare, Const, Expr, Lane, Unknown, Var, Wave
from fencepost.ir.limits import MOST_WAVES
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace

ZERO = Const(0)
LANES = 64
"""Stretches of bytes that one access can have at most."""
GROUP_WAIT = "ttng.warp_group_dot_wait"
LANES_APART = 2
"""Waves that a single warp of NVIDIA counts as."""


@dataclass(slots=True)
class Translation:
    """A kernel, and what of the function it could not say."""

    trace: CapturedTrace
    module: Module
    function: Operation
    beyond: list[Operation] = field(default_factory=list)
    """Operations that kernels here cannot express: nothing is said about a function that has one."""
    reasons: list[str] = field(default_factory=list)
    """What else keeps a function from being judged."""
    own: list[Operation] = field(default_factory=list)
    """The operations that it stands for: not those of partitions, which are translated by themselves, and not those
    that do nothing but compute (`register_operations`)."""
    part: Partition | None = None
    """For a partition of a function that is specialized: which one it is."""
    lanes_apart: bool = False
    """Whether it has a single wave, whose threads count as two."""
    target: str = ""
    """The GPU that the module names, by its name here; empty if it names none that is known."""

    @property
    def not_judged(self) -> list[str]:
        """What of the function cannot be followed, in words; nothing is said about it unless this is empty."""
        return [*sorted({op.name for op in self.beyond}), *self.reasons]


def translate(
    module: Module,
    function: Operation,
    *,
    local: bool = False,
    part: Partition | None = None,
    joint: bool = False,
    functions: _Functions | None = None,
) -> Translation:
    """The kernel that a function is, without its partitions, or that a `part` of it is.

    With `local`, waits for matrix operations are taken as if they were marked as those of a warp group: a barrier
    behind one is then for whoever places barriers to put there. With `joint`, the kernel has the partitions in it and
    what decides how often loops run: for `check`, which looks at all waves together. What `functions` know already
    is not found out again.
    """
    functions = functions or _Functions(module, local)
    default = warps_of(module, function)
    flat = Flattening(default, joint)
    try:
        if part is None:
            flat.function(function)
        else:
            flat.partition(part)
    except FencepostError as error:
        error.source = error.source or module.source
        raise
    name = function.string("sym_name") or "kernel"
    waves = default if part is None else part.end - part.first
    if joint:
        ends = [each.end for op in specializations(module, function) for each in parts_of(op, default)]
        waves = max([default, *ends])
    if waves > MOST_WAVES:
        raise FencepostError(
            f"{waves} warps; a workgroup has at most {MOST_WAVES}",
            [Mark(function.span)],
            source=module.source,
        )
    # The threads of a warp may diverge on NVIDIA, too: what one wrote, another needs a barrier for.
    lanes_apart = waves == 1 and not target_of(module).startswith("gfx") and not joint
    kernel = Kernel(_word(name), waves=LANES_APART if lanes_apart else waves)
    translation = Translation(
        kernel.trace, module, function, part=part, lanes_apart=lanes_apart, target=target_of(module)
    )
    if uses_async_proxy(module, function):
        kernel.trace.unjudged = (FENCES,)
    translation.own = [op for block in flat.blocks for op in block.operations]
    kernel.trace.source = module.source
    translation.reasons += _reasons(module, function)
    if any(is_view(value) for value in flat.blocks[0].arguments):
        # Memory of whoever calls it.
        translation.beyond.append(function)
    views = Views(module, flat, function, functions.allocations(function), joint)
    _BlockWriter(kernel, views, translation, functions, local).write(flat.blocks)
    return translation


def translations(module: Module, *, local: bool = False) -> list[Translation]:
    """The kernels of a module: its functions, those that are called included, and their partitions."""
    with collection_paused():
        return _translations(module, local)


def _translations(module: Module, local: bool) -> list[Translation]:
    found: list[Translation] = []
    for inner in module.nested():
        found += _translations(inner, local)
    for op in module.body.operations:
        if op.regions and op.name != "builtin.module" and not op.name.endswith(".func"):
            raise FencepostError(
                f"not judged: {op.name}, which cannot be followed yet",
                [Mark(op.span)],
                code="FP408",
                source=module.source,
            )
    functions = _Functions(module, local)
    for function in module.functions():
        found.append(functions.translated(function))
        for op in specializations(module, function):
            parts = [part for part in parts_of(op, warps_of(module, function)) if not part.is_empty]
            found += [
                translate(module, function, local=local, part=part, functions=functions) for part in parts
            ]
    return found


@dataclass(slots=True)
class _Functions:
    """What is known of the functions of a module: one that is called is asked about where that is."""

    module: Module
    local: bool
    made: dict[Operation, Translation] = field(default_factory=dict)
    owned: dict[Operation, Allocations] = field(default_factory=dict)

    def translated(self, function: Operation) -> Translation:
        """The kernel that a function is."""
        if function not in self.made:
            self.made[function] = translate(self.module, function, local=self.local, functions=self)
        return self.made[function]

    def allocations(self, function: Operation) -> Allocations:
        """The memory of a function and of all its partitions."""
        if function not in self.owned:
            self.owned[function] = Allocations.of_function(self.module, function)
        return self.owned[function]

    def trace_of(self, module: Module, function: Operation) -> CapturedTrace | None:
        """The kernel that a function by itself is, if it can be judged; nothing is taken to be `local` there."""
        same = not self.local or (
            not module.mentions(GROUP_WAIT)
            and (installed_release().arrivals_meet or module.kinds.isdisjoint(FOR_ALL))
        )
        made = self.translated(function) if same else translate(module, function)
        return None if made.not_judged else made.trace


class _BlockWriter:
    """Writes the blocks of a function into a kernel."""

    def __init__(
        self, kernel: Kernel, views: Views, translation: Translation, functions: _Functions, local: bool
    ) -> None:
        self.kernel = kernel
        self.views = views
        self.splits = 0
        self.buffers: dict[Allocation, Buffer] = {}
        for allocation in views.allocations.of.values():
            self.buffers[allocation] = kernel.shared(
                allocation.name, bytes=allocation.size, offset=allocation.offset
            )
        for name in dict.fromkeys(views.given.values()):
            if name in views.asked:
                kernel.param(name)
        self.operations = OperationWriter(
            kernel, translation, views, self.buffers, self.stretches, functions.trace_of, local=local
        )

    def write(self, blocks: list[Flat]) -> None:
        """All of them."""
        self.kernel.br(blocks[0].name)
        for block in blocks:
            self.kernel.block(block.name, *self.views.parameters(block))
            self.operations.some = block.waves
            if block.joins is not None:
                self.operations.note(block.joins, self.kernel.barrier())
            for op in block.operations:
                self.operations.put(op)
                for value in op.results if self.views.tried or self.views.lengths else ():
                    if value in self.views.tried:
                        self.try_both(self.views.tried[value])
                    elif value in self.views.lengths:
                        self.try_some(self.views.lengths[value])
            self.leave(block)

    def try_both(self, name: str, bit: int = 1, rest: Expr = ZERO) -> None:
        """A condition that is not followed: 1 on one way, 0 on the other. A bit of a number is added to the rest."""
        kernel = self.kernel
        self.splits += 1
        stem = f"try{self.splits}"
        kernel.cond_br(f"c{self.splits}", f"{stem}.holds", f"{stem}.fails")
        for side, number in (("holds", _plus(rest, Const(bit))), ("fails", rest)):
            kernel.block(f"{stem}.{side}")
            kernel.br(f"{stem}.known", number)
        kernel.block(f"{stem}.known", name)

    def try_some(self, name: str) -> None:
        """How often a loop runs, which is not followed: bit by bit."""
        self.kernel.trace.narrowed = (TRIED,)
        rest: Expr = ZERO
        for bit in range(BITS):
            part = name if bit == BITS - 1 else f"{name}.bit{bit}"
            self.try_both(part, 1 << bit, rest)
            rest = Var(part)

    def stretches(self, values: Iterable[Value]) -> list[View]:
        """The bytes of some views."""
        found: list[View] = []
        for value in values:
            place = self.views.place(value)
            if place is not None:
                found += self.stretches_of(place)
                continue
            of = self.views.possible(value)
            found += [
                View(buffer) for allocation, buffer in self.buffers.items() if of is None or allocation in of
            ]
        return found

    def stretches_of(self, place: Place) -> list[View]:
        """The bytes of a place."""
        buffer, low = self.buffers[place.allocation], place.low
        if isinstance(low, Unknown) or place.size >= place.allocation.size:
            return [View(buffer)]
        found: list[View] = []
        for first in range(0, place.count, LANES):
            count = min(place.count - first, LANES)
            # As many stretches as lanes: what all lanes touch is what one operation does.
            lane: Expr = Lane(LANES) if count == LANES else Binary("%", Lane(LANES), Const(count))
            begin = _plus(low, Const(first * place.stride))
            if count > 1:
                begin = _plus(begin, Binary("*", lane, Const(place.stride)))
            if place.swizzle is not None:
                moved = place.swizzle.moved(_plus(lane if count > 1 else Const(0), Const(first)))
                begin = _plus(begin, Binary("*", moved, Const(place.size)))
            found.append(buffer.bytes(begin, _plus(begin, Const(place.size))))
        return found

    # ------------------------------------------------------------ the ends of blocks

    def leave(self, block: Flat) -> None:
        """Branches to other blocks, each with the numbers that matter there."""
        kernel = self.kernel
        if not block.ways:
            self.end(block, kernel.ret())
        elif len(block.ways) == 1:
            self.end(block, kernel.br(block.ways[0].block.name, *self.views.arguments(block, 0)))
        elif len(block.ways) == 2:
            self.branch(block)
        else:
            # Nobody knows which way: one after the other is asked about.
            name = f"switch{self.splits}."
            for number in range(len(block.ways) - 2):
                self.fork(block, [number], f"{name}{number}")
                kernel.block(f"{name}{number}")
            self.fork(block, [len(block.ways) - 2, len(block.ways) - 1])

    def branch(self, block: Flat) -> None:
        """One way or the other."""
        self.fork(block, [0, 1])

    def fork(self, block: Flat, numbers: list[int], otherwise: str = "") -> None:
        """Go one of two ways; a branch with two ways hands nothing on, so numbers go through a block of their own."""
        kernel = self.kernel
        names: list[str] = []
        later: list[tuple[str, int]] = []
        for number in numbers:
            if self.views.arguments(block, number):
                self.splits += 1
                names.append(f"way{self.splits}")
                later.append((names[-1], number))
            else:
                names.append(block.ways[number].block.name)
        names += [otherwise] if otherwise else []
        self.splits += 1
        followed = self.views.condition(block)
        condition: Compare | str = f"c{self.splits}" if followed is None else followed
        if block.below is not None:
            condition = Compare("<", Wave(), Const(block.below))
        self.end(block, kernel.cond_br(condition, names[0], names[1]))
        for name, number in later:
            kernel.block(name)
            self.end(block, kernel.br(block.ways[number].block.name, *self.views.arguments(block, number)))

    def end(self, block: Flat, made: ops.Operation) -> None:
        """What a block ends with stands for the end of the module's block."""
        if block.end is not None:
            made.span, made.host = block.end.span, block.end


def target_of(module: Module) -> str:
    """The GPU that a module is for, which it calls `hip:gfx942` or `cuda:80`."""
    kind, _, name = (module.operation.string("ttg.target") or "").partition(":")
    return target_name(kind, name)


def target_name(backend: str, arch: object) -> str:
    """What a GPU of Triton's is called here: `gfx942`, `sm_80`."""
    return f"sm_{arch}" if backend == "cuda" else str(arch)


def _reasons(module: Module, function: Operation) -> Iterator[str]:
    """What keeps a function from being judged, whatever operations it has."""
    if not alone(module):
        yield f"clusters of {module.operation.integer('ttg.num-ctas') or 'several'} workgroups"
    for name in sorted({op.name for op in divergent_branches(module, function)}):
        yield f"{name} under a condition that depends on the thread"


def _plus(one: Expr, other: Expr) -> Expr:
    if isinstance(one, Const) and isinstance(other, Const):
        return Const(one.value + other.value)
    return one if other == Const(0) else other if one == Const(0) else Binary("+", one, other)


def _word(name: str) -> str:
    """A name that the text form can spell."""
    word = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
    return word if word[:1].isalpha() or word.startswith("_") else f"k{word}"
