// The place of the largest value: two arrays that are reduced together.
// block: 128
// args: f32[2048] i32[16]
// grid: 16
// race NO_STEP_BARRIER: both arrays are read before the step before has stored
// race HALF_STORED: the barrier lies between the stores of value and place
extern "C" __global__ void reduce_argmax(const float *in, int *out) {
    __shared__ float best[128];
    __shared__ int where[128];
    int t = threadIdx.x;
    best[t] = in[blockIdx.x * 128 + t]; // @NO_STEP_BARRIER
#ifdef HALF_STORED
    __syncthreads();
    where[t] = t; // @HALF_STORED
#else
    where[t] = t; // @NO_STEP_BARRIER
    __syncthreads();
#endif
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s && best[t + s] > best[t]) { // @NO_STEP_BARRIER
            best[t] = best[t + s]; // @NO_STEP_BARRIER
            where[t] = where[t + s]; // @NO_STEP_BARRIER @HALF_STORED
        }
#ifndef NO_STEP_BARRIER
        __syncthreads();
#endif
    }
    if (t == 0) out[blockIdx.x] = where[0]; // @NO_STEP_BARRIER
}
