// Labels spread over a ring until nothing changes. The flag is a shared word that every thread reads at the end of a
// round, so that it must not be cleared for the next one before all have read it.
// block: 128
// args: i32[128]
// grid: 1
// race NO_LAST_BARRIER: the flag is cleared while some threads still read it
// race NO_MIDDLE_BARRIER: a label is stored while others read it
extern "C" __global__ void until_settled(int *labels) {
    __shared__ int s[128], changed;
    int t = threadIdx.x;
    s[t] = labels[t];
    while (true) {
        if (t == 0) changed = 0; // @NO_LAST_BARRIER
        __syncthreads();
        int least = min(s[t], s[(t + 1) & 127]); // @NO_MIDDLE_BARRIER
#ifndef NO_MIDDLE_BARRIER
        __syncthreads();
#endif
        if (least < s[t]) { // @NO_MIDDLE_BARRIER
            s[t] = least; // @NO_MIDDLE_BARRIER
            changed = 1; // @NO_LAST_BARRIER @NO_MIDDLE_BARRIER
        }
        __syncthreads();
        bool again = changed != 0; // @NO_LAST_BARRIER
#ifndef NO_LAST_BARRIER
        __syncthreads();
#endif
        if (!again) break;
    }
    labels[t] = s[t];
}
