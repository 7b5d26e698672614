"""Triton kernels by topic."""
