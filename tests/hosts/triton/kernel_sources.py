"""Small Triton kernels as source text: a kernel is compiled from its source, so it has to stand in a file."""

HEADER = """
import triton
import triton.language as tl
"""
_MATMUL = """

@triton.jit
def matmul(a, b, c, n, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)[:, None]
    columns = tl.arange(0, BLOCK)[None, :]
    inner = tl.arange(0, STEP)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, n, STEP):
        x = tl.load(a + rows * n + k + inner[None, :])
        y = tl.load(b + (k + inner[:, None]) * n + columns)
        total = tl.dot(x, y, total)
    tl.store(c + rows * n + columns, total)
"""
MATMUL = _MATMUL.replace("STEP", "BLOCK")
"""Tiles of a block each."""
MATMUL_IN_STEPS = _MATMUL.replace("STEP", "32")
"""Tiles of a block by 32, so that they fit into shared memory several times."""
