"""One of the two threads that a solver is asked about: its expressions as bit vectors, in some iterations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.hosts.ptx.expressions.closed_forms import MOST_ITERATIONS
from fencepost.hosts.ptx.expressions.expression_builder import Values
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves, sum_parts, trailing_zeros
from fencepost.hosts.ptx.proof.intervals import Iteration, Iterations
from fencepost.hosts.ptx.proof.solver_questions import INDEX_BITS, LARGEST_STRIDE, Formula, Questions, common

COSTLY = frozenset({"mul", "shl", "lshr", "ashr", "udiv", "sdiv", "urem", "srem"})
"""Operations on two variables that make a question hard."""
CUT = frozenset({"mul", "and", "or", "xor", "not"})
"""Operations whose lower bits depend on no upper ones."""
CUT_BITS = 16
"""So many bits may have no place, if it is not known of what it is a multiple."""


class Thread:
    """One of the two threads, in some iterations: translates its expressions."""

    def __init__(
        self,
        questions: Questions,
        name: str,
        iterations: Iterations,
        same_warp: bool,
        coarse: bool = False,
        block: int | None = None,
    ) -> None:
        self.questions = questions
        self.block = block
        """Where the thread is, if that is known: it has then left the loops that this block is not in."""
        self.z3 = questions.z3
        self.coarse = coarse
        """Whether hard operations on values that both threads share become variables: more is then possible."""
        self.coarsened = False
        self.shifts: list[Formula] = []
        """Iterations that something is shifted by."""
        self.name = name
        self.iterations = dict(iterations)
        self.same_warp = same_warp
        self.facts: list[Formula] = []
        self.opaque: dict[Expression, Formula] = {}
        self.earlier: list[Thread] = []
        """The same thread one iteration before, where a register still holds what it was given then."""
        self._done: dict[Expression, Formula] = {}
        self._counted: set[int] = set()

    def formula(self, value: Expression) -> Formula:
        """The solver's bit vector; one bit is a Boolean."""
        found = self._done.get(value)
        if found is None:
            found = self._translate(value)
            self._done[value] = found
        return found

    def leave_open(self, value: Expression, most: int) -> None:
        """A variable of its own in the place of a value that is at most so large: more is then possible."""
        if value not in self._done:
            self.coarsened = True
            found = self._variable(f"?{value.number}!{self.name}", value.width, most)
            self._done[value] = found
            self.facts.append(self.z3.ULE(found, most))

    # many branches because each operation has a form of its own in the solver
    def _translate(self, value: Expression) -> Formula:
        z3 = self.z3
        if value.operation == "constant":
            return (
                z3.BoolVal(bool(value.known)) if value.width == 1 else z3.BitVecVal(value.known, value.width)
            )
        if value.operation == "leaf":
            return self._leaf(value)
        if value.operation == "sum":
            return self._sum(value)
        if self.coarse and self._is_hard(value) and common(self.questions, value, self.iterations):
            return self._coarse(value)
        if value.operation == "choose" and value.width > 1:
            condition = self.formula(value.arguments[0])
            one = self._only_if(condition, value.arguments[1])
            other = self._only_if(z3.Not(condition), value.arguments[2])
            return z3.If(condition, one, other)
        arguments = [self.formula(each) for each in value.arguments]
        if value.width == 1 and value.arguments and value.arguments[0].width == 1:
            return self._boolean(value, arguments)
        if value.operation == "function":
            return self._function(value, arguments)
        if value.operation == "extract":
            low = value.payload
            assert isinstance(low, int)
            bits = self._bits(arguments[0], value.arguments[0].width)
            part = z3.Extract(low + value.width - 1, low, bits)
            return part == 1 if value.width == 1 else part
        if value.operation in ("zext", "sext"):
            bits = self._bits(arguments[0], value.arguments[0].width)
            more = value.width - value.arguments[0].width
            return z3.ZeroExt(more, bits) if value.operation == "zext" else z3.SignExt(more, bits)
        if value.operation == "mul":
            self._no_wrap(value.arguments, arguments)
        elif value.operation == "shl" and any(
            leaf.leaf.kind == "iteration" for leaf in leaves(value.arguments[1])
        ):
            self._note_shift(value.arguments[1])
            if self.questions.keeps_bits(value):
                back = z3.LShR(arguments[0] << arguments[1], arguments[1])
                kept = z3.And(back == arguments[0], z3.ULT(arguments[1], value.width))
                self._take_for_granted(value.arguments[1:], [kept])
        if value.operation in ("lshr", "ashr"):
            self._note_shift(value.arguments[1])
        return self._word(value.operation, arguments)

    def _note_shift(self, amount: Expression) -> None:
        for leaf in leaves(amount):
            if leaf.leaf.kind == "iteration":
                number = self.formula(leaf)
                if not self.z3.is_bv_value(number) and all(not number.eq(each) for each in self.shifts):
                    self.shifts.append(number)

    @staticmethod
    def _is_hard(value: Expression) -> bool:
        return value.operation in COSTLY and all(each.known is None for each in value.arguments[1:])

    def _coarse(self, value: Expression) -> Formula:
        """A variable in the place of a value that both threads share; the same for the same iterations."""
        self.coarsened = True
        headers = {
            loop.header
            for leaf in leaves(value)
            for loop in self.questions.evaluator.flow.loops_around(leaf.leaf.block or 0)
        }
        modes = [(header, self.iterations.get(header)) for header in sorted(headers)]
        said = ",".join(f"{header}:{mode.kind}{mode.number}" for header, mode in modes if mode is not None)
        most = self.questions.forms.values.upper(value)
        found = self._variable(f"~{value.number}[{said}]", value.width, most)
        if most < (1 << value.width) - 1:
            self.facts.append(self.z3.ULE(found, most))
        return found

    def _bits(self, formula: Formula, width: int) -> Formula:
        if width > 1:
            return formula
        return self.z3.If(formula, self.z3.BitVecVal(1, 1), self.z3.BitVecVal(0, 1))

    def _boolean(self, value: Expression, arguments: Sequence[Formula]) -> Formula:
        z3 = self.z3
        table = {"and": z3.And, "or": z3.Or, "xor": z3.Xor, "not": z3.Not}
        if value.operation in table:
            return table[value.operation](*arguments)
        if value.operation == "eq":
            return arguments[0] == arguments[1]
        return self._function(value, arguments)

    def _word(self, operation: str, arguments: Sequence[Formula]) -> Formula:
        z3 = self.z3
        if operation == "not":
            return ~arguments[0]
        left, right = arguments
        table = {
            "mul": lambda: left * right,
            "and": lambda: left & right,
            "or": lambda: left | right,
            "xor": lambda: left ^ right,
            "shl": lambda: left << right,
            "lshr": lambda: z3.LShR(left, right),
            "ashr": lambda: left >> right,
            "udiv": lambda: z3.UDiv(left, right),
            "sdiv": lambda: left / right,
            "urem": lambda: z3.URem(left, right),
            "srem": lambda: z3.SRem(left, right),
            "eq": lambda: left == right,
            "ult": lambda: z3.ULT(left, right),
            "ule": lambda: z3.ULE(left, right),
            "slt": lambda: left < right,
            "sle": lambda: left <= right,
        }
        return table[operation]()

    def _function(self, value: Expression, arguments: Sequence[Formula]) -> Formula:
        """Equal arguments give equal results: the variable is named after its arguments."""
        self.questions.kept += arguments
        key = f"{value.operation}.{value.payload}({','.join(str(each.get_id()) for each in arguments)})"
        return self._variable(key, value.width)

    def _variable(self, name: str, width: int, most: int | None = None) -> Formula:
        """A variable; one with a bound has only the bits that it needs, which makes questions much easier."""
        if width == 1:
            return self.z3.Bool(name)
        return self.questions.bounded(name, width, most)

    def _sum(self, value: Expression) -> Formula:
        z3 = self.z3
        constant, factors = sum_parts(value)
        total = z3.BitVecVal(constant, value.width) if constant else None
        half = 1 << (value.width - 1)
        for atom, factor in factors.items():
            part = self.formula(atom)
            size = factor if factor < half else (1 << value.width) - factor
            if size > 1:
                indexes = value.width >= INDEX_BITS and size < LARGEST_STRIDE
                indexes = indexes and not may_be_cut(self.questions.forms.values, atom, trailing_zeros(size))
                if indexes and self._loops_freely(atom) and self._keeps_bits(atom):
                    self._take_for_granted([atom], [self._fits(part, z3.BitVecVal(size, value.width))])
                part = part * z3.BitVecVal(size, value.width)
            if factor < half:
                total = part if total is None else total + part
            else:
                total = -part if total is None else total - part
        return total

    def _keeps_bits(self, value: Expression) -> bool:
        return value.operation != "shl" or self.questions.keeps_bits(value)

    def _loops_freely(self, value: Expression) -> bool:
        """Whether a value counts a loop that the thread may be in any iteration of."""
        for leaf in leaves(value):
            if leaf.leaf.kind == "iteration" and leaf.leaf.block is not None:
                mode = self.iterations.get(leaf.leaf.block)
                if mode is not None and mode.kind in ("any", "after"):
                    return True
        return False

    def _no_wrap(self, values: Sequence[Expression], arguments: Sequence[Formula]) -> None:
        """Index arithmetic of loop counters does not wrap around."""
        if values[0].width < INDEX_BITS or not any(self._loops_freely(each) for each in values):
            return
        if any(may_be_cut(self.questions.forms.values, each) for each in values):
            return
        self._take_for_granted(values, [self._fits(arguments[0], arguments[1])])

    def _fits(self, left: Formula, right: Formula) -> Formula:
        """Whether a product does not wrap around, as one of two signed numbers or of two that are not negative."""
        z3 = self.z3
        signed = z3.And(z3.BVMulNoOverflow(left, right, True), z3.BVMulNoUnderflow(left, right))
        return z3.Or(z3.BVMulNoOverflow(left, right, False), signed)

    def _take_for_granted(self, values: Sequence[Expression], facts: Sequence[Formula]) -> None:
        """Adds what index arithmetic does not do. In the first iteration, values of the one before are asked for but
        not used, and would be negative."""
        counts = {leaf for value in values for leaf in leaves(value) if leaf.leaf.kind == "iteration"}
        first = [self.formula(each) == 0 for each in sorted(counts, key=lambda each: each.number)]
        self.facts += [self.z3.Or(*first, fact) for fact in facts]

    # ---- leaves

    def _leaf(self, value: Expression) -> Formula:
        leaf = value.leaf
        most = self.questions.forms.values.upper(value)
        if leaf.kind in ("uniform", "base"):
            return self._variable(leaf.name, value.width, most)
        if leaf.kind == "thread":
            return self._variable(f"{leaf.name}!{self.name}", value.width, most)
        if leaf.kind == "iteration":
            return self._iteration(value)
        if leaf.kind == "carried":
            related = self._carried(value)
            if related is not None:
                return related
        return self._opaque(value)

    def _iteration(self, value: Expression) -> Formula:
        """The number of the iteration, and what is known because the thread got there."""
        z3 = self.z3
        header = value.leaf.block
        assert header is not None
        loop = self.questions.evaluator.flow.loop_of[header]
        mode = self.iterations.get(header)
        if mode is None:
            number = self._left(header)
        elif mode.kind == "number":
            number = z3.BitVecVal(mode.number, 32)
        elif mode.kind == "start":
            number = self.count(f"k{header}")
            if mode.number < 0:
                self.facts.append(z3.ULE(-mode.number, number))
            number = number + mode.number if mode.number else number
        elif mode.kind == "after":
            more = self.count(f"k{header}:more!{self.name}")
            number = self.count(f"k{header}") + more
            self.facts.append(z3.ULE(1, more))
        else:
            number = self.count(f"k{header}:any!{self.name}")
        if header not in self._counted:
            self._counted.add(header)
            self._done[value] = number
            again = self.questions.taken_again(loop)
            if again is not None:
                self.facts.append(self._only_if(number != 0, again))
            left = (
                self.questions.left_then(loop) if self.block is not None and self.block not in loop else None
            )
            if left is not None:
                self.facts.append(self.formula(left))
        return number

    def _left(self, header: int) -> Formula:
        """The last iteration of a loop that was left before: in some iteration of the loops around it."""
        key, shared = f"k{header}:left", True
        for loop in self.questions.evaluator.flow.loops_around(header):
            mode = self.iterations.get(loop.header)
            if mode is None:
                shared = shared and self.questions.uniformity.loop_is_uniform(loop)
            else:
                key += f"/{loop.header}:{mode.kind}{mode.number}"
                shared = shared and mode.kind in ("start", "number")
        return self.count(key if shared else f"{key}!{self.name}")

    def _only_if(self, condition: Formula, value: Expression) -> Formula:
        """The formula of a value that matters under a condition alone: so does what its arithmetic takes for granted.
        Of the iteration before the first one, a shift by -1 says nothing, and must not rule the first one out."""
        for leaf in leaves(value):
            self.formula(leaf)  # What is known of these holds in any case.
        outside = len(self.facts)
        found = self.formula(value)
        self.facts[outside:] = [self.z3.Implies(condition, each) for each in self.facts[outside:]]
        return found

    def count(self, name: str) -> Formula:
        """A variable for a number of iterations."""
        return self.questions.bounded(name, 32, MOST_ITERATIONS - 1)

    def _carried(self, value: Expression) -> Formula | None:
        """A register without a formula: in the first iteration its entry value, in the next one its step."""
        header = value.leaf.block
        assert header is not None
        mode = self.iterations.get(header)
        forms = self.questions.forms
        if mode == Iteration("number", 0):
            return self.formula(forms.closed(forms.first(value)))
        if mode == Iteration("start", 1):
            loop = self.questions.evaluator.flow.loop_of[header]
            before = {each: at for each, at in self.iterations.items() if each not in loop.blocks}
            before[header] = Iteration("start", 0)
            # At the end of that iteration, where it has left the loops inside.
            end = loop.latches[0] if len(loop.latches) == 1 else None
            earlier = Thread(
                self.questions, self.name, tuple(sorted(before.items())), self.same_warp, block=end
            )
            earlier.facts = self.facts
            self.earlier.append(earlier)
            return earlier.formula(forms.closed(forms.following(value)))
        return None

    def _opaque(self, value: Expression) -> Formula:
        leaf = value.leaf
        uniform = not self.questions.uniformity.varies(value)
        uniform = uniform or (leaf.scope == "warp" and self.same_warp)
        key = leaf.name
        for loop in self.questions.evaluator.flow.loops_around(leaf.block or 0):
            mode = self.iterations.get(loop.header)
            if mode is None:
                key += f"/{loop.header}:left"
                uniform = uniform and self.questions.uniformity.loop_is_uniform(loop)
            else:
                key += f"/{loop.header}:{mode.kind}{mode.number}"
                uniform = uniform and mode.kind in ("start", "number")
        found = self._variable(key if uniform else f"{key}!{self.name}", value.width)
        self.opaque[value] = found
        return found


def may_be_cut(values: Values, value: Expression, zeros: int = CUT_BITS) -> bool:
    """Whether a compiler may have cut off the upper bits of a number, of which a multiple with so many low zeros is
    used: of `4 * (x & -32)` it makes `4 * (x & 0x3FFFFFE0)`, where `x & -32` is negative."""
    if values.upper(value).bit_length() < value.width - zeros:
        return False
    if value.operation == "sum":
        constant, factors = sum_parts(value)
        cut = _looks_cut(constant, value.width, zeros)
        return cut or any(may_be_cut(values, a, zeros + trailing_zeros(c)) for a, c in factors.items())
    if value.known is not None:
        return _looks_cut(value.known, value.width, zeros)
    if value.operation == "lshr" and (amount := value.arguments[1].known) is not None and amount <= zeros:
        return True  # It may have been `ashr`.
    if value.operation in ("lshr", "ashr", "extract"):
        return may_be_cut(values, value.arguments[0], zeros)
    if value.operation == "choose":
        return any(may_be_cut(values, each, zeros) for each in value.arguments[1:])
    return value.operation in CUT and any(may_be_cut(values, each, zeros) for each in value.arguments)


def _looks_cut(number: int, width: int, zeros: int) -> bool:
    """Whether a constant would be negative without some of its upper zeros."""
    return width - zeros <= number.bit_length() < width


def loads_agree(questions: Questions, first: Thread, second: Thread) -> list[Formula]:
    """The same load in the same iterations gives two threads the same value if they read the same address."""
    found: list[Formula] = []
    for one in moments(first):
        for other in moments(second):
            found += _same_loads_agree(questions, one, other)
    return found


def moments(thread: Thread) -> Iterator[Thread]:
    """A thread, and the iterations before that its registers come from."""
    yield thread
    for each in thread.earlier:
        yield from moments(each)


def _same_loads_agree(questions: Questions, first: Thread, second: Thread) -> list[Formula]:
    found: list[Formula] = []
    done: set[Expression] = set()
    while True:
        both = [each for each in first.opaque if each in second.opaque and each not in done]
        if not both:
            return found
        for value in both:
            done.add(value)
            address = questions.evaluator.loads.get(value)
            same = all(
                first.iterations.get(loop.header) == second.iterations.get(loop.header)
                for loop in questions.evaluator.flow.loops_around(value.leaf.block or 0)
            )
            if address is None or not same:
                continue
            closed = questions.forms.closed(address)
            left, right = first.formula(closed), second.formula(closed)
            found.append(questions.z3.Implies(left == right, first.opaque[value] == second.opaque[value]))
