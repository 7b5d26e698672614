// Inclusive scan by Hillis and Steele; two halves of one array take turns.
// block: 256
// args: f32[4096] f32[4096]
// grid: 16
// race NO_STEP_BARRIER: a step reads from the half that is still being written
// race ONE_BUFFER: both halves are the same
extern "C" __global__ void scan_double_buffer(const float *in, float *out) {
    __shared__ float a[2 * 256];
    int t = threadIdx.x, from = 0, to = 256;
    a[t] = in[blockIdx.x * 256 + t]; // @NO_STEP_BARRIER
    __syncthreads();
#ifdef ONE_BUFFER
    to = 0;
#endif
    for (int d = 1; d < 256; d *= 2) {
        float v = a[from + t]; // @NO_STEP_BARRIER @ONE_BUFFER
        if (t >= d) v += a[from + t - d]; // @NO_STEP_BARRIER @ONE_BUFFER
        a[to + t] = v; // @NO_STEP_BARRIER @ONE_BUFFER
#ifndef NO_STEP_BARRIER
        __syncthreads();
#endif
        int swap = from;
        from = to;
        to = swap;
    }
    out[blockIdx.x * 256 + t] = a[from + t]; // @NO_STEP_BARRIER
}
