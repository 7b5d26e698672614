"""CUDA compiled by NVRTC, in a process of its own."""
