// Each store is a group of its own, and the older one is the one that has to be done.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// WEAK: race WAR
%zero = arith.constant 0 : i32
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
%o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <NTILE>
ttng.async_tma_copy_local_to_global %d[%zero, %zero] %m : <DESC>, <NTILE>
ttng.async_tma_copy_local_to_global %d[%zero, %zero] %o : <DESC>, <NTILE>
ttng.async_tma_store_wait {pendings = 1 : i32}                      //@ RIGHT
ttng.async_tma_store_wait {pendings = 2 : i32}                      //@ WEAK
ttg.barrier local
ttg.local_store %x, %m : <TENSOR> -> <NTILE>
