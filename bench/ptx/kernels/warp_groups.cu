// Four groups of two warps, each with its own part of shared memory and its own numbered barrier.
// block: 256
// args: f32[4096] f32[4096] i32=16
// race NO_STORE_BARRIER: the other warp reads before the row is stored
// race NO_LOAD_BARRIER: the next row is stored while the other warp still reads
// phase SAME_NUMBER: all groups use one number, and any two warps meet
// deadlock WRONG_COUNT: the barrier waits for four warps, and two come
// race ONE_WARP: the barrier counts one warp, and nobody waits for the other
extern "C" __global__ void warp_groups(const float *in, float *out, int rounds) {
    __shared__ float s[256];
    int t = threadIdx.x, group = t / 64;
#ifdef SAME_NUMBER
    int number = 1;
#else
    int number = 1 + group;
#endif
#ifdef WRONG_COUNT
#define COUNT 128
#elif defined(ONE_WARP)
#define COUNT 32
#else
#define COUNT 64
#endif
    float sum = 0.0f;
    for (int k = 0; k < rounds; k++) {
        s[t] = in[k * 256 + t]; // @NO_STORE_BARRIER @NO_LOAD_BARRIER @ONE_WARP
#ifndef NO_STORE_BARRIER
        asm volatile("bar.sync %0, %1;" ::"r"(number), "n"(COUNT) : "memory"); // @SAME_NUMBER @WRONG_COUNT
#endif
        sum += s[t ^ 63]; // @NO_STORE_BARRIER @NO_LOAD_BARRIER @ONE_WARP
#ifndef NO_LOAD_BARRIER
        asm volatile("bar.sync %0, %1;" ::"r"(number), "n"(COUNT) : "memory"); // @SAME_NUMBER @WRONG_COUNT
#endif
    }
    out[t] = sum;
}
