// A loop with barriers whose number of rounds is the same for all threads.
// block: 64
// args: f32[1024] i32=5
// grid: 16
// divergence BY_THREAD: threads leave the loop after different numbers of rounds
extern "C" __global__ void barrier_loop(float *data, int rounds) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float v = data[blockIdx.x * 64 + t];
#ifdef BY_THREAD
    for (int i = 0; i < t; i++) { // @BY_THREAD
#else
    for (int i = 0; i < rounds; i++) {
#endif
        s[t] = v; // @BY_THREAD
        __syncthreads(); // @BY_THREAD
        v = 0.5f * (v + s[63 - t]); // @BY_THREAD
        __syncthreads(); // @BY_THREAD
    }
    data[blockIdx.x * 64 + t] = v;
}
