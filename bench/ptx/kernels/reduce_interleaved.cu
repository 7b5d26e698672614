// Sum of a block, interleaved addressing: every second thread drops out in each step.
// block: 256
// args: f32[4096] f32[16] i32=4096
// grid: 16
// race NO_LOAD_BARRIER: the first step adds values of lanes that have not stored them yet
// race NO_STEP_BARRIER: a step reads sums that the step before has not stored yet
extern "C" __global__ void reduce_interleaved(const float *in, float *out, int n) {
    __shared__ float sums[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    sums[t] = i < n ? in[i] : 0.0f; // @NO_LOAD_BARRIER
#ifndef NO_LOAD_BARRIER
    __syncthreads();
#endif
    for (int s = 1; s < 256; s *= 2) {
        if (t % (2 * s) == 0) sums[t] += sums[t + s]; // @NO_LOAD_BARRIER @NO_STEP_BARRIER
#ifndef NO_STEP_BARRIER
        __syncthreads();
#endif
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}
