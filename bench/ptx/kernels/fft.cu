// A radix-2 Fourier transform of 512 points in shared memory.
// block: 256
// args: f32[16384]
// grid: 16
// race NO_STAGE_BARRIER: a stage reads points that the one before is still storing
// race NO_LOAD_BARRIER: the first stage reads points that are not stored yet
extern "C" __global__ void fft(float2 *data) {
    __shared__ float2 a[512];
    unsigned t = threadIdx.x, base = blockIdx.x * 512;
    a[__brev(t) >> 23] = data[base + t]; // @NO_LOAD_BARRIER
    a[__brev(t + 256) >> 23] = data[base + t + 256]; // @NO_LOAD_BARRIER
#ifndef NO_LOAD_BARRIER
    __syncthreads();
#endif
    for (unsigned half = 1; half < 512; half *= 2) {
        unsigned k = t & (half - 1), i = ((t - k) << 1) + k;
        float s, c;
        __sincosf(-3.14159265f * k / half, &s, &c);
        float2 u = a[i], v = a[i + half]; // @NO_LOAD_BARRIER @NO_STAGE_BARRIER
        float2 w = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
        a[i] = make_float2(u.x + w.x, u.y + w.y); // @NO_STAGE_BARRIER @NO_LOAD_BARRIER
        a[i + half] = make_float2(u.x - w.x, u.y - w.y); // @NO_STAGE_BARRIER @NO_LOAD_BARRIER
#ifndef NO_STAGE_BARRIER
        __syncthreads();
#endif
    }
    data[base + t] = a[t]; // @NO_STAGE_BARRIER
    data[base + t + 256] = a[t + 256]; // @NO_STAGE_BARRIER
}
