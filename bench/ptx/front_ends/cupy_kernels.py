"""A kernel of CuPy: what `RawKernel` and `RawModule` give to NVRTC."""

from cupy.cuda import compiler

TILES = """
extern "C" __global__ void tiles(const float *a, float *out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float x = 0;
    for (int i = 0; i < n; i++) {
        s[t] = a[i * 256 + t];
        __syncthreads();
        x += s[(t + 64) % 256];
        BARRIER;
    }
    out[t] = x;
}
"""


def compile_all() -> None:
    racy = TILES.replace("tiles", "tiles_racy").replace("BARRIER", "")
    for text in (TILES.replace("BARRIER", "__syncthreads()"), racy):
        # One step below `compile_using_nvrtc`, which asks the GPU what it can do.
        compiler._NVRTCProgram(text, "tiles.cu", method="cubin").compile(("-arch=sm_80", "-lineinfo"))
