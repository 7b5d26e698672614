// Threads meet at an mbarrier in shared memory instead of at a hardware barrier.
// block: 128
// args: f32[2048] f32[2048]
// grid: 16
// target: sm_90
// race NO_WAIT: neighbours are read before they are stored
// race NO_INIT_BARRIER: threads arrive at the mbarrier before it is initialized
extern "C" __global__ void mbarrier_pipeline(const float *in, float *out) {
    __shared__ float s[128];
    __shared__ unsigned long long barrier;
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(128)); // @NO_INIT_BARRIER
#ifndef NO_INIT_BARRIER
    __syncthreads();
#endif
    s[t] = in[i]; // @NO_WAIT
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory"); // @NO_INIT_BARRIER
#ifndef NO_WAIT
    unsigned done;
    do {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" // @NO_INIT_BARRIER
                     : "=r"(done)
                     : "r"(at), "l"(state)
                     : "memory");
    } while (!done);
#endif
    out[i] = s[127 - t]; // @NO_WAIT
}
