# The count is the largest that is safe: with one more, the last copy that is read is still in flight.
# RUN: fencepost check %s
# EXIT: 1
kernel @pipeline waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 16384
  tensor_load_to_lds %a[0]
  tensor_load_to_lds %b[0]
  tensor_load_to_lds %a[1]
  tensor_load_to_lds %b[1]
  loop %i in 0..62 {
    barrier tensor=3
    tensor_load_to_lds %a[(%i + 2) % 3]
    tensor_load_to_lds %b[(%i + 2) % 3]
    %x = read %a[%i % 3]
    %y = read %b[%i % 3]
    mma %x, %y
  }
}
# CHECK: error[FP001]: wave 0 can read %b[%i % 3] while its own copy into it is under way
# CHECK: = why: `barrier tensor=3` lets the 3 newest copies stay in flight; the copy read here is the 3rd newest
