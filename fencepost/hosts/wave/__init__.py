"""The Wave host: captured traces of the released package `wave-lang`, in place.

    import fencepost.hosts.wave

    fencepost.hosts.wave.install()      # from now on kernels get fencepost's barriers

A trace is read into a kernel of ours (`translate`), and what the kernel then lacks is put into the trace as Wave's
own operations (`write_back`), so that the rest of Wave's pipeline runs on. Nothing is written to Wave's nodes but
what they are made for. `versions` says which releases are accepted.
"""

from fencepost.hosts.wave.versions import require_wave

require_wave()

from fencepost.hosts.wave.audit import Audit, audit  # noqa: E402
from fencepost.hosts.wave.barrier_pass import add_shared_memory_barriers  # noqa: E402
from fencepost.hosts.wave.installation import Installation, install, installed, uninstall  # noqa: E402
from fencepost.hosts.wave.ping_pong import schedule_reordering  # noqa: E402
from fencepost.hosts.wave.replace_summary import Placed, Replaced  # noqa: E402
from fencepost.hosts.wave.translate import Translation, translate  # noqa: E402

__all__ = [
    "Audit",
    "Installation",
    "Placed",
    "Replaced",
    "Translation",
    "add_shared_memory_barriers",
    "audit",
    "install",
    "installed",
    "schedule_reordering",
    "translate",
    "uninstall",
]
