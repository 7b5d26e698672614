"""How the server ends when an editor asks it to: quietly, and with 0."""

from __future__ import annotations

import json
import subprocess
import sys


def _message(**content: object) -> bytes:
    text = json.dumps({"jsonrpc": "2.0", **content}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(text), text)


def test_shutdown_and_exit() -> None:
    """The library closes standard output; nothing may be written to it behind that."""
    asked: dict[str, object] = {"processId": None, "rootUri": None, "capabilities": {}}
    said = [
        _message(id=1, method="initialize", params=asked),
        _message(method="initialized", params={}),
        _message(id=2, method="shutdown"),
        _message(method="exit"),
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "fencepost.cli", "lsp"],
        input=b"".join(said),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b'"id": 2' in ran.stdout or b'"id":2' in ran.stdout
