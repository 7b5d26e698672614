"""The kernels that inductor generates for a program.

`torch.compile` runs as it does for anybody: dynamo traces the program, inductor lowers, fuses and writes a module
of Python. Two things differ: where that module would have a kernel compiled, its source is kept; and where it would
be called, nothing is, because there is nothing to run it on.

Autograd, which is C++, asks for a device that is there. So for training the forward and the backward graph are made
for the CPU, with inductor's own decompositions and partition, moved to the pretended GPU, and compiled one after
the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from unittest.mock import patch

from inductor.program import Program


class NothingToRunOn(Exception):
    """The program is compiled, and would be run now."""


@dataclass(frozen=True)
class Kernel:
    """A kernel as inductor writes it: a module of Python with a decorated function."""

    program: str
    name: str
    source: str

    @property
    def identity(self) -> str:
        """Equal for kernels that differ in nothing but their name."""
        same = re.sub(r"\btriton_\w*_fused_\w*|\btriton_\w+_\d+\b", "kernel", self.source)
        return sha256(same.encode()).hexdigest()


def kernels_of(program: Program) -> list[Kernel]:
    """What inductor generates for a program, in order."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True), _kept(program.name) as kept, _choosing(program.choice):
        if program.training:
            for graph, inputs in _graphs_of_training(program):
                _compile_graph(graph, inputs, _options(program))
        else:
            with torch.device("cuda"):
                function, inputs = program.make(), program.inputs()
            torch._dynamo.reset()
            compiled = torch.compile(
                function, options=_options(program), dynamic=program.dynamic, fullgraph=True
            )
            with _without_caches():
                _until_it_would_run(compiled, inputs)
    return kept


def tuner_of(kernel: Kernel) -> Any:
    """The object by which inductor compiles, times and launches a kernel; nothing is compiled yet."""
    from torch._inductor.codecache import _load_triton_kernel_from_source

    return _load_triton_kernel_from_source(kernel.name, kernel.source)


def _options(program: Program) -> dict[str, Any]:
    # Constants would be folded by computing them on the device.
    return {
        "max_autotune_gemm_backends": "TRITON",
        "joint_graph_constant_folding": False,
        **program.options,
    }


def _compile_graph(graph: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
    from torch._inductor.compile_fx import compile_fx

    with _without_caches():
        compile_fx(graph, inputs, config_patches=options)


@contextmanager
def _without_caches() -> Iterator[None]:
    import torch

    with torch.no_grad(), torch.compiler.config.patch(force_disable_caches=True):
        yield


def _until_it_would_run(compiled: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    try:
        compiled(*inputs)
    except NothingToRunOn:
        return
    raise AssertionError("nothing was compiled")


@contextmanager
def _kept(program: str) -> Iterator[list[Kernel]]:
    """Keep the sources of kernels instead of compiling them, and stop where the program would run."""
    from torch._inductor.async_compile import AsyncCompile
    from torch._inductor.output_code import CompiledFxGraph

    kept: list[Kernel] = []

    def keep(self: Any, name: str, source: str, device_str: str = "cuda") -> Any:
        kept.append(Kernel(program, name, source))
        return tuner_of(kept[-1])

    with patch.object(AsyncCompile, "triton", keep), patch.object(CompiledFxGraph, "__call__", _stop):
        yield kept


def _stop(*arguments: Any) -> None:
    raise NothingToRunOn


@contextmanager
def _choosing(number: int) -> Iterator[None]:
    """Have inductor take one of its templates by number, where it would time them all."""
    from torch._inductor import select_algorithm

    def one(choices: list[Any]) -> list[Any]:
        return [choices[number % len(choices)]]

    select_algorithm.add_preprocessing_fn(one)
    try:
        yield
    finally:
        select_algorithm.clear_preprocessing_fns()


def _graphs_of_training(program: Program) -> list[tuple[Any, tuple[Any, ...]]]:
    """The forward and the backward graph of a program, on the pretended GPU, with their inputs."""
    import torch
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.partitioners import min_cut_rematerialization_partition
    from torch._inductor.decomposition import select_decomp_table

    graphs: list[tuple[Any, tuple[Any, ...]]] = []

    def keep(graph: Any, inputs: list[Any]) -> Callable[..., Any]:
        graphs.append((graph, tuple(inputs)))
        return _stop

    backend = aot_autograd(
        fw_compiler=keep,
        bw_compiler=keep,
        partition_fn=min_cut_rematerialization_partition,
        decompositions=select_decomp_table,
    )
    torch._dynamo.reset()
    function, inputs = program.make(), program.inputs()
    with torch._functorch.config.patch(force_non_lazy_backward_lowering=True):
        _until_it_would_run(torch.compile(function, backend=backend, fullgraph=True), inputs)
    return [(_moved(graph), tuple(map(_on_gpu, inputs))) for graph, inputs in graphs]


def _on_gpu(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cuda")
    return value


def _moved(graph: Any) -> Any:
    """A graph with whatever it makes made on the GPU."""
    import torch

    for node in graph.graph.nodes:
        if isinstance(node.kwargs.get("device"), torch.device):
            node.kwargs = {**node.kwargs, "device": torch.device("cuda")}
    return torch.fx.GraphModule(graph, graph.graph)
