// Two producer warps fill two buffers in turn for two consumer warps: four numbered barriers, arrive and sync.
// block: 128
// args: f32[4096] f32[64] i32=16
// race NO_FULL_SYNC: the consumers read a buffer without waiting for it
// race NO_EMPTY_SYNC: the producers fill a buffer without waiting until it is free
// phase SWAPPED: the consumers release the other buffer
// deadlock NO_EMPTY_ARRIVE: the consumers do not release a buffer
// deadlock WRONG_COUNT: the consumers expect three warps more at the barrier than come
extern "C" __global__ void arrive_sync(const float *in, float *out, int rounds) {
    __shared__ float buffer[2][64];
    int t = threadIdx.x, i = t % 64;
    if (t < 64) {
        for (int k = 0; k < rounds; k++) {
            int b = k & 1;
#ifndef NO_EMPTY_SYNC
            asm volatile("bar.sync %0, 128;" ::"r"(3 + b) : "memory"); // @NO_EMPTY_ARRIVE @NO_FULL_SYNC @SWAPPED
#endif
            buffer[b][i] = in[k * 64 + i]; // @NO_FULL_SYNC @NO_EMPTY_SYNC @SWAPPED
            asm volatile("bar.arrive %0, 128;" ::"r"(1 + b) : "memory"); // @NO_FULL_SYNC @NO_EMPTY_SYNC @WRONG_COUNT @NO_EMPTY_ARRIVE
        }
    } else {
#ifndef NO_EMPTY_ARRIVE
        asm volatile("bar.arrive 3, 128;" ::: "memory"); // @NO_EMPTY_SYNC @NO_FULL_SYNC
        asm volatile("bar.arrive 4, 128;" ::: "memory"); // @NO_EMPTY_SYNC @SWAPPED @NO_FULL_SYNC
#endif
        float sum = 0.0f;
        for (int k = 0; k < rounds; k++) {
            int b = k & 1;
#ifdef WRONG_COUNT
            asm volatile("bar.sync %0, 224;" ::"r"(1 + b) : "memory"); // @WRONG_COUNT
#elif !defined(NO_FULL_SYNC)
            asm volatile("bar.sync %0, 128;" ::"r"(1 + b) : "memory"); // @NO_EMPTY_ARRIVE @SWAPPED
#endif
            sum += buffer[b][63 - i]; // @NO_FULL_SYNC @NO_EMPTY_SYNC @SWAPPED
#if defined(SWAPPED)
            if (k + 2 < rounds) asm volatile("bar.arrive %0, 128;" ::"r"(4 - b) : "memory"); // @SWAPPED
#elif !defined(NO_EMPTY_ARRIVE)
            if (k + 2 < rounds) asm volatile("bar.arrive %0, 128;" ::"r"(3 + b) : "memory"); // @NO_EMPTY_SYNC @NO_FULL_SYNC
#endif
        }
        out[i] = sum;
    }
}
