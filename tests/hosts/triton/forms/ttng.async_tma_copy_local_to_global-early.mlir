// The tile has to be there when the engine begins to read it.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// RACY: race RAW
%zero = arith.constant 0 : i32
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttg.local_store %x, %m : <TENSOR> -> <NTILE>
ttng.fence_async_shared {bCluster = false}
ttg.barrier local                                                   //@ RIGHT
ttng.async_tma_copy_local_to_global %d[%zero, %zero] %m : <DESC>, <NTILE>
ttng.async_tma_store_wait {pendings = 0 : i32}
