// Copies of every thread arrive at an mbarrier by themselves; the threads wait for it and not for their copies.
// block: 128
// args: f32[8192] f32[128] i32=16
// target: sm_80
// race NO_WAIT: a slot is read before the copies of other threads have arrived
// race NO_RELEASE: a slot is refilled while other threads still read it
// deadlock WRONG_COUNT: the mbarrier counts one arrival more than there are threads
// race PLAIN_ARRIVE: the threads arrive, not their copies
extern "C" __global__ void copies_arrive(const float *in, float *out, int tiles) {
    __shared__ __align__(16) float tile[2][128];
    __shared__ unsigned long long full[2];
    int t = threadIdx.x;
    unsigned bars = (unsigned)__cvta_generic_to_shared(full), data = (unsigned)__cvta_generic_to_shared(tile);
    if (t < 2) {
#ifdef WRONG_COUNT
        asm volatile("mbarrier.init.shared.b64 [%0], 129;" ::"r"(bars + 8 * t)); // @WRONG_COUNT
#else
        asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(bars + 8 * t));
#endif
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < tiles; k++) {
        unsigned to = data + k % 2 * 512 + t * 4, bar = bars + k % 2 * 8;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + k * 128 + t) : "memory"); // @NO_WAIT @NO_RELEASE @PLAIN_ARRIVE
#ifdef PLAIN_ARRIVE
        asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(bar) : "memory");
#else
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(bar) : "memory"); // @WRONG_COUNT @NO_WAIT @NO_RELEASE
#endif
#ifndef NO_WAIT
        asm volatile("{ .reg .pred p; again: mbarrier.test_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" // @WRONG_COUNT @NO_RELEASE
                     ::"r"(bar), "r"(k / 2 & 1)
                     : "memory");
#endif
        sum += tile[k % 2][127 - t]; // @NO_WAIT @NO_RELEASE @PLAIN_ARRIVE
#ifndef NO_RELEASE
        __syncthreads();
#endif
    }
    out[t] = sum;
}
