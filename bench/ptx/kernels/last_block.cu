// The last block that ends sums up what all blocks have stored; a flag in shared memory tells which it is.
// block: 128
// args: f32[2048] f32[16] f32[1] i32[1]:zero
// grid: 16
// race NO_FLAG_BARRIER: the flag is read before thread 0 has stored it
// race NO_SUM_BARRIER: sums are read before they are stored
extern "C" __global__ void last_block(const float *in, volatile float *partial, float *out, unsigned *done) {
    __shared__ float sums[128];
    __shared__ bool last;
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = sums[0];
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1; // @NO_FLAG_BARRIER
    }
#ifndef NO_FLAG_BARRIER
    __syncthreads();
#endif
    if (last) { // @NO_FLAG_BARRIER
        sums[t] = t < gridDim.x ? partial[t] : 0.0f; // @NO_SUM_BARRIER
#ifndef NO_SUM_BARRIER
        __syncthreads();
#endif
        for (int s = 64; s > 0; s /= 2) {
            if (t < s) sums[t] += sums[t + s]; // @NO_SUM_BARRIER
            __syncthreads();
        }
        if (t == 0) *out = sums[0];
    }
}
