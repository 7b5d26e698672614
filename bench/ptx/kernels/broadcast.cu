// One thread loads a value for each round, all use it.
// block: 128
// args: f32[64] f32[2048] i32=64
// grid: 16
// race NO_BARRIER: the value is used before it is stored
// race NO_LOOP_BARRIER: the next value is stored while this one is still used
extern "C" __global__ void broadcast(const float *weights, float *out, int n) {
    __shared__ float w;
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        if (threadIdx.x == 0) w = weights[i]; // @NO_BARRIER @NO_LOOP_BARRIER
#ifndef NO_BARRIER
        __syncthreads();
#endif
        sum = sum * 0.5f + w * threadIdx.x; // @NO_BARRIER @NO_LOOP_BARRIER
#ifndef NO_LOOP_BARRIER
        __syncthreads();
#endif
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
