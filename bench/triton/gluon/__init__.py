"""Gluon kernels: correct ones, and the same with one mistake each, marked `# MISTAKE:`."""
