"""Chosen positions become operations of the target.

An emitter takes a placement and puts operations into the kernel; it decides nothing. After it,
`verify_barriers` looks at the structure of what came out, since a barrier that not every wave meets
hangs the GPU.
"""

from fencepost.emit.legacy_emitter import LegacyBarrierEmitter
from fencepost.emit.split_emitter import BasicSplitBarrierEmitter
from fencepost.emit.write import verify_barriers, verify_places

__all__ = ["BasicSplitBarrierEmitter", "LegacyBarrierEmitter", "verify_barriers", "verify_places"]
