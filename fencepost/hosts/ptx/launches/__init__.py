"""How a kernel is launched: what is known of its block and parameters, and where a CUDA file says it."""
