"""AMDGCN assembly, as LLVM prints it: what is outstanding where, and which barriers order what.

An instruction that accesses memory is issued, and completes later; a counter of the wave says how many of a kind are
outstanding. Those that complete in the order in which they were issued are one *order* of their counter: a wait that
leaves at most n outstanding completes all of an order but its last n. What completes out of order (scalar loads, flat
accesses) is complete once the counter is zero.

A file becomes blocks of steps (`reader`, `instructions`, `steps`). Two dataflows go over them: what is outstanding
(`outstanding`), and what no rendezvous has ordered yet (`meetings`). A kernel of ours can be made into the same
steps, and so the assembly can be compared with what a compiler was asked for (`fencepost.hosts.triton.assembly`).

Scope: shared memory (LDS), copies into and out of it, and the registers that any load writes. Not looked at: the
order of accesses to global memory (caches, device-wide fences), waits between arithmetic units (`s_wait_alu`,
`s_nop`, `s_delay_alu`), export and address translation (`expcnt`, `xcnt`).
"""
