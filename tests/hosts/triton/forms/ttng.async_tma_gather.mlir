// Every warp issues some of the rows.
// GPU: cuda:100
// GIVEN: %d: <ROWDESC>, %rows: tensor<64xi32, #rows>
// RIGHT: clean
// UNWAITED: race RAW, race WAW
// UNMET: race RAW
%zero = arith.constant 0 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.init_barrier %bar, 1 : <OBJECT>
ttng.async_tma_gather %d[%rows, %zero] %m, %bar, %yes : <ROWDESC>, tensor<64xi32, #rows>, i32, <OBJECT>, <NTILE>, i1  //@ UNMET
ttng.barrier_expect %bar, 8192, %yes : <OBJECT>
ttng.async_tma_gather %d[%rows, %zero] %m, %bar, %yes : <ROWDESC>, tensor<64xi32, #rows>, i32, <OBJECT>, <NTILE>, i1  //@ RIGHT, UNWAITED
ttng.wait_barrier %bar, %zero : <OBJECT>                                                              //@ RIGHT, UNMET
%y = ttg.local_load %m : <NTILE> -> <TENSOR>
ttg.barrier local
ttng.inval_barrier %bar : <OBJECT>
