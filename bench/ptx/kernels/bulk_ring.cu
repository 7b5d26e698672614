// A ring of three slots: one thread fills them with bulk copies, four warps empty them; two mbarriers a slot.
// block: 160
// args: f32[8192] f32[128] i32=16
// target: sm_90
// race NO_FULL_WAIT: a slot is read before its copy has arrived
// race NO_EMPTY_WAIT: a slot is filled while it is still read
// race EARLY_RELEASE: a slot is released before it is read
// deadlock NO_EXPECT: bytes arrive that no phase expects
// deadlock HALF_BYTES: a phase expects half of the bytes that arrive
// deadlock NO_RELEASE: no consumer releases a slot
// deadlock WRONG_COUNT: the mbarrier of an empty slot counts one arrival too many
// warning NO_FENCE: no fence between the reads and the copy that overwrites what was read
// phase FEW_COUNTED: the mbarrier of an empty slot counts fewer arrivals than there are
// phase WRONG_PARITY: consumers wait for the same parity in every round
#define SLOTS 3
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned at, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" // @NO_EXPECT @HALF_BYTES @NO_RELEASE @WRONG_COUNT @WRONG_PARITY
                 ::"r"(at), "r"(parity)
                 : "memory");
}
__device__ void arrive(unsigned at) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory"); // @FEW_COUNTED @WRONG_COUNT @WRONG_PARITY
}
extern "C" __global__ void bulk_ring(const float *in, float *out, int rounds) {
    __shared__ __align__(16) float tile[SLOTS][128];
    __shared__ unsigned long long full[SLOTS], empty[SLOTS];
    int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < SLOTS; s++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full[s]))); // @NO_EXPECT @HALF_BYTES
#ifdef WRONG_COUNT
            asm volatile("mbarrier.init.shared.b64 [%0], 129;" ::"r"(address(&empty[s]))); // @WRONG_COUNT
#elif defined(FEW_COUNTED)
            asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(address(&empty[s]))); // @FEW_COUNTED
#else
            asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(address(&empty[s]))); // @NO_RELEASE
#endif
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (t >= 128) {
        if (t == 128) {
            for (int k = 0; k < rounds; k++) {
                int s = k % SLOTS;
#ifndef NO_EMPTY_WAIT
                wait(address(&empty[s]), (k / SLOTS + 1) & 1); // @NO_RELEASE @WRONG_COUNT
#endif
#ifdef NO_EXPECT
                arrive(address(&full[s])); // @NO_EXPECT
#elif defined(HALF_BYTES)
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(address(&full[s])) : "memory"); // @HALF_BYTES
#else
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" ::"r"(address(&full[s])) : "memory"); // @WRONG_PARITY
#endif
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" // @NO_FULL_WAIT @NO_EMPTY_WAIT @EARLY_RELEASE @NO_EXPECT @HALF_BYTES @NO_FENCE
                    ::"r"(address(tile[s])), "l"(in + k * 128), "r"(address(&full[s]))
                    : "memory");
            }
        }
    } else {
        float sum = 0.0f;
        for (int k = 0; k < rounds; k++) {
            int s = k % SLOTS;
#ifdef WRONG_PARITY
            wait(address(&full[s]), 0); // @WRONG_PARITY
#elif !defined(NO_FULL_WAIT)
            wait(address(&full[s]), (k / SLOTS) & 1); // @NO_EXPECT @HALF_BYTES
#endif
#ifdef EARLY_RELEASE
            arrive(address(&empty[s]));
#endif
            sum += tile[s][127 - t]; // @NO_FULL_WAIT @NO_EMPTY_WAIT @EARLY_RELEASE @NO_FENCE
#ifndef NO_FENCE
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
#if !defined(NO_RELEASE) && !defined(EARLY_RELEASE)
            arrive(address(&empty[s])); // @FEW_COUNTED @WRONG_COUNT
#endif
        }
        out[t] = sum;
    }
}
