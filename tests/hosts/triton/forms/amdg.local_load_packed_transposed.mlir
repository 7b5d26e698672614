// GPU: hip:gfx950
// RIGHT: clean
// RACY: race RAW
%v = arith.constant dense<0> : tensor<16x64xi8, #b>
%m = ttg.local_alloc %v {allocation.offset = 0 : i32} : (tensor<16x64xi8, #b>) -> !ttg.memdesc<16x64xi8, #o, #smem, mutable>
ttg.barrier local                                                   //@ RIGHT
%y = amdg.local_load_packed_transposed %m : !ttg.memdesc<16x64xi8, #o, #smem, mutable> -> tensor<32x32xi8, #ttg.dot_op<{opIdx = 0, parent = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [16, 16, 128], isTransposed = true}>, kWidth = 16}>>
