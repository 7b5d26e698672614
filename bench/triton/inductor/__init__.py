"""Kernels that `torch.compile` generates, made without a GPU: programs in PyTorch, and inductor run on them."""
