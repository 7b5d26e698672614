"""Wave's operations that wait, as ours, by what they become in instructions.

| Wave | becomes | read as |
|---|---|---|
| `SharedMemoryBarrier` | `amdgpu.lds_barrier` | a barrier |
| ... with `wait_async_ops` | `s_waitcnt vmcnt(0)` in front of it | ... that waits for copies to shared memory |
| ... with `tensor_wait` | the same as without | a barrier |
| `SharedMemoryBarrierSignal` | `s_wait_dscnt 0`, `s_barrier_signal` | a signal |
| ... with `tensor_wait` | `s_wait_tensorcnt 0` in front of it | a wait for the tensor engine, a signal |
| `SharedMemoryBarrierWait` | `s_barrier_wait` | a wait |
| `WorkgroupBarrier` | `s_barrier` | a barrier without a fence |
| `MemoryCounterWait` | a wait for counters | a wait for counters |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fencepost.hosts.wave.nodes import Kind, Node, argument
from fencepost.ir import ops
from fencepost.ir.builder import Kernel

LOADS, TENSORS = ops.GatherToLDS.default_counter, ops.TensorLoadToLDS.default_counter
COUNTERS = (LOADS, "store", ops.LDS_COUNTER)
"""What the arguments of `MemoryCounterWait` count, in their order; the last one is not about memory."""


def _barrier(kernel: Kernel, node: Node) -> list[ops.Operation]:
    return [kernel.barrier(load=0) if argument(node, 0) else kernel.barrier()]


def _workgroup_barrier(kernel: Kernel, node: Node) -> list[ops.Operation]:
    del node
    return [kernel.workgroup_barrier()]


def _signal(kernel: Kernel, node: Node) -> list[ops.Operation]:
    engine: list[ops.Operation] = [kernel.wait_count(tensor=0)] if argument(node, 1) else []
    return [*engine, kernel.signal(int(node.args[0]))]


def _wait(kernel: Kernel, node: Node) -> list[ops.Operation]:
    return [kernel.wait(int(node.args[0]))]


def _counter_wait(kernel: Kernel, node: Node) -> list[ops.Operation]:
    given: dict[str, Any] = dict(zip(COUNTERS, node.args, strict=False))
    counts = {name: int(count) for name, count in given.items() if count is not None}
    return [kernel.wait_count(after=(), **counts)] if counts else []


SYNCHRONIZE: dict[Kind, Callable[[Kernel, Node], list[ops.Operation]]] = {
    Kind.BARRIER: _barrier,
    Kind.WORKGROUP_BARRIER: _workgroup_barrier,
    Kind.SIGNAL: _signal,
    Kind.WAIT: _wait,
    Kind.COUNTER_WAIT: _counter_wait,
}
