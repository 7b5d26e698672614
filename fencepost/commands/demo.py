"""`fencepost demo`: the whole story on the bundled kernels."""

from __future__ import annotations
import argparse

SUMMARY = "the whole story on the bundled kernels"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """x"""


def run(options: argparse.Namespace) -> int:
    """x"""
    return 0
