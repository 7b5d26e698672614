"""A campaign of random CUDA kernels: `python -m tests.hosts.ptx.random_cuda --kernels 1000 --seed 0`."""

from __future__ import annotations

import argparse

from tests.hosts.ptx import random_cuda
from tests.hosts.ptx.random_cuda.compare import How, campaign

parser = argparse.ArgumentParser(description=random_cuda.__doc__)
parser.add_argument("--kernels", type=int, default=200)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--prover", action="store_true")
parser.add_argument("--unoptimized", action="store_true")
parser.add_argument("--wrapping", action="store_true")
parser.add_argument("--signed", action="store_true")
options = parser.parse_args()
how = How(not options.unoptimized, options.wrapping, options.signed, not options.prover)
raise SystemExit(
    1 if campaign(options.kernels, options.seed, lambda text: print(text, flush=True), how) else 0
)
