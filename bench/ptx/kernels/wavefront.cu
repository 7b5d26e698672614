// Edit distance along anti-diagonals: three rows that change places.
// block: 64
// args: i32[64] i32[256] i32[64] i32=256
// grid: 1
// race NO_BARRIER: a diagonal is read before its neighbours are done with the one before
extern "C" __global__ void wavefront(const int *a, const int *b, int *best, int n) {
    __shared__ int lines[3][65];
    int t = threadIdx.x, found = 0, mine = a[t];
    int *older = lines[0], *old = lines[1], *now = lines[2];
    for (int k = 0; k < 3; k++) lines[k][t + 1] = 0;
    if (t == 0) lines[0][0] = lines[1][0] = lines[2][0] = 0;
    __syncthreads();
    for (int d = 0; d < n + 63; d++) {
        int j = d - t;
        if (j >= 0 && j < n) {
            int score = max(older[t] + (mine == b[j] ? 2 : -1), max(old[t] - 1, old[t + 1] - 1)); // @NO_BARRIER
            now[t + 1] = max(score, 0); // @NO_BARRIER
            found = max(found, score);
        }
#ifndef NO_BARRIER
        __syncthreads();
#endif
        int *last = older;
        older = old;
        old = now;
        now = last;
    }
    best[t] = found;
}
