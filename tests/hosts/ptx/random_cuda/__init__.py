"""Random CUDA kernels, and what brute force over their source says of them.

Addresses depend on the thread, its block's number, loop counters and one parameter, never on data, so that each
thread's accesses can be listed by walking the source alone. Arrays are volatile: the compiler keeps every access and
its order.

    python -m tests.hosts.ptx.random_cuda --kernels 1000 --seed 0

judges that many and prints each on which fencepost and brute force disagree. `--prover` leaves out the runs that look
for races, which hide what a proof gets wrong; `--unoptimized` compiles without optimization; `--wrapping` makes
kernels with arithmetic that wraps around, bits, fields, vectors, and what lanes have together; `--signed` those with
indexes that have negative parts besides.
"""
