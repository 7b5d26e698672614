// Sums commute; a sum and a maximum do not.
// RIGHT: clean
// ORDERED: clean
// RACY: race RAW
%bins = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <BINS>
%where = tt.make_range {end = 64 : i32, start = 0 : i32} : <LINE>
%one = ttg.local_atomic_scatter_rmw add, %bins[%where], %where {axis = 0 : i32} : (<BINS>, <LINE>, <LINE>) -> <LINE>
ttg.barrier local                                                   //@ ORDERED
%two = ttg.local_atomic_scatter_rmw add, %bins[%where], %where {axis = 0 : i32} : (<BINS>, <LINE>, <LINE>) -> <LINE>  //@ RIGHT
%two = ttg.local_atomic_scatter_rmw max, %bins[%where], %where {axis = 0 : i32} : (<BINS>, <LINE>, <LINE>) -> <LINE>  //@ RACY, ORDERED
