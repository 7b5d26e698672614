// Persistent blocks: thread 0 takes the next item, all threads work on it.
// block: 128
// args: i32[1]:zero f32[8192] i32=64
// grid: 4
// race NO_BARRIER: the item is read before it is stored
// race NO_LOOP_BARRIER: the next item is stored while others have yet to read this one
extern "C" __global__ void work_queue(int *next, float *data, int items) {
    __shared__ int item;
    for (;;) {
#ifndef NO_LOOP_BARRIER
        __syncthreads();
#endif
        if (threadIdx.x == 0) item = atomicAdd(next, 1); // @NO_BARRIER @NO_LOOP_BARRIER
#ifndef NO_BARRIER
        __syncthreads();
#endif
        int mine = item; // @NO_BARRIER @NO_LOOP_BARRIER
        if (mine >= items) return;
        data[mine * 128 + threadIdx.x] *= 2.0f;
    }
}
