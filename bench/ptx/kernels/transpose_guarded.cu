// Transpose of a matrix of any size: guards at the edges, no early exit.
// block: 16x16
// args: f32[10000] f32[10000] i32=100 i32=100
// grid: 7x7
// race NO_BARRIER: columns are read before other threads have stored them
// divergence RETURN_AND_BARRIER: the barrier stands inside of the guard
extern "C" __global__ void transpose_guarded(const float *in, float *out, int w, int h) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
#ifdef RETURN_AND_BARRIER
    if (x < w && y < h) { // @RETURN_AND_BARRIER
        tile[threadIdx.y][threadIdx.x] = in[y * w + x]; // @RETURN_AND_BARRIER
        __syncthreads(); // @RETURN_AND_BARRIER
    }
#else
    if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
#endif
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < h && y < w) out[y * h + x] = tile[threadIdx.x][threadIdx.y]; // @NO_BARRIER @RETURN_AND_BARRIER
}
