"""Triton's membar analysis, operation by operation."""
