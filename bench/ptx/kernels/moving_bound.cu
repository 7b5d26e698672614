// Rows that are walked by all threads together, although each thread has a first and a last element of its own.
// block: 64
// args: f32[1024] f32[64] i32=16 i32=64
// grid: 1
// race NO_BARRIER: the next row is stored while others read this one
extern "C" __global__ void moving_bound(const float *in, float *out, int rows, int stride) {
    __shared__ float row[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int at = t; at < rows * stride + t; at += stride) {
#ifndef NO_BARRIER
        __syncthreads();
#endif
        row[t] = in[at]; // @NO_BARRIER
        __syncthreads();
        for (int k = 0; k < 64; k++) sum += row[k] * in[k]; // @NO_BARRIER
    }
    out[t] = sum;
}
