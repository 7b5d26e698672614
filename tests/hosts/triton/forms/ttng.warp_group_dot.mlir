// The matrix unit reads both tiles until it was waited for.
// GPU: cuda:90
// RIGHT: clean
// UNWAITED: race WAR
// ALONE: race WAR
%acc = arith.constant dense<0.0> : <ACC>
%a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
%b = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <NTILE>
%e = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32, isAsync = true} : <NTILE> * <NTILE> -> <ACC>
%w = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : <ACC>       //@ RIGHT, ALONE
ttg.barrier local                                                   //@ RIGHT, UNWAITED
ttg.local_store %x, %b : <TENSOR> -> <NTILE>
