// Several steps of a stencil in one array: a barrier behind the reads and one behind the writes.
// block: 256
// args: f32[4096] f32[4096] i32=10
// grid: 16
// race NO_READ_BARRIER: a cell is overwritten while its neighbour still reads it
// race NO_WRITE_BARRIER: a neighbour is read before its new value is stored
extern "C" __global__ void stencil_steps(const float *in, float *out, int steps) {
    __shared__ float a[258];
    int t = threadIdx.x, base = blockIdx.x * 256;
    a[t + 1] = in[base + t]; // @NO_WRITE_BARRIER
    if (t == 0) a[0] = a[257] = 0.0f; // @NO_WRITE_BARRIER
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        float v = 0.25f * a[t] + 0.5f * a[t + 1] + 0.25f * a[t + 2]; // @NO_READ_BARRIER @NO_WRITE_BARRIER
#ifndef NO_READ_BARRIER
        __syncthreads();
#endif
        a[t + 1] = v; // @NO_READ_BARRIER @NO_WRITE_BARRIER
#ifndef NO_WRITE_BARRIER
        __syncthreads();
#endif
    }
    out[base + t] = a[t + 1];
}
