// Segmented scan: values and flags move together.
// block: 128
// args: f32[2048] i32[2048]:below2 f32[2048]
// grid: 16
// race NO_READ_BARRIER: a thread stores while its neighbour has yet to read
// race FLAGS_LATE: the flags are stored behind the barrier
extern "C" __global__ void scan_segmented(const float *in, const int *heads, float *out) {
    __shared__ float a[128];
    __shared__ int f[128];
    int t = threadIdx.x, base = blockIdx.x * 128;
    a[t] = in[base + t];
    f[t] = heads[base + t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        float v = a[t]; // @NO_READ_BARRIER
        int flag = f[t];
        if (t >= d) {
            if (!flag) v += a[t - d]; // @NO_READ_BARRIER
            flag |= f[t - d]; // @NO_READ_BARRIER @FLAGS_LATE
        }
#ifndef NO_READ_BARRIER
        __syncthreads();
#endif
        a[t] = v; // @NO_READ_BARRIER
#ifdef FLAGS_LATE
        __syncthreads();
        f[t] = flag; // @FLAGS_LATE
#else
        f[t] = flag; // @NO_READ_BARRIER
        __syncthreads();
#endif
    }
    out[base + t] = a[t];
}
