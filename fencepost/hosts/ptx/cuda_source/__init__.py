"""CUDA files as text: statements, headers, and what only the host can use."""
