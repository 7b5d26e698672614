// GPU: cuda:100
// GIVEN: %d: <ROWDESC>, %rows: tensor<64xi32, #rows>
// RIGHT: clean
// RACY: race WAR
%zero = arith.constant 0 : i32
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.async_tma_scatter %d[%rows, %zero] %m : <ROWDESC>, tensor<64xi32, #rows>, i32, <NTILE>
ttng.async_tma_store_wait {pendings = 0 : i32}                      //@ RIGHT
ttg.barrier local
ttg.local_store %x, %m : <TENSOR> -> <NTILE>
