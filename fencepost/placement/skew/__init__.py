"""Placements for kernels whose waves are skewed, or in which it matters when each wave's accesses complete."""
