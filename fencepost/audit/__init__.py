"""Audits: every kernel below some folders, or of a Triton cache, judged as it gets compiled.

`entries` finds what there is, `judge` looks at one of them, `worker` does that in a process of its own, `local` has
such processes on this machine and `on_dask` on others, `records` keeps what was found in a file so that an audit can
go on where it was interrupted, and `summary` counts it.
"""

from fencepost.audit.entries import Entry, entries_of
from fencepost.audit.records import Record, Records
from fencepost.audit.summary import Summary

__all__ = ["Entry", "Record", "Records", "Summary", "entries_of"]
