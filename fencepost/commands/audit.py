"""`fencepost audit`: judge every kernel of a cache or a folder, on all processors."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from fencepost.commands.files import STDIN, read_source
from fencepost.commands.output import print_json, say
from fencepost.ir.source import FencepostError
from fencepost.option_fields import positive

if TYPE_CHECKING:
    from fencepost.audit import Entry, Record, Records, Summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="a Triton cache (such as ~/.triton/cache), or files and folders of .ttgir, .ttir, .mlir, .fp, .cu, .ptx "
        "(- is standard input)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="keep what is found there, a JSON object to a line; an audit that was interrupted goes on from it",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="judge everything again, whatever is kept in the output file"
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=positive,
        metavar="N",
        help="how many to judge at the same time (default: as many as there are processors)",
    )
    parser.add_argument(
        "--timeout",
        type=positive,
        default=120,
        metavar="S",
        help="seconds that one entry may take; then it is not judged (default: %(default)s)",
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="judge on the dask cluster of this scheduler instead of on this machine",
    )
    parser.add_argument(
        "--require-proof",
        action="store_true",
        help="exit 1 as well if something was not judged, or not everything was looked at",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing unless something is wrong")


def run(options: argparse.Namespace) -> int:
    """Judge what there is; 1 if something is wrong."""
    from fencepost.audit import Entry, Records, Summary, entries_of
    from fencepost.audit.resume import left_to_do

    if options.fresh and not options.output:
        raise FencepostError("--fresh is for what -o keeps: name that file", code="FP112")
    if options.dask and options.jobs:
        raise FencepostError("-j is for this machine; how much a cluster does, its workers say", code="FP112")
    entries = entries_of(each for each in options.paths if each != STDIN)
    if STDIN in options.paths:
        source = read_source(STDIN)
        entries.append(Entry(source.name, text=source.text))
    records = Records.at(options.output, fresh=options.fresh) if options.output else None
    summary = Summary()
    if records is not None:
        entries, done = left_to_do(entries, records.known)
        for record in done:
            summary.add(record)
        if done and not options.quiet:
            say(f"{options.output}: {len(done)} of {len(done) + len(entries)} were judged already")
    try:
        _judge(entries, options, records, summary)
    finally:
        if records is not None:
            records.close()
    return _told(summary, options)


def _judge(
    entries: list[Entry], options: argparse.Namespace, records: Records | None, summary: Summary
) -> None:
    with closing(_judged(entries, options)) as found:
        for record in _with_progress(found, len(entries), options):
            if records is not None:
                records.add(record)
            summary.add(record)


def _judged(entries: list[Entry], options: argparse.Namespace) -> Generator[Record]:
    if options.dask:
        from fencepost.audit.on_dask import judged_on_dask

        yield from judged_on_dask(options.dask, entries, options.timeout)
    elif entries:
        from fencepost.audit.local import judged_here

        yield from judged_here(entries, options.jobs or os.cpu_count() or 1, options.timeout)


def _with_progress(found: Iterator[Record], total: int, options: argparse.Namespace) -> Iterator[Record]:
    """The records, with a bar on a terminal."""
    if options.quiet or not sys.stderr.isatty():
        yield from found
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(found, "audit", total=total, console=Console(stderr=True), transient=True)


def _told(summary: Summary, options: argparse.Namespace) -> int:
    wrong = bool(summary.wrong)
    unproven = bool(summary.reasons or summary.not_proven)
    code = 1 if wrong or (options.require_proof and unproven) else 0
    if options.json:
        print_json(summary.as_json())
    elif code or not options.quiet:
        print("\n".join(summary.lines()))
    return code
