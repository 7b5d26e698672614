// Three slots that a bulk copy fills; whether the next one is full is looked at early, and waited for only if it was not.
// block: 160
// args: f32[2048] f32[128] i32=16
// target: sm_90
// race NO_WAIT: a slot that was not full when it was looked at is read all the same
// race OTHER_SLOT: what is looked at is not the slot that is waited for
// race EARLY_RELEASE: a slot is released before it is read
// deadlock WRONG_COUNT: more arrivals are counted than there are threads that read
#define SLOTS 3
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned at, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" ::"r"(at), "r"(parity) : "memory"); // @WRONG_COUNT
}
__device__ unsigned peek(unsigned at, unsigned parity) {
    unsigned full;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(full) : "r"(at), "r"(parity) : "memory");
    return full;
}
extern "C" __global__ void peek_ring(const float *in, float *out, int steps) {
    __shared__ __align__(16) float s[SLOTS][128];
    __shared__ unsigned long long full[SLOTS], empty[SLOTS];
    int t = threadIdx.x;
    if (t == 0)
        for (int i = 0; i < SLOTS; i++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full[i])));
#ifdef WRONG_COUNT
            asm volatile("mbarrier.init.shared.b64 [%0], 160;" ::"r"(address(&empty[i]))); // @WRONG_COUNT
#else
            asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(address(&empty[i])));
#endif
        }
    __syncthreads();
    if (t >= 128) {
        if (t == 128)
            for (int k = 0; k < steps; k++) {
                int i = k % SLOTS;
                wait(address(&empty[i]), (k / SLOTS + 1) & 1);
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" ::"r"(address(&full[i])) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" // @NO_WAIT @EARLY_RELEASE @OTHER_SLOT
                             ::"r"(address(s[i])), "l"(in + k * 128), "r"(address(&full[i]))
                             : "memory");
            }
        return;
    }
    float sum = 0.0f;
    unsigned ready = peek(address(&full[0]), 0);
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        int i = k % SLOTS;
#ifndef NO_WAIT
        if (!ready) wait(address(&full[i]), k / SLOTS & 1);
#endif
#ifdef EARLY_RELEASE
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address(&empty[i])) : "memory"); // @WRONG_COUNT
#endif
        sum += s[i][127 - t]; // @NO_WAIT @EARLY_RELEASE @OTHER_SLOT
#ifndef EARLY_RELEASE
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address(&empty[i])) : "memory"); // @WRONG_COUNT @NO_WAIT @OTHER_SLOT
#endif
#ifdef OTHER_SLOT
        int next = k + 2;
#else
        int next = k + 1;
#endif
        if (next < steps) ready = peek(address(&full[next % SLOTS]), next / SLOTS & 1); // @OTHER_SLOT
    }
    out[t] = sum;
}
