"""`fencepost completion`: the script that makes a shell complete commands and options."""

from __future__ import annotations

import argparse
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "shell", choices=["bash", "zsh", "fish"], help='for bash: eval "$(fencepost completion bash)"'
    )


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from argcomplete.shell_integration import shellcode

    sys.stdout.write(shellcode(["fencepost"], shell=options.shell))
    return 0
