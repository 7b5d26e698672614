// Several steps of a stencil between two arrays that take turns: one barrier for each step.
// block: 256
// args: f32[4096] f32[4096] i32=10
// grid: 16
// race NO_BARRIER: a step reads what the step before is still storing
extern "C" __global__ void stencil_ping_pong(const float *in, float *out, int steps) {
    __shared__ float a[2][258];
    int t = threadIdx.x, base = blockIdx.x * 256, now = 0;
    a[0][t + 1] = in[base + t]; // @NO_BARRIER
    if (t < 2) a[t][0] = a[t][257] = 0.0f; // @NO_BARRIER
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        a[now ^ 1][t + 1] = 0.25f * a[now][t] + 0.5f * a[now][t + 1] + 0.25f * a[now][t + 2]; // @NO_BARRIER
        now ^= 1;
#ifndef NO_BARRIER
        __syncthreads();
#endif
    }
    out[base + t] = a[now][t + 1]; // @NO_BARRIER
}
