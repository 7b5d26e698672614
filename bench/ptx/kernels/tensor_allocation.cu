// Two warps allocate tensor memory, and hand the addresses to all in shared memory; threads store and load in place.
// block: 128
// args: i32[128] i32[128]
// target: sm_100a
// race NO_BARRIER: the address is read before it is stored
// allocation NO_FREE: a part is not freed
// allocation TWICE: a part is freed twice
// allocation OUTSIDE: columns behind those that were allocated are used
// deadlock TOO_MUCH: the second warp waits for more columns than there are left
// allocation GIVEN_UP: the right to allocate has been given up
// race NO_STORE_WAIT: what was stored is loaded again with no wait for the store
// race NO_LOAD_WAIT: a place is stored to again with no wait for the load from it
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void tensor_allocation(const int *in, int *out) {
    __shared__ unsigned places[2];
    int t = threadIdx.x, warp = t / 32;
    if (warp == 0) {
#ifdef TOO_MUCH
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 512;" ::"r"(address(&places[0])) : "memory");
#else
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(address(&places[0])) : "memory"); // @NO_BARRIER
#endif
#ifdef GIVEN_UP
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
#endif
    }
#ifndef NO_BARRIER
    __syncthreads();
#endif
    if (warp == 1) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(address(&places[1])) : "memory"); // @NO_FREE @TOO_MUCH @GIVEN_UP @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    unsigned first = places[0], second = places[1], lanes = warp * 32 << 16; // @NO_BARRIER
    if (warp == 0) asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    int v = in[t];
#ifdef OUTSIDE
    first += 96;
#endif
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(first + lanes), "r"(v) : "memory"); // @OUTSIDE @NO_STORE_WAIT
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(second + lanes), "r"(-v) : "memory");
#ifndef NO_STORE_WAIT
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
#endif
    int one, other;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(one) : "r"(first + lanes) : "memory"); // @NO_STORE_WAIT @NO_LOAD_WAIT @OUTSIDE
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(other) : "r"(second + lanes) : "memory");
#ifndef NO_LOAD_WAIT
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#endif
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(first + lanes), "r"(other) : "memory"); // @NO_LOAD_WAIT @OUTSIDE
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    int last;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(last) : "r"(first + lanes) : "memory");
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[t] = one + last;
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
#ifdef OUTSIDE
    first -= 96;
#endif
    if (warp == 0) {
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(first) : "memory");
#ifdef TWICE
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(first) : "memory"); // @TWICE
#endif
    }
#ifndef NO_FREE
    if (warp == 1) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(second) : "memory");
#endif
}
