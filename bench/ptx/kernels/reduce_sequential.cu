// Sum of a block, sequential addressing: the lower half adds the upper half.
// block: 256
// args: f32[4096] f32[16] i32=4096
// grid: 16
// race NO_LOAD_BARRIER: the first step reads the upper half before it is stored
// race NO_STEP_BARRIER: a step reads what the other half of the threads has not added yet
extern "C" __global__ void reduce_sequential(const float *in, float *out, int n) {
    __shared__ float sums[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    sums[t] = i < n ? in[i] : 0.0f; // @NO_LOAD_BARRIER
#ifndef NO_LOAD_BARRIER
    __syncthreads();
#endif
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) sums[t] += sums[t + s]; // @NO_LOAD_BARRIER @NO_STEP_BARRIER
#ifndef NO_STEP_BARRIER
        __syncthreads();
#endif
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}
