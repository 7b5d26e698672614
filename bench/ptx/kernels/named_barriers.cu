// A producer and a consumer warp meet at two numbered barriers: full and empty.
// block: 64
// args: f32[1024] f32[32] i32=32
// grid: 1
// race NO_FULL_BARRIER: the consumer reads before the producer has stored
// race NO_EMPTY_BARRIER: the producer stores while the consumer still reads
extern "C" __global__ void named_barriers(const float *in, float *out, int rounds) {
    __shared__ float buffer[32];
    int t = threadIdx.x, lane = t % 32;
    if (t < 32) {
        for (int k = 0; k < rounds; k++) {
#ifndef NO_EMPTY_BARRIER
            asm volatile("bar.sync 2, 64;" ::: "memory");
#endif
            buffer[lane] = in[k * 32 + lane]; // @NO_FULL_BARRIER @NO_EMPTY_BARRIER
#ifndef NO_FULL_BARRIER
            asm volatile("bar.arrive 1, 64;" ::: "memory");
#endif
        }
    } else {
        float sum = 0.0f;
        for (int k = 0; k < rounds; k++) {
#ifndef NO_EMPTY_BARRIER
            asm volatile("bar.arrive 2, 64;" ::: "memory");
#endif
#ifndef NO_FULL_BARRIER
            asm volatile("bar.sync 1, 64;" ::: "memory");
#endif
            sum += buffer[31 - lane]; // @NO_FULL_BARRIER @NO_EMPTY_BARRIER
        }
        out[lane] = sum;
    }
}
