"""Runs a script that uses `torch.compile` on a machine without a GPU, as far as that goes.

    python bench/triton/without_gpu.py [--target T] [--workers N] SCRIPT [ARGUMENT ...]

Tensors are fake: they have shapes and no values, and `device="cuda"` is a pretended GPU. Everything is generated
and compiled for it, in this process or in inductor's workers; nothing is launched or timed. Gradients cannot be
asked for: autograd wants a device that is there.
"""

from __future__ import annotations

import argparse
import runpy
import sys

from inductor import pretended_gpu


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", choices=pretended_gpu.GPUS, default="sm_90")
    parser.add_argument(
        "--workers", type=int, default=1, help="processes that inductor compiles in; 1: this one"
    )
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    pretended_gpu.compile_in(options.workers)
    pretended_gpu.pretend(options.target)
    if options.workers > 1:
        pretended_gpu.pretend_in_workers(options.target)
    pretended_gpu.launch_nothing()
    from torch._subclasses.fake_tensor import FakeTensorMode

    sys.argv = [options.script, *options.arguments]
    with FakeTensorMode(allow_non_fake_inputs=True):
        runpy.run_path(options.script, run_name="__main__")


if __name__ == "__main__":
    main()
