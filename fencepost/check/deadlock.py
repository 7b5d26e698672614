"""How a simulation ends that does not end well: waves that wait for ever, barriers left signalled.

`Simulation.find_deadlocks` asks, once no wave gets any further.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.check.report import Deadlock, barrier_name
from fencepost.check.simulated_waves import WaveState, meeting_of, meets
from fencepost.ir import ops


def left_signalled(waves: Sequence[WaveState]) -> Deadlock | None:
    """A barrier that a wave signals and never waits for; every wave has reached its end."""
    for state in waves:
        for bar_id, count in state.arrivals.items():
            if isinstance(bar_id, int) and count > state.waits.get(bar_id, 0):
                signal = next(event.op for event in reversed(state.events) if _signals(event.op, bar_id))
                text = f"wave {state.wave} ends with {barrier_name(bar_id)} signalled and not waited for"
                return Deadlock("left signalled", text, ((signal, "no wait follows"),))
    return None


def who_is_stuck(waves: Sequence[WaveState], waiting: WaveState) -> Deadlock:
    """Why a wave does not get any further than to the barrier that it is at."""
    op = waiting.events[waiting.at].op
    bar_id = meeting_of(op)
    phase = waiting.waits.get(bar_id, 0)
    marks = [(op, f"wave {waiting.wave} waits here for ever")]
    if waiting.arrivals.get(bar_id, 0) <= phase:
        text = f"wave {waiting.wave} waits for a barrier that it has not signalled"
        kind = "wait without signal"
    else:
        missing = next(
            (s for s in waves if s.arrivals.get(bar_id, 0) <= phase and meets(s.wave, bar_id)), None
        )
        text = f"wave {waiting.wave} waits at a barrier that "
        text += f"wave {missing.wave} never reaches" if missing else "is never complete"
        kind = "stuck"
        if missing is not None and missing.at < len(missing.events):
            marks.append((missing.events[missing.at].op, f"wave {missing.wave} waits here"))
    return Deadlock(kind, text, tuple(marks), tuple(event.op for event in waiting.events[: waiting.at + 1]))


def _signals(op: ops.Operation, bar_id: int) -> bool:
    return isinstance(op, ops.SharedMemoryBarrierSignal) and op.bar_id == bar_id
