"""A file from Triton's cache as it gets compiled: lowered by Triton itself, with the barriers that membar puts in.

A cached `.ttgir` is what Triton's optimizer made. Memory has no addresses yet, control flow is in regions, and membar
has not run: hazards in it are as a rule not races of the kernel that runs. So Triton's own passes up to membar, and
membar, are run on it, in a process of its own (`lowering_worker`). That is done twice, with the locations of the file
and without: the first names lines of the Python kernel, the second those of the file.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.module_files import module_of
from fencepost.hosts.triton.parsing_process import Parsed
from fencepost.hosts.triton.strip_locations import without_locations
from fencepost.hosts.triton.unparsable_layouts import repaired
from fencepost.hosts.triton.versions import require_triton
from fencepost.hosts.triton.worker_process import ask_worker
from fencepost.ir.source import FencepostError, Source

SECONDS = 120
"""How long the passes may take."""


def is_before_membar(module: Module) -> bool:
    """Whether a module is one that membar has not seen: memory has no addresses yet. It may have barriers."""
    attributes = module.operation
    return (
        attributes.string("ttg.target") is not None
        and attributes.integer("ttg.num-warps") is not None
        and attributes.integer("ttg.shared") is None
    )


def lowered(source: Source) -> Module:
    """The module of a file behind membar; operations know their lines in the file as far as they come from one."""
    require_triton()
    text = repaired(source.text)
    reply = _ask({"text": text.text, "blank": without_locations(text.text)})
    if "failed" in reply:
        raise FencepostError(f"Triton could not lower it: {reply['failed']}", code="FP413", source=source)
    return module_of(Parsed(source, text, reply["path"], reply["generic"], reply["blank"], "", ""))


def _ask(request: dict[str, str]) -> dict[str, Any]:
    script = Path(__file__).with_name("lowering_worker.py")
    try:
        done = ask_worker(script, request, SECONDS)
    except TimeoutError:
        return {"failed": f"it did not finish within {SECONDS} s"}
    if done.code < 0:
        return {"failed": f"its passes crashed ({signal.Signals(-done.code).name})"}
    if not done.out:
        return {"failed": done.err.strip().rpartition("\n")[2] or "it does not say why"}
    reply: dict[str, Any] = json.loads(done.out)
    return reply
