// Four slots: a producer thread fills them with bulk copies, a warp group multiplies with one product in flight.
// block: 160
// args: f16[262144] f16[262144] f32[4096] i32=16
// target: sm_90a
// race EARLY_RELEASE: a slot is released while the product of this round still reads it
// race WEAK_WAIT: two products stay in flight, and the slot of the older one is released
// race NO_FULL_WAIT: a slot is read before its copies have arrived
// deadlock ONE_COPY: half of the bytes that are expected come
#define SLOTS 4
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned at, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" // @ONE_COPY
                 ::"r"(at), "r"(parity)
                 : "memory");
}
__device__ void copy(unsigned to, const void *from, unsigned bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" // @EARLY_RELEASE @WEAK_WAIT @NO_FULL_WAIT @ONE_COPY
                 ::"r"(to), "l"(from), "r"(bar)
                 : "memory");
}
extern "C" __global__ void wgmma_ring(const char *a, const char *b, float *c, int steps) {
    __shared__ __align__(1024) char as[SLOTS][2048], bs[SLOTS][2048];
    __shared__ unsigned long long full[SLOTS], empty[SLOTS];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < SLOTS; s++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full[s])));
            asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(address(&empty[s]))); // @ONE_COPY
        }
    __syncthreads();
    if (t >= 128) {
        if (t == 128)
            for (int k = 0; k < steps; k++) {
                int s = k % SLOTS;
                wait(address(&empty[s]), (k / SLOTS + 1) & 1);
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" ::"r"(address(&full[s])) : "memory"); // @ONE_COPY
                copy(address(as[s]), a + k * 2048, address(&full[s]));
#ifndef ONE_COPY
                copy(address(bs[s]), b + k * 2048, address(&full[s]));
#endif
            }
        return;
    }
    float d[32] = {};
    unsigned long long base = (16ull << 32) | (8ull << 16);
    for (int k = 0; k < steps; k++) {
        int s = k % SLOTS;
#ifndef NO_FULL_WAIT
        wait(address(&full[s]), k / SLOTS & 1);
#endif
        unsigned long long da = base | address(as[s]) >> 4, db = base | address(bs[s]) >> 4;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0; }" // @EARLY_RELEASE @WEAK_WAIT @NO_FULL_WAIT
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                     : "l"(da), "l"(db));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#ifdef WEAK_WAIT
        asm volatile("wgmma.wait_group.sync.aligned 2;" ::: "memory");
#else
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
#endif
#ifdef EARLY_RELEASE
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address(&empty[s])) : "memory");
#else
        if (k > 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address(&empty[(k - 1) % SLOTS])) : "memory");
#endif
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int r = 0; r < 32; r++) c[t * 32 + r] = d[r];
}
