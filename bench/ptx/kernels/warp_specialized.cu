// One warp loads, three compute; two buffers take turns at the barriers of the whole block.
// block: 128
// args: f32[4096] f32[96] i32=32
// grid: 1
// race NO_BARRIER: a buffer is used before it is stored
// race ONE_BUFFER: the loading warp overwrites what the others still use
extern "C" __global__ void warp_specialized(const float *in, float *out, int rounds) {
    __shared__ float buffer[2][96];
    int t = threadIdx.x, lane = t % 32;
    float sum = 0.0f;
    for (int k = 0; k <= rounds; k++) {
#ifdef ONE_BUFFER
        int fill = 0, use = 0;
#else
        int fill = k & 1, use = fill ^ 1;
#endif
        if (t >= 96) {
            if (k < rounds)
                for (int i = lane; i < 96; i += 32) buffer[fill][i] = in[k * 96 + i]; // @NO_BARRIER @ONE_BUFFER
        } else if (k > 0) {
            sum += buffer[use][95 - t]; // @NO_BARRIER @ONE_BUFFER
        }
#ifndef NO_BARRIER
        __syncthreads();
#endif
    }
    if (t < 96) out[t] = sum;
}
