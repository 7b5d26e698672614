"""Hosts: kernels of real compilers read in, and the result written back.

A host translates and decides nothing. Each one lives in a package of its own, imports its compiler
only when it is used, and refuses what it cannot represent instead of guessing.
"""
