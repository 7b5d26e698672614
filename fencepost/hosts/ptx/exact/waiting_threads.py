"""The threads of an exact run, and what they wait for."""

from __future__ import annotations

import numpy as np

from fencepost.hosts.ptx.exact.accesses import Accesses
from fencepost.hosts.ptx.exact.hardware_barriers import HardwareBarriers
from fencepost.hosts.ptx.exact.mbarrier_test_waits import TestWaitResults
from fencepost.hosts.ptx.exact.tensor_memory import TensorMemory
from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.runs.simulation_setup import RUNNING, Threads


class WaitingThreads(Accesses):
    """Threads that wait, and go on."""

    hardware: list[HardwareBarriers]
    inits: dict[int, list[int]]
    tensor: TensorMemory
    waiting_warps: list[Threads]
    spins: dict[Place, bool]
    test_waits: TestWaitResults
    masks: Bits

    def _at(self, state: int) -> Threads:
        found: Threads = np.flatnonzero(self.state == state)
        return found

    def _wake(self, groups: list[Threads]) -> None:
        for who in groups:
            self.state[who] = RUNNING
            self.indices[who] += 1
        for barriers in self.hardware:
            for who in barriers.again:
                self.state[who] = RUNNING
            barriers.again = []
