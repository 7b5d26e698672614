"""Makes an environment with another release of Triton, for the tests that run on it.

    python scripts/triton_environment.py 3.6

It is in `.venv/triton/3.6`, and has Triton alone: everything else comes from `.venv`, which this is run with. Which
package that is stands where everything about releases does, in `fencepost/hosts/triton/releases.py`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from fencepost.hosts.triton.releases import RELEASES, Release

FOLDER = Path(__file__).parents[1] / ".venv" / "triton"
MADE = "made"
"""The file that says which package is there, written last."""


def environment_of(release: Release) -> Path:
    """Where the environment of a release is, or would be."""
    return FOLDER / release.name


def is_made(release: Release) -> bool:
    """Whether it is there, with the package that the table has now."""
    made = environment_of(release) / MADE
    return made.is_file() and made.read_text(encoding="utf-8") == release.package


def make(release: Release) -> None:
    """Make it anew."""
    folder = environment_of(release)
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, symlinks=True)
    packages = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*install, "--target", packages, f"triton=={release.package}"], check=True)
    # Behind its own packages, so that its Triton is the one that is found.
    others = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (Path(packages) / "others.pth").write_text(others, encoding="utf-8")
    (folder / MADE).write_text(release.package, encoding="utf-8")


def main() -> int:
    """Make the environments that are asked for, unless they are there."""
    names = [release.name for release in RELEASES]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("release", nargs="*", help=f"by its first two numbers: {', '.join(names)}")
    parser.add_argument("--all", action="store_true", help="all but the newest, which is in .venv itself")
    options = parser.parse_args()
    for name in names[1:] if options.all else options.release:
        if name not in names:
            parser.error(f"no such release: {name} (there are {', '.join(names)})")
        release = RELEASES[names.index(name)]
        if not is_made(release):
            make(release)
    return 0


if __name__ == "__main__":
    sys.exit(main())
