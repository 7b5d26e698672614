"""Lowers a module with Triton's passes up to membar, and membar; `lowering` runs this file as a script.

One JSON object in (`text`, and `blank`, the same without locations; `folder`, which the caller clears away), one out:
both in generic form, or why not.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from importlib import import_module
from pathlib import Path

from fencepost.hosts.triton.compile_here import lower, new_context
from fencepost.hosts.triton.generic import generic_form
from fencepost.hosts.triton.membar import membar_at
from fencepost.hosts.triton.parsing_worker import die_with_parent
from fencepost.hosts.triton.scratch_sizes import with_sizes


def main() -> None:
    """Answer the request on standard input."""
    die_with_parent()
    request = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Whatever the passes print goes to standard error: the answer must stay alone.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    path = Path(request["folder"]) / "module.mlir"
    try:
        found = {
            form: _lowered(path, request[text]) for form, text in (("generic", "text"), ("blank", "blank"))
        }
        print(json.dumps({"path": str(path), **found}), file=answer)
    except Exception as error:
        reason = str(error).strip().rpartition("\n")[2] or type(error).__name__
        print(json.dumps({"failed": reason}), file=answer)
    answer.flush()


def _lowered(path: Path, text: str) -> str:
    """A module behind membar, in generic form."""
    path.write_text(text, encoding="utf-8")
    context = new_context()
    module = import_module("triton._C.libtriton").ir.parse_mlir_module(str(path), context)
    stopped = lower(module, context, {})
    return with_sizes(membar_at(stopped, generic_form(stopped.module, context)).after)


if __name__ == "__main__":
    main()
