// Shortest paths inside of a tile: each step needs the row and the column of the step before.
// block: 16x16
// args: i32[256]
// grid: 1
// race NO_STEP_BARRIER: a step reads distances that the step before is still storing
// race NO_READ_BARRIER: a distance is stored while others still read the old one
extern "C" __global__ void floyd_warshall(int *distance) {
    __shared__ int d[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    d[y][x] = distance[y * 16 + x]; // @NO_STEP_BARRIER
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        int through = d[y][k] + d[k][x], old = d[y][x]; // @NO_STEP_BARRIER @NO_READ_BARRIER
#ifndef NO_READ_BARRIER
        __syncthreads();
#endif
        d[y][x] = min(old, through); // @NO_STEP_BARRIER @NO_READ_BARRIER
#ifndef NO_STEP_BARRIER
        __syncthreads();
#endif
    }
    distance[y * 16 + x] = d[y][x];
}
