"""Calls replaced by the bodies of the functions they call, so that a kernel is one piece of code.

Each call gets registers, labels and local variables of its own; shared variables of a function are the same in
every call. What is passed through `.param` space becomes local memory: the caller's variable and the callee's
parameter are one variable, which `local_memory.py` follows. An instruction of a function keeps its own line, and
the lines of the calls around it are told as those of inlined code are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fencepost.hosts.ptx.reading.flow import NotJudged
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Immediate,
    Instruction,
    Label,
    Location,
    Module,
    Negated,
    Operand,
    Parameter,
    Register,
    Routine,
    Special,
    Symbol,
    Variable,
)

MOST_ITEMS = 200_000
"""Instructions that calls may grow to."""
NO_SHARED_MEMORY = frozenset(
    {
        *("vprintf", "malloc", "free", "__nvvm_reflect"),
        *("cudaLaunchDevice", "cudaLaunchDeviceV2", "cudaGetParameterBuffer", "cudaGetParameterBufferV2"),
        *("cudaDeviceSynchronize", "cudaGetLastError", "cudaPeekAtLastError", "cudaGetDevice", "cudaMalloc"),
        *("cudaFree", "cudaStreamCreateWithFlags", "cudaStreamDestroy", "cudaEventCreateWithFlags"),
        *("cudaEventRecord", "cudaEventDestroy", "cudaStreamWaitEvent", "cudaGetDeviceCount"),
        *(
            "cudaDeviceGetAttribute",
            "cudaDeviceGetLimit",
            "cudaDeviceGetCacheConfig",
            "cudaFuncGetAttributes",
        ),
    }
)
"""Functions outside of a PTX text, by name, that neither touch shared memory nor make threads wait."""
DEVICE_RUNTIME = "__cudaCDP2"
"""How names of the runtime of the device begin since CUDA 12."""
WRITES_THROUGH_POINTERS = ("sincos", "frexp", "modf", "remquo", "lgamma_r")
"""Functions of libdevice (`__nv_...`) that give results through pointers, which may point to shared memory."""
PRIVATE_SPACES = ("local", "param")
"""Variables of these spaces are one for each thread and each call."""
ENDS_THE_GRID = frozenset({"__assertfail", "__trap", "abort", "__cudaCDP2DeviceTrap"})


def is_harmless_function(name: str) -> bool:
    """Whether a function that is not in the text is known to have no effect on shared memory."""
    if name.startswith("__nv_"):
        return not any(word in name for word in WRITES_THROUGH_POINTERS)
    if name.startswith(DEVICE_RUNTIME):
        name = f"cuda{name.removeprefix(DEVICE_RUNTIME)}"
    return name in NO_SHARED_MEMORY


def called(instruction: Instruction) -> tuple[tuple[Operand, ...], Operand | None, tuple[Operand, ...]]:
    """The results, the function and the arguments of a call."""
    operands = list(instruction.operands)
    results: tuple[Operand, ...] = ()
    if operands and isinstance(operands[0], Group):
        results = operands.pop(0).items  # type: ignore[union-attr]
    function = operands.pop(0) if operands else None
    arguments = operands[0].items if operands and isinstance(operands[0], Group) else ()
    return results, function, arguments


def _fits(
    routine: Routine,
    results: Sequence[Operand],
    arguments: Sequence[Operand],
    sizes: Mapping[str, int | None],
) -> bool:
    """Whether a function can be called with such results and arguments: as many, of the same sizes if known."""
    if len(routine.parameters) != len(arguments) or len(routine.results) != len(results):
        return False
    pairs = zip((*routine.parameters, *routine.results), (*arguments, *results), strict=True)
    return all(
        not isinstance(actual, Symbol) or sizes.get(actual.name) in (None, formal.size)
        for formal, actual in pairs
    )


@dataclass(frozen=True)
class Frame:
    """One call while its function is written out: what its names become, and the calls around it."""

    routine: Routine
    suffix: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    """Variables and parameters that have another name here."""
    calls: tuple[Instruction, ...] = ()
    """The calls that led here, innermost first."""
    end: str = ""
    """The label behind the call."""
    chain: tuple[str, ...] = ()
    """The functions that are being called."""

    def operand(self, operand: Operand) -> Operand:
        """An operand with the names of this frame."""
        if isinstance(operand, Register):
            return self.register(operand)
        if isinstance(operand, Symbol):
            return Symbol(self.names.get(operand.name, operand.name))
        if isinstance(operand, Negated):
            return Negated(self.register(operand.register))
        if isinstance(operand, Group):
            return Group(tuple(self.operand(each) for each in operand.items))
        if isinstance(operand, Address):
            coordinates = tuple(self.operand(each) for each in operand.coordinates)
            base = self.operand(operand.base)
            assert isinstance(base, Register | Symbol | Immediate | Special)
            return Address(base, operand.offset, coordinates)
        return operand

    def register(self, register: Register) -> Register:
        """A register with its name in this frame."""
        return replace(register, name=register.name + self.suffix) if self.suffix else register

    def location(self, instruction: Instruction) -> Location | None:
        """Where an instruction comes from, with the lines of the calls around it."""
        own = instruction.location
        # A call carries the lines of the calls around it.
        call = next((each.location for each in self.calls if each.location is not None), None)
        if call is None:
            return own
        if own is None or own.line == 0:
            return call
        near = own.near
        if near == len(own.inlined_at) and call.file == own.file:
            near += 1 + call.near
        return replace(own, inlined_at=(*own.inlined_at, call.line, *call.inlined_at), near=near)


class Inliner:
    """Writes a kernel out with the functions that it calls."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.items: list[Instruction | Label] = []
        self.variables: list[Variable] = []
        self.targets: dict[str, tuple[str, ...]] = {}
        self.private: set[str] = set()
        """Variables that every thread has its own of."""
        self.count = 0

    def kernel(self, routine: Routine) -> Routine:
        """The kernel with every call written out."""
        self._variables(routine, Frame(routine))
        self._body(Frame(routine))
        return replace(
            routine, body=tuple(self.items), variables=tuple(self.variables), branch_targets=self.targets
        )

    def _variables(self, routine: Routine, frame: Frame) -> None:
        known = {each.name for each in self.variables}
        for each in routine.variables:
            own = replace(each, name=frame.names.get(each.name, each.name))
            if each.space in PRIVATE_SPACES:
                self.private.add(own.name)
                self.variables.append(replace(own, space="local"))
            elif own.name not in known:
                self.variables.append(own)
        for table, labels in routine.branch_targets.items():
            self.targets[table + frame.suffix] = tuple(label + frame.suffix for label in labels)

    def _body(self, frame: Frame) -> None:
        for item in frame.routine.body:
            if len(self.items) > MOST_ITEMS:
                raise NotJudged("calls that make too much code", frame.calls[0] if frame.calls else None)
            if isinstance(item, Label):
                self.items.append(Label(item.name + frame.suffix))
            elif item.name == "call":
                self._call(self._renamed(item, frame), frame)
            elif item.name == "ret" and frame.calls:
                self.items.append(self._jump(self._renamed(item, frame), frame.end))
            else:
                self.items.append(self._renamed(item, frame))

    def _renamed(self, item: Instruction, frame: Frame) -> Instruction:
        operands = [frame.operand(each) for each in item.operands]
        if item.name in ("bra", "brx"):
            operands = [
                Symbol(each.name + frame.suffix) if isinstance(each, Symbol) else frame.operand(each)
                for each in item.operands
            ]
        guard = frame.register(item.guard) if item.guard is not None else None
        changed = replace(item, operands=tuple(operands), guard=guard, location=frame.location(item))
        return self._in_local_memory(changed, frame)

    def _in_local_memory(self, item: Instruction, frame: Frame) -> Instruction:
        """An access to a parameter of a call is one to local memory; by a computed address, to any memory."""
        if item.name not in ("ld", "st") or not any(part.startswith("param") for part in item.parts):
            return item
        address = next((each for each in item.operands if isinstance(each, Address)), None)
        base = address.base if address is not None else None
        if isinstance(base, Symbol) and base.name in self.private:
            parts = tuple("local" if part.startswith("param") else part for part in item.parts)
        elif isinstance(base, Register) and frame.calls:
            parts = tuple(part for part in item.parts if not part.startswith("param"))
        else:
            return item
        return replace(item, parts=parts)

    @staticmethod
    def _jump(item: Instruction, label: str) -> Instruction:
        return replace(item, parts=("bra",), operands=(Symbol(label),))

    # ---- calls

    def _call(self, call: Instruction, caller: Frame) -> None:
        """Writes the body of the called function in the place of a call, with registers and labels of its own."""
        results, function, _ = called(call)
        if isinstance(function, Register):
            self._indirect(call, function, caller)
            return
        if not isinstance(function, Symbol):
            raise NotJudged("an indirect call", call)
        name = self.module.aliases.get(function.name, function.name)
        callee = self.module.routines.get(name)
        if callee is None or not callee.defined:
            ends = name in ENDS_THE_GRID
            self.items.append(replace(call, parts=("trap",), operands=()) if ends else call)
            return
        if callee.name in caller.chain:
            raise NotJudged(f"a recursive call of `{callee.name}`", call)
        self.count += 1
        suffix = f"~{self.count}"
        if call.guard is not None:
            skipped = self._jump(call, f"call{suffix}:skipped")
            self.items.append(replace(skipped, guard_negated=not call.guard_negated))
        own = {each.name: each.name + suffix for each in callee.variables if each.space in PRIVATE_SPACES}
        passed = self._passed(callee, suffix, call)
        frame = Frame(
            callee,
            suffix,
            {**own, **self._own_names(callee), **passed},
            (call, *caller.calls),
            f"call{suffix}:end",
            (callee.name, *caller.chain),
        )
        self._variables(callee, frame)
        self._body(frame)
        self.items.append(Label(frame.end))
        self._results(frame, results, call)
        self.items.append(Label(f"call{suffix}:skipped"))

    def _indirect(self, call: Instruction, pointer: Register, caller: Frame) -> None:
        """A call through a pointer: of each function of the text that takes such arguments, if it points there."""
        results, _, arguments = called(call)
        sizes = {each.name: each.size for each in self.variables}
        fitting = [
            each
            for each in self.module.routines.values()
            if not each.is_kernel and _fits(each, results, arguments, sizes)
        ]
        outside = [each for each in fitting if not each.defined and not is_harmless_function(each.name)]
        targets = [each for each in fitting if each.defined]
        if outside or not targets:
            raise NotJudged("an indirect call of a function that is not in the text", call)
        self.count += 1
        end, plain = f"call~{self.count}:done", replace(call, guard=None)
        if call.guard is not None:
            self.items.append(replace(self._jump(call, end), guard_negated=not call.guard_negated))
        for number, each in enumerate(targets):
            other, test = Label(f"{end}:{number}"), Register(f"%is{number}{end}", "pred")
            compared = (test, pointer, Symbol(each.name))
            self.items.append(replace(plain, parts=("setp", "ne", "s64"), operands=compared))
            self.items.append(replace(self._jump(plain, other.name), guard=test, guard_negated=False))
            groups = ((Group(results),) if results else ()), (Group(arguments),)
            self._call(replace(plain, operands=(*groups[0], Symbol(each.name), *groups[1])), caller)
            self.items.append(self._jump(plain, end))
            self.items.append(other)
        self.items.append(replace(plain, parts=("trap",), operands=()))
        self.items.append(Label(end))

    def _own_names(self, callee: Routine) -> dict[str, str]:
        """Static variables of a function whose name another routine has for a variable of its own."""
        others = {
            each.name
            for routine in self.module.routines.values()
            if routine.name != callee.name
            for each in routine.variables
        }
        return {
            each.name: f"{callee.name}.{each.name}"
            for each in callee.variables
            if each.space not in PRIVATE_SPACES and each.name in others
        }

    def _passed(self, callee: Routine, suffix: str, call: Instruction) -> dict[str, str]:
        """What the parameters and results of a function are called in one call; arguments in registers are moved."""
        results, _, arguments = called(call)
        if len(arguments) != len(callee.parameters) or len(results) != len(callee.results):
            raise NotJudged("a call with another number of arguments than its function has", call)
        found = {}
        for formal, actual in zip((*callee.parameters, *callee.results), (*arguments, *results), strict=True):
            if formal.in_register:
                continue
            if isinstance(actual, Symbol):
                found[formal.name] = actual.name
                continue
            found[formal.name] = formal.name + suffix
            self.private.add(formal.name + suffix)
            self.variables.append(Variable(formal.name + suffix, "local", formal.size, formal.size))
        for formal, actual in zip(callee.parameters, arguments, strict=True):
            if formal.in_register or not isinstance(actual, Symbol):
                self.items.append(self._moved_in(formal, actual, suffix, call))
        return found

    @staticmethod
    def _moved_in(formal: Parameter, actual: Operand, suffix: str, call: Instruction) -> Instruction:
        if not isinstance(actual, Register | Immediate):
            raise NotJudged("a call that passes memory in a register", call)
        if formal.in_register:
            target: Operand = Register(formal.name + suffix, formal.type)
            return replace(call, parts=("mov", formal.type), operands=(target, actual), guard=None)
        where = Address(Symbol(formal.name + suffix))
        return replace(call, parts=("st", "local", formal.type), operands=(where, actual), guard=None)

    def _results(self, frame: Frame, results: tuple[Operand, ...], call: Instruction) -> None:
        """Results that come back in registers."""
        for formal, actual in zip(frame.routine.results, results, strict=True):
            if isinstance(actual, Register) and formal.in_register:
                source: Operand = Register(formal.name + frame.suffix, formal.type)
                moved = replace(call, parts=("mov", formal.type), operands=(actual, source), guard=None)
            elif isinstance(actual, Register):
                source = Address(Symbol(formal.name + frame.suffix))
                moved = replace(
                    call, parts=("ld", "local", formal.type), operands=(actual, source), guard=None
                )
            else:
                continue
            self.items.append(moved)


def inlined(module: Module, routine: Routine) -> Routine:
    """A kernel with the functions that it calls written out; calls of functions that are not there stay."""
    return Inliner(module).kernel(routine)
