// The engine reads the tile until its group was waited for; the other waves have to meet those that did.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// UNWAITED: race WAR
// ALONE: race WAR
%zero = arith.constant 0 : i32
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.async_tma_copy_local_to_global %d[%zero, %zero] %m : <DESC>, <NTILE>
ttng.async_tma_store_wait {pendings = 0 : i32}                      //@ RIGHT, ALONE
ttg.barrier local                                                   //@ RIGHT, UNWAITED
ttg.local_store %x, %m : <TENSOR> -> <NTILE>
