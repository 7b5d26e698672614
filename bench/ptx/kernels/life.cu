// Conway's game of life on a torus that one block holds.
// block: 32x32
// args: u8[1024] i32=5
// grid: 1
// race NO_READ_BARRIER: a cell is overwritten while its neighbours still count it
// race NO_WRITE_BARRIER: a neighbour is counted before its new state is stored
extern "C" __global__ void life(unsigned char *world, int generations) {
    __shared__ unsigned char cell[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    cell[y][x] = world[y * 32 + x]; // @NO_WRITE_BARRIER
    __syncthreads();
    for (int g = 0; g < generations; g++) {
        int alive = 0;
        for (int dy = 31; dy <= 33; dy++)
            for (int dx = 31; dx <= 33; dx++)
                if (dx != 32 || dy != 32) alive += cell[(y + dy) % 32][(x + dx) % 32]; // @NO_READ_BARRIER @NO_WRITE_BARRIER
        unsigned char next = alive == 3 || (alive == 2 && cell[y][x]);
#ifndef NO_READ_BARRIER
        __syncthreads();
#endif
        cell[y][x] = next; // @NO_READ_BARRIER @NO_WRITE_BARRIER
#ifndef NO_WRITE_BARRIER
        __syncthreads();
#endif
    }
    world[y * 32 + x] = cell[y][x];
}
