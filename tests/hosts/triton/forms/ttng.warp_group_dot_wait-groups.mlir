// Two warp groups: a wait ends in a barrier of both, unless it is marked as one of a warp group alone.
// GPU: cuda:90
// WARPS: 8
// RIGHT: clean
// RACY: race WAR
%acc = arith.constant dense<0.0> : tensor<128x64xf32, #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>>
%a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<128x64xf16, #n, #smem, mutable>
%b = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <NTILE>
%e = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<128x64xf16, #n, #smem, mutable> * <NTILE> -> tensor<128x64xf32, #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>>
%w = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : tensor<128x64xf32, #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>>                  //@ RIGHT
%w = ttng.warp_group_dot_wait %e {pendings = 0 : i32, warpGroupLocal} : tensor<128x64xf32, #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>>  //@ RACY
ttg.local_store %x, %b : <TENSOR> -> <NTILE>
