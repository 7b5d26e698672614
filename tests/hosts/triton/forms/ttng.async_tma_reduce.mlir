// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// RACY: race WAR
%zero = arith.constant 0 : i32
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.async_tma_reduce add, %d[%zero, %zero] %m : <DESC>, <NTILE>
ttng.async_tma_store_wait {pendings = 0 : i32}                      //@ RIGHT
ttg.barrier local
ttg.local_store %x, %m : <TENSOR> -> <NTILE>
