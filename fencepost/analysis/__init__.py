"""Which accesses must be ordered: classes of accesses, what is pending where, hazards and their windows.

The model: an access stays *pending* until a barrier is passed. An operation that conflicts with something
pending is a hazard, and its window is every path from the one to the other. All strategies in `placement`
start from this one analysis. What is not known is a conflict: a slot that depends on a loop variable stands for
every slot, a branch can go either way, a loop of unknown length can run zero times or many.

The slots of a ring are distinguished by looking at a loop's body several times (`block_instances`), as often as what
its variable decides takes to repeat (`slot_periods`).

Invariant: if `pending.conflicts_left` is empty for a placement, the kernel with these barriers has no race.
"""
