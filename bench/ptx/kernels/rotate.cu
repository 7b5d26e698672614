// Rotates each block by a number of places that is a parameter.
// block: 128
// args: f32[2048] f32[2048] i32=5
// grid: 16
// race NO_BARRIER: elements are read before their threads have stored them
extern "C" __global__ void rotate(const float *in, float *out, unsigned by) {
    __shared__ float s[128];
    int t = threadIdx.x, base = blockIdx.x * 128;
    s[t] = in[base + t]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    out[base + t] = s[(t + by) % 128]; // @NO_BARRIER
}
