// Threads beyond the end leave before the barrier: those that have exited do not take part.
// block: 256
// args: f32[4000] f32[4000] i32=4000
// grid: 16
// race NO_BARRIER: neighbours are read before they are stored
extern "C" __global__ void early_exit(const float *in, float *out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (i >= n) return;
    s[t] = in[i]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    out[i] = t > 0 ? 0.5f * (s[t] + s[t - 1]) : s[t]; // @NO_BARRIER
}
