"""The placement of least cost, with a proof, or with how far from it the result can be.

Cost is how often barriers run, with waits weighed in; then the latency that they expose; then how many there are
(`costs`). What has to hold is written as constraints of literals (`covering_problem` says what these are and makes
them): every path from an access to one that must not overtake it (`open_paths`) passes a barrier, and a wait before
that where it is a copy. There are far too many paths to write all down, so constraints are made on demand, for paths
that are still open.

1. `dual_ascent`: a constraint for each path that is open, each paying at once what it can. That is a lower bound, and
   exact on straight lines and most small kernels: if a strategy's placement costs no more, it is the optimum.
2. `search`: else the cheapest choice for the constraints so far is found, in parts that have nothing to do with each
   other and after leaving out what other constraints or literals imply, by branch and bound (both in `set_cover`) or
   by integer programming (`highs`). If it leaves paths open, constraints for them are added, and again. A solution
   of fewer constraints never costs more than that of all of them, so it is a lower bound at any time; once nothing is
   open it is the optimum.

If time runs out, or scipy is not there, the cheapest placement known is returned with the gap that is left.
"""

from fencepost.placement.optimal.search import Optimal, Optimum, find_optimum

__all__ = ["Optimal", "Optimum", "find_optimum"]
