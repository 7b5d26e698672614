"""A GPU that is not there: enough of one for inductor to generate kernels, and for Triton to compile them.

Inductor asks the device for its name, its architecture and its sizes, never for a result: tensors are fake (they
have shapes and no memory), and what is generated is compiled and not launched. So a few functions of `torch.cuda`
answer for a device that is described here. That cannot be undone (torch keeps answers), so it is for a process of
its own, and a process has one device.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Gpu:
    """What inductor and Triton ask of a device; the names are those of `torch.cuda.get_device_properties`."""

    name: str
    backend: str
    major: int
    minor: int
    gcnArchName: str
    warp_size: int
    multi_processor_count: int
    shared_memory_per_block: int
    shared_memory_per_block_optin: int
    total_memory: int = 80 << 30
    regs_per_multiprocessor: int = 65536
    max_threads_per_multi_processor: int = 2048
    max_threads_per_block: int = 1024
    L2_cache_size: int = 50 << 20

    @property
    def arch(self) -> int | str:
        """As Triton names it."""
        return self.gcnArchName or self.major * 10 + self.minor


GPUS = {
    "sm_90": Gpu("NVIDIA H100", "cuda", 9, 0, "", 32, 132, 48 << 10, 227 << 10),
    "gfx942": Gpu("AMD Instinct MI300X", "hip", 9, 4, "gfx942", 64, 304, 64 << 10, 64 << 10),
}


class Driver:
    """Triton's driver of the device: says which one it is, and loads nothing."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self.utils = self

    def get_current_target(self) -> Any:
        """The target that kernels are compiled for."""
        return import_module("triton.backends.compiler").GPUTarget(
            self._gpu.backend, self._gpu.arch, self._gpu.warp_size
        )

    def get_current_device(self) -> int:
        """There is one."""
        return 0

    def get_device_properties(self, device: int) -> dict[str, int]:
        """Sizes, by Triton's names."""
        del device
        return {
            "max_shared_mem": self._gpu.shared_memory_per_block_optin,
            "multiprocessor_count": self._gpu.multi_processor_count,
            "warpSize": self._gpu.warp_size,
        }


def pretend(target: str) -> Gpu:
    """From now on this process has the device of a target; before anything of inductor is imported."""
    _add_device_guard()
    return pretend_to_compile_for(target)


def pretend_to_compile_for(target: str) -> Gpu:
    """The same, as far as it takes to compile kernels; tensors on the device cannot be made."""
    import torch

    gpu = GPUS[target]
    if gpu.backend == "hip":
        torch.version.hip = "7.0"
    else:
        torch.version.cuda = "13.0"
    _answer_for_torch(gpu)
    _answer_for_inductor(gpu)
    _answer_for_triton(gpu)
    return gpu


def compile_in(processes: int) -> None:
    """Have inductor compile in so many processes of its own, or, if it is one, here; to be said before `pretend`."""
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = str(processes)
    os.environ["TORCH_WARM_POOL"] = "0"


def pretend_in_workers(target: str) -> None:
    """Worker processes know nothing of the device: tell them with every kernel; wait until they are there."""
    from torch._inductor import async_compile

    async_compile._load_triton_kernel_from_source = partial(tuner_in_worker, target)
    async_compile.AsyncCompile.wait_pool_ready()


def tuner_in_worker(target: str, name: str, source: str) -> Any:
    """In a worker: the object by which inductor compiles a kernel."""
    pretend_to_compile_for(target)
    from torch._inductor.codecache import _load_triton_kernel_from_source

    return _load_triton_kernel_from_source(name, source)


GUARD = """
#include <c10/core/impl/DeviceGuardImplInterface.h>
namespace at::detail {
C10_REGISTER_GUARD_IMPL(CUDA, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA>)
}
"""


def _add_device_guard() -> None:
    """Much of what is done to fake tensors asks for a device guard (C++), which torch for the CPU lacks."""
    import torch
    from torch.utils.cpp_extension import include_paths, library_paths

    if torch.backends.cuda.is_built():
        torch._C._ensureCUDADeviceGuardSet()
        return
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "guard.cpp", Path(folder) / "guard.so"
        source.write_text(GUARD)
        places = [f"-I{path}" for path in include_paths()] + [f"-L{path}" for path in library_paths()]
        compiler = os.environ.get("CXX", "g++")
        options = [
            "-std=c++20",
            "-O0",
            "-shared",
            "-fPIC",
            f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
        ]
        subprocess.run([compiler, *options, *places, str(source), "-lc10", "-o", str(library)], check=True)
        ctypes.CDLL(str(library))


def _answer_for_torch(gpu: Gpu) -> None:
    import torch

    state = torch.zeros(16, dtype=torch.uint8)
    answers = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "_lazy_init": lambda: None,
        "get_device_properties": lambda device=None: gpu,
        "get_device_capability": lambda device=None: (gpu.major, gpu.minor),
        "get_device_name": lambda device=None: gpu.name,
        "current_device": lambda: 0,
        "device_count": lambda: 1,
        "set_device": lambda device: None,
        "synchronize": lambda device=None: None,
        "is_bf16_supported": lambda including_emulation=True: True,
        "get_rng_state": lambda device="cuda": state,
        "set_rng_state": lambda new_state, device="cuda": None,
        "_exchange_device": lambda device: 0,
        "_maybe_exchange_device": lambda device: 0,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)
    # Generated modules import it by name.
    torch._C._cuda_getCurrentRawStream = lambda device: 0


def _answer_for_inductor(gpu: Gpu) -> None:
    """It keeps functions of `torch.cuda` under names of its own."""
    import torch
    from torch._dynamo.device_interface import CudaInterface

    for name in ("current_device", "device_count", "get_device_properties", "set_device", "synchronize"):
        setattr(CudaInterface, name, staticmethod(getattr(torch.cuda, name)))
    for name in ("exchange_device", "maybe_exchange_device"):
        setattr(CudaInterface, name, staticmethod(getattr(torch.cuda, f"_{name}")))
    CudaInterface.get_raw_stream = staticmethod(lambda device: 0)
    CudaInterface.Worker.current_device = staticmethod(lambda: 0)
    CudaInterface.Worker.get_device_properties = staticmethod(lambda device=None: gpu)
    # Patterns for attention and padding are made from tensors that have memory on the device.
    from torch._inductor.fx_passes import joint_graph

    joint_graph.lazy_init = lambda input_device=None: None


def _answer_for_triton(gpu: Gpu) -> None:
    from torch._inductor.runtime import triton_helpers

    import_module("triton").runtime.driver.set_active(Driver(gpu))
    triton_helpers.set_driver_to_gpu = lambda: None


def launch_nothing() -> None:
    """Have what inductor generates run on fake tensors: kernels are compiled, and not loaded, timed or launched."""
    import torch
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    CachingAutotuner._make_launchers = lambda self: None
    CachingAutotuner._dynamic_scale_rblock = lambda self: None
    CachingAutotuner.run = lambda self, *arguments, **options: None
    guards = torch._C._dynamo.guards
    guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(
        size, stride, dtype=dtype, device="cuda"
    )
    guards._reinterpret_tensor = lambda tensor, size, stride, offset=0: torch.as_strided(
        tensor, size, stride, tensor.storage_offset() + offset
    )
