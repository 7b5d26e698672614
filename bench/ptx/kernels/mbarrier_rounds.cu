// Threads meet at one mbarrier twice in every round, by parity.
// block: 128
// args: f32[4096] f32[128] i32=16
// target: sm_90
// race NO_FIRST: neighbours are read before they are stored
// race NO_SECOND: the next values are stored while neighbours are still read
// deadlock WRONG_COUNT: the mbarrier counts more arrivals than there are threads
// phase SAME_PARITY: every wait is for the first phase
__device__ void meet(unsigned at, unsigned parity) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory"); // @WRONG_COUNT @SAME_PARITY @NO_FIRST @NO_SECOND
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" // @WRONG_COUNT @SAME_PARITY @NO_FIRST @NO_SECOND
                 ::"r"(at), "r"(parity)
                 : "memory");
}
extern "C" __global__ void mbarrier_rounds(const float *in, float *out, int rounds) {
    __shared__ float s[128];
    __shared__ unsigned long long barrier;
    int t = threadIdx.x;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
#ifdef WRONG_COUNT
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 160;" ::"r"(at)); // @WRONG_COUNT
#else
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(at)); // @SAME_PARITY
#endif
    __syncthreads();
    float sum = 0.0f;
    unsigned parity = 0;
    for (int k = 0; k < rounds; k++) {
        s[t] = in[k * 128 + t]; // @NO_FIRST @NO_SECOND
#ifndef NO_FIRST
        meet(at, parity); // @WRONG_COUNT @SAME_PARITY
#ifndef SAME_PARITY
        parity ^= 1;
#endif
#endif
        sum += s[127 - t]; // @NO_FIRST @NO_SECOND
#ifndef NO_SECOND
        meet(at, parity); // @SAME_PARITY
#ifndef SAME_PARITY
        parity ^= 1;
#endif
#endif
    }
    out[t] = sum;
}
