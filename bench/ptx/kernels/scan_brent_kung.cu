// Inclusive scan by Brent and Kung, index computed from the stride.
// block: 128
// args: f32[4096] f32[4096]
// grid: 16
// race NO_UP_BARRIER: a stride begins before the one below has ended
// race NO_DOWN_BARRIER: a stride of the way down begins before the one above has ended
extern "C" __global__ void scan_brent_kung(const float *in, float *out) {
    __shared__ float a[256];
    int t = threadIdx.x;
    a[t] = in[blockIdx.x * 256 + t]; // @NO_UP_BARRIER
    a[t + 128] = in[blockIdx.x * 256 + 128 + t]; // @NO_UP_BARRIER
    for (int s = 1; s <= 128; s *= 2) {
#ifndef NO_UP_BARRIER
        __syncthreads();
#endif
        int i = (t + 1) * 2 * s - 1;
        if (i < 256) a[i] += a[i - s]; // @NO_UP_BARRIER @NO_DOWN_BARRIER
    }
    for (int s = 64; s > 0; s /= 2) {
#ifndef NO_DOWN_BARRIER
        __syncthreads();
#endif
        int i = (t + 1) * 2 * s - 1;
        if (i + s < 256) a[i + s] += a[i]; // @NO_DOWN_BARRIER
    }
    __syncthreads();
    out[blockIdx.x * 256 + t] = a[t];
    out[blockIdx.x * 256 + 128 + t] = a[t + 128];
}
