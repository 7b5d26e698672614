"""Split barriers: random kernels, broken pairs and pairs that stand in the kernel."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

import fencepost as fp
from fencepost.check.lockstep import in_step
from fencepost.emit import verify_barriers
from fencepost.flow import build_flow
from fencepost.ir import ops
from fencepost.placement import driver
from fencepost.targets.table import UNHURRIED
from tests.random_kernels import Shape, random_text
from tests.tiers import sweep

pytestmark = pytest.mark.usefixtures("parsed_once")

SPLITS = "gfx1201"
SIGNAL, WAIT = ops.SharedMemoryBarrierSignal, ops.SharedMemoryBarrierWait

SHAPES = {
    "any": Shape(),
    "large": Shape(size=40),
    "loops": Shape(size=20, barriers=0.05, divergent=False, blocks=False, waves=(2, 4)),
    "rings": Shape(slots=True, handing=True),
    "copies": Shape(slots=True, asynchronous=True),
    "functions": Shape(functions=True, scratch=True),
    "everything": Shape(slots=True, asynchronous=True, handing=True, functions=True, scratch=True, size=16),
}


def roomy(text: str, rng: random.Random) -> str:
    """The kernel with operations in between that touch no shared memory: room to pull barriers apart.

    A signal comes only once what stands before it is complete; ten of these operations take longer than that.
    """
    lines: list[str] = []
    for line in text.splitlines():
        if re.match(
            r" *(read|write|atomic|barrier|loop|if|exchange|call|\w+_lds|async_mma|wait_count)\b", line
        ):
            lines += ["compute"] * rng.choice([0, 1, 10])
        lines.append(line)
    return "\n".join(lines) + "\n"


def roomy_kernel(seed: int, shape: Shape) -> str:
    """The text of a random kernel with room in it."""
    return roomy(random_text(seed, shape), random.Random(seed))


def split(text: str, strategy: str = "auto") -> fp.CapturedTrace | None:
    """The kernel with its barriers; None if it has accesses that no barrier could order."""
    trace = fp.parse(text)
    try:
        fp.insert_barriers(trace, SPLITS, strategy)
    except fp.FencepostError as error:
        if error.code == "FP203":
            return None
        raise
    return trace


def counted(trace: fp.CapturedTrace, *kinds: type[ops.Operation]) -> tuple[int, float]:
    """How many operations of some kinds stand in a kernel and its functions, and how often they run."""
    bodies = [trace, *trace.functions()]
    stand = sum(isinstance(op, kinds) for body in bodies for op in body.preorder_walk())
    blocks = build_flow(trace).blocks
    return stand, sum(block.frequency for block in blocks for op in block.ops if isinstance(op, kinds))


def carries_a_pair(trace: fp.CapturedTrace) -> bool:
    """Whether some loop goes round with the barrier signalled."""
    flow = build_flow(trace)
    seen, todo = {0: False}, [0]
    while todo:
        here = todo.pop()
        signalled = seen[here]
        for op in flow.blocks[here].ops:
            if isinstance(op, SIGNAL | WAIT):
                signalled = isinstance(op, SIGNAL)
        for target in flow.blocks[here].successors:
            if signalled and flow.crossed_loop(here, target) >= 0:
                return True
            if target not in seen:
                seen[target] = signalled
                todo.append(target)
    return False


# ---------------------------------------------------------------- random kernels


def problem_with_splitting(text: str) -> str | None:
    """None if the kernel with split barriers is clean, and takes no more of them than whole ones."""
    whole, trace = split(text, "minimize"), split(text)
    if whole is None or trace is None:
        return None if whole is trace else "only one of the strategies refuses"
    report = fp.check(trace)
    if not report.ok:
        return f"check finds {(*report.races, *report.deadlocks, *report.out_of_range)[0]}"
    verify_barriers(trace)
    # Where copies are waited for, one barrier more may be worth a shorter wait; `intersect` takes no more anywhere.
    copies = any(isinstance(op, ops.AsyncOperation) for op in trace.preorder_walk())
    counting = split(text, "intersect") if copies else trace
    assert counting is not None
    for half in (SIGNAL, WAIT):
        stand, run = counted(counting, half, ops.SharedMemoryBarrier)
        at_most, run_at_most = counted(whole, ops.SharedMemoryBarrier)
        # More of them may stand there if they run less often.
        if stand > at_most and run > run_at_most * (1 - 1e-9):
            return f"{stand} {half.mnemonic}s or barriers where {at_most} barriers would do"
        if run > run_at_most * (1 + 1e-9):
            return f"{run} {half.mnemonic}s or barriers executed where {run_at_most} barriers would be"
    once = str(trace)
    again = fp.parse(once)
    if str(again) != once:
        return "does not round-trip"
    fp.insert_barriers(again, SPLITS)
    return None if str(again) == once else "a second insertion changes it"


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signals stand as early as they can, whatever it costs: every pair is as wide as possible."""
    monkeypatch.setattr(driver, "pace_of", lambda target: UNHURRIED)


@pytest.mark.parametrize("chunk", sweep(range(3), first=1))
@pytest.mark.parametrize("name", SHAPES)
def test_random_kernels_are_clean_and_cost_no_more(name: str, chunk: int) -> None:
    assert split_all(name, range(chunk * 50, (chunk + 1) * 50))[0] > 5


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("name", sweep(SHAPES, chosen=("loops",)))
def test_pairs_as_wide_as_possible_are_clean_and_cost_no_more(name: str) -> None:
    pairs, carried = split_all(name, range(5000, 5100))
    assert pairs > 20
    assert carried > 10 or name != "loops"


def split_all(name: str, seeds: range) -> tuple[int, int]:
    """Put pairs into some random kernels: how many, and how many kernels with loops that carry one."""
    pairs = carried = 0
    for seed in seeds:
        text = roomy_kernel(seed, SHAPES[name])
        problem = problem_with_splitting(text)
        assert problem is None, f"seed {seed}: {problem}\n{text}"
        trace = split(text)
        if trace is not None:
            pairs += counted(trace, SIGNAL)[0]
            carried += carries_a_pair(trace)
    return pairs, carried


# ---------------------------------------------------------------- pairs that are broken

Change = Callable[[list[str], random.Random], None]


def places(lines: list[str]) -> list[int]:
    """Where an operation can be put in."""
    found = []
    for number, line in enumerate(lines):
        before = lines[number - 1].strip() if number else ""
        ends = re.match(r"(br|cond_br|return|next|give)\b", before)
        inside = number and not line.strip().startswith(("shared", "^", "func", "kernel"))
        if inside and not ends and not (before == "}" and not lines[number - 1].startswith(" ")):
            found.append(number)
    return found


def halves(lines: list[str]) -> list[int]:
    """Where signals and waits stand."""
    return [number for number, line in enumerate(lines) if line.strip() in ("signal", "wait")]


def drop(lines: list[str], rng: random.Random) -> None:
    del lines[rng.choice(halves(lines))]


def double(lines: list[str], rng: random.Random) -> None:
    at = rng.choice(halves(lines))
    lines.insert(at, lines[at])


def move(lines: list[str], rng: random.Random) -> None:
    half = lines.pop(rng.choice(halves(lines)))
    lines.insert(rng.choice(places(lines)), half)


def turn(lines: list[str], rng: random.Random) -> None:
    at = rng.choice(halves(lines))
    lines[at] = "wait" if lines[at].strip() == "signal" else "signal"


def put_barrier(lines: list[str], rng: random.Random) -> None:
    lines.insert(rng.choice(places(lines)), rng.choice(["barrier", "workgroup_barrier"]))


def broken(text: str, rng: random.Random) -> str:
    """A kernel with one or two of its signals and waits changed."""
    lines = [line.partition("#")[0].rstrip() for line in text.splitlines()]
    for change in rng.choices([drop, double, move, move, turn, put_barrier], k=rng.choice([1, 1, 2])):
        if halves(lines):
            change(lines, rng)
    return "\n".join(lines) + "\n"


def hangs_by_structure(trace: fp.CapturedTrace) -> bool:
    try:
        verify_barriers(trace)
    except fp.FencepostError as error:
        assert error.code in ("FP201", "FP204")
        return True
    return False


def disagreement(text: str, *, exact: bool) -> str | None:
    """None if all who look for hangs in a kernel say the same, as far as they look at the same paths."""
    trace = fp.parse(text)
    structure = hangs_by_structure(trace)
    simulated = fp.check(trace, method="simulate", paths=200)
    if simulated.deadlocks and not structure:
        return f"only simulate sees a hang: {simulated.deadlocks[0].message}"
    if not in_step(build_flow(trace)):
        return None  # skewed waves: what verification refuses may be fine
    tracked = fp.check(trace, method="track")
    if simulated.deadlocks and not tracked.deadlocks:
        return f"simulate sees a hang, track does not: {simulated.deadlocks[0].message}"
    if tracked.deadlocks and not structure:
        return f"only track sees a hang: {tracked.deadlocks[0].message}"
    if structure and exact and not tracked.deadlocks:
        return "only verification sees a hang"
    if tracked.deadlocks and exact and simulated.explored.complete and not simulated.deadlocks:
        return f"track sees a hang, simulate does not: {tracked.deadlocks[0].message}"
    return None


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("name", sweep(["any", "loops", "copies", "functions", "rings"], chosen=("loops",)))
def test_everyone_sees_the_same_hangs(name: str) -> None:
    """Where conditions depend on iterations, verification follows paths that are never taken: it may see more."""
    hung = fine = 0
    for seed in range(30 if name == "loops" else 70):
        trace = split(roomy_kernel(seed, SHAPES[name]))
        if trace is None or not counted(trace, SIGNAL)[0]:
            continue
        rng = random.Random(seed)
        for _ in range(3):
            text = broken(str(trace), rng)
            problem = disagreement(text, exact=not SHAPES[name].handing)
            assert problem is None, f"seed {seed}: {problem}\n{text}"
            hangs = hangs_by_structure(fp.parse(text))
            hung, fine = hung + hangs, fine + (not hangs)
    assert hung > 20 and fine > 3


# ---------------------------------------------------------------- pairs that stand in the kernel


def kernel(body: str) -> fp.CapturedTrace:
    """A kernel of four waves with buffers %a and %b; `;` separates its statements."""
    lines = body.replace("; ", "\n")
    return fp.parse(f"kernel @k waves=4 {{\nshared %a : 2 x 64\nshared %b : 64\n{lines}\n}}\n")


def body_of(trace: fp.CapturedTrace) -> str:
    lines = [line.partition("#")[0].strip() for line in str(trace).splitlines()[3:-1]]
    return "; ".join(line for line in lines if line)


def inserted(body: str, target: str = SPLITS, strategy: str = "auto") -> str:
    """The kernel's body once what it lacks is there, without comments; `check` has nothing against it."""
    trace = kernel(body)
    fp.insert_barriers(trace, target, strategy)
    report = fp.check(trace)
    assert report.ok, f"{report.races or report.deadlocks}\n{trace}"
    return body_of(trace)


@pytest.mark.parametrize("strategy", ["auto", "minimize", "eager"])
@pytest.mark.parametrize(
    "body",
    [
        "write %a; signal; compute; wait; read %a",
        "write %a; signal; loop %i in 0..8 {; wait; read %a; signal; wait; write %a; signal; }; wait; read %a",
        "write %a; signal; if %c {; wait; read %a; } else {; wait; write %a; }",
        "write %b; signal 3; compute; wait 3; read %b",
    ],
)
def test_what_a_pair_of_the_kernel_covers_gets_nothing_more(body: str, strategy: str) -> None:
    assert inserted(body, strategy=strategy) == body


def test_what_a_pair_does_not_cover_gets_a_barrier_outside_of_it() -> None:
    assert inserted("signal; write %a; compute; wait; read %a") == (
        "signal; write %a; compute; wait; barrier; read %a"
    )
    assert inserted("read %a; write %a; signal; compute; wait; read %a") == (
        "read %a; barrier; write %a; signal; compute; wait; read %a"
    )
    # Named barriers are apart from the workgroup's: a barrier can stand between their halves.
    assert inserted("write %a; signal 1; write %b; read %b; wait 1; read %a") == (
        "write %a; signal 1; write %b; barrier; read %b; wait 1; read %a"
    )


@pytest.mark.parametrize(
    ("body", "message", "path"),
    [
        ("signal; signal; wait; wait", "signalled twice before it is waited for", "4 → 5"),
        ("wait; signal", "waited for and not signalled", "4"),
        ("signal; write %a", "signalled, and the kernel ends", "4"),
        (
            "signal; barrier; wait",
            "a barrier between the signal of the workgroup's barrier and its wait",
            "4 → 5",
        ),
        ("if %c {; signal; }; wait", "waited for and not signalled", "7"),
        ("signal; loop %i in 0..? {; wait; signal; }", "signalled, and the kernel ends", "4"),
        ("loop %i in 0..8 {; signal; }; wait", "signalled twice before it is waited for", "5 → 5"),
        ("signal 1; wait 2; wait 1; signal 2", "barrier 2 is waited for and not signalled", "4 → 5"),
    ],
)
@pytest.mark.parametrize("target", [SPLITS, "gfx942"])
def test_pairs_out_of_step_are_refused(body: str, message: str, path: str, target: str) -> None:
    trace = kernel(body)
    before = str(trace)
    with pytest.raises(fp.FencepostError, match=message) as error:
        fp.insert_barriers(trace, target)
    assert error.value.code == "FP204"
    assert ("path", path) in error.value.notes
    assert str(trace) == before
    assert fp.check(trace).deadlocks


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("name", ["any", "loops", "copies", "functions", "rings"])
def test_pairs_of_random_kernels_are_respected(name: str) -> None:
    """Whole barriers are taken out: what is missing is put in again, without a change to the pairs."""
    tried = 0
    for seed in range(40):
        trace = split(roomy_kernel(seed, SHAPES[name]))
        if trace is None or not counted(trace, SIGNAL)[0]:
            continue
        rng = random.Random(seed)
        lines = [line.partition("#")[0].rstrip() for line in str(trace).splitlines()]
        kept = [line for line in lines if not line.strip().startswith("barrier") or rng.random() < 0.5]
        text = "\n".join(kept) + "\n"
        for target, strategy in ((SPLITS, "auto"), ("gfx942", "minimize"), ("gfx942", "eager")):
            again = fp.parse(text)
            before = counted(again, SIGNAL, WAIT)[0]
            fp.insert_barriers(again, target, strategy)
            report = fp.check(again)
            assert not report.deadlocks, f"seed {seed}, {strategy}\n{text}\n{again}"
            assert not report.races, f"seed {seed}, {strategy}\n{text}\n{again}"
            after = counted(again, SIGNAL, WAIT)[0]
            assert after == before if target == "gfx942" else after >= before
        tried += 1
    assert tried > 8


# ---------------------------------------------------------------- corners


def test_a_consumer_before_the_wait_is_refused() -> None:
    """A barrier in front of the signal would do; where it goes is left to the author of the pair."""
    with pytest.raises(fp.FencepostError, match="between a signal and its wait") as error:
        inserted("write %a; compute; signal; read %a; wait")
    assert error.value.code == "FP205"


@pytest.mark.parametrize("access", ["write %a", "gather_to_lds %a"])
def test_accesses_that_meet_between_signal_and_wait_are_refused(access: str) -> None:
    with pytest.raises(fp.FencepostError):
        fp.insert_barriers(kernel(f"signal; {access}; read %a; wait"), SPLITS)


def test_the_refusal_does_not_need_a_divergent_conditional_around_the_access() -> None:
    with pytest.raises(fp.FencepostError):
        fp.insert_barriers(kernel("if wave == 0 {; compute; }; signal; write %a; read %a; wait"), SPLITS)


@pytest.mark.parametrize("strategy", ["auto", "eager", "minimize", "optimal"])
def test_a_barrier_can_stand_behind_a_wait_on_the_condition_of_its_signal(strategy: str) -> None:
    pair = "if %i > 0 {; signal; }; compute; if %i > 0 {; wait; }"
    made = inserted(f"loop %i in 0..8 {{; {pair}; write %b; read %b; }}", "gfx942", strategy)
    assert made == f"loop %i in 0..8 {{; {pair}; write %b; barrier; read %b; }}"


def test_a_signal_that_never_runs_is_in_the_way_of_nothing() -> None:
    made = inserted("write %a; if 1 == 2 {; signal; wait; }; if 2 == 1 {; signal; }; read %a", "gfx942")
    assert "barrier" in made


@pytest.mark.parametrize(
    "body",
    ["read %a; signal; wait; write %a", "loop %i in 0..8 {; read %a; signal; wait; write %a; barrier; }"],
)
def test_prune_keeps_pairs_that_are_needed(body: str) -> None:
    trace = kernel(body)
    assert fp.check(trace).ok
    fp.prune_barriers(trace)
    assert fp.check(trace).ok


def test_the_walk_puts_no_barrier_between_signal_and_wait() -> None:
    inserted("read %a[0]; signal; write %a[1]; wait", strategy="walk")


@pytest.mark.usefixtures("unhurried")
def test_a_pair_does_not_reach_past_a_barrier_without_a_fence() -> None:
    body = "loop %j in 0..1 {; write %a[%j % 2]; }; workgroup_barrier;"
    inserted(f"loop %k in 0..? {{; async_mma %a[%k % 2]; }}; loop %i in 0..2 {{; {body} }}")


def test_half_of_a_barrier_can_stand_right_before_a_wait_of_the_kernel() -> None:
    loop = "loop %i in 0..? {; read %b; atomic %b[0..16]; }"
    inserted(f"if %c {{; tensor_load_to_lds %b; {loop}; compute; wait_count tensor=1; }}; read %b")
