"""What hosts have in common: modes, one installation at a time, audits, accepted releases.

A host adds a reader of its compiler's kernels (`translate`), a table of what its operations do, and a writer
(`write_back`). It decides nothing: barriers are chosen by `passes`, verdicts are those of `check`.
"""
