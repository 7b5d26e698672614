// Values go round a ring of threads, one place in each round; two arrays take turns.
// block: 96
// args: f32[96] i32=10
// grid: 1
// race NO_BARRIER: a place is read before its thread has stored it
extern "C" __global__ void ring_shift(float *data, int rounds) {
    __shared__ float s[2][96];
    int t = threadIdx.x;
    float v = data[t];
    for (int k = 0; k < rounds; k++) {
        s[k & 1][t] = v; // @NO_BARRIER
#ifndef NO_BARRIER
        __syncthreads();
#endif
        v = s[k & 1][t == 0 ? 95 : t - 1]; // @NO_BARRIER
    }
    data[t] = v;
}
