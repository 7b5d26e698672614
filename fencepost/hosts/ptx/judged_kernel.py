"""A kernel in PTX together with its verdict and the texts that messages about it quote."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fencepost.hosts.ptx.reading.kernel_names import plain_name
from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict
from fencepost.ir.source import Source
from fencepost.report.allow_comments import Allow


@dataclass(frozen=True)
class JudgedPtx:
    """A kernel in PTX, and what was found in it."""

    file: str
    """The file as the user named it."""
    verdict: KernelVerdict
    ptx: Source
    cuda: Source | None = None
    """The CUDA file that the PTX was compiled from here."""
    parameters: tuple[str, ...] = ()
    """What CUDA calls the parameters."""
    silenced: tuple[tuple[Allow, tuple[Finding, ...]], ...] = ()
    """Comments that allow findings, and what they allow."""
    as_ptx: bool = False
    """Whether PTX is quoted as it is, whatever its line tables name."""

    @property
    def name(self) -> str:
        """The kernel's name as people write it."""
        return plain_name(self.verdict.kernel)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that are more than warnings."""
        return tuple(each for each in self.verdict.findings if each.severity == "error")

    @property
    def proven(self) -> bool:
        """Whether there is nothing to find, for certain."""
        return self.verdict.verdict == "proven" and not self.verdict.findings and not self.silenced

    @cached_property
    def quoted(self) -> Source:
        """The text that messages quote: the CUDA file, or the header that everything found is in.

        If line tables name neither, or nothing that can be read, it is the PTX.
        """
        allowed = [each for _, found in self.silenced for each in found]
        sites = [site for each in (*self.verdict.findings, *allowed) for site in (each.first, each.second)]
        files = {site.source_file for site in sites}
        name = files.pop() if len(files) == 1 else None
        if self.cuda is not None and (
            name is None
            or Path(name).name == Path(self.cuda.name).name
            or any(site.inlined_at for site in sites)
        ):
            return self.cuda
        if self.as_ptx:
            return self.ptx
        text = _read(name) if name else None
        if name is not None and text is not None:
            return Source(name, text)
        return self.cuda or self.ptx


def _read(name: str) -> str | None:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
