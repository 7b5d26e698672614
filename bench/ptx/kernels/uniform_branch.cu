// A barrier inside of a branch that all threads of a block take together.
// block: 128
// args: f32[2048] f32[2048] i32=1
// grid: 16
// divergence BY_THREAD: some threads of the block skip the barrier
// race NO_BARRIER: neighbours are read before they are stored
extern "C" __global__ void uniform_branch(const float *in, float *out, int smooth) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i]; // @NO_BARRIER @BY_THREAD
    float v = in[i];
#ifdef BY_THREAD
    if (t < 100) { // @BY_THREAD
#else
    if (smooth) {
#endif
#ifndef NO_BARRIER
        __syncthreads(); // @BY_THREAD
#endif
        v = 0.5f * (v + s[t ^ 1]) + s[(t + 64) % 128]; // @NO_BARRIER @BY_THREAD
    }
    out[i] = v;
}
