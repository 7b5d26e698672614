// Two halves of a block, each with a numbered barrier and an array of its own.
// block: 256
// args: f32[4096] f32[4096]
// grid: 16
// race NO_BARRIER: neighbours are read before they are stored
// race WRONG_NUMBER: one half waits at the barrier of the other half's number, half of the block
extern "C" __global__ void two_groups(const float *in, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = in[i]; // @NO_BARRIER @WRONG_NUMBER
#ifndef NO_BARRIER
    if (t < 128) asm volatile("bar.sync 1, 128;" ::: "memory");
    else asm volatile("bar.sync 2, 128;" ::: "memory");
#endif
#ifdef WRONG_NUMBER
    out[i] = s[255 - t]; // @WRONG_NUMBER
#else
    out[i] = s[t ^ 127]; // @NO_BARRIER
#endif
}
