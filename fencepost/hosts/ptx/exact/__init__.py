"""One run of one block that decides for every schedule: barriers with numbers, mbarriers, bulk copies, wgmma.

The run follows control flow and shared addresses exactly, as long as neither depends on loaded data or on timing.
Each thread, each copy and each matrix instruction in flight has a clock, and every barrier, mbarrier and wait
passes clocks on. Two accesses to one byte that the clocks do not order race, in some schedule of this launch.

That no other schedule differs rests on three things that the run checks. An arrival is made by a thread that knows
that all earlier phases are complete, so that it counts for the same phase in every schedule. The bytes expected in
a phase are the bytes that copies bring, each announced before the last arrival, so that a phase completes in every
schedule after the same events. A wait for a parity is over before the phase after the next completes, so that it
cannot miss its phase. Then every schedule has the same events with the same order between them, a thread reads the
same values, and takes the same path. A verdict holds for the launch that was run: the block, and the parameters
that control flow and shared addresses depend on.
"""
