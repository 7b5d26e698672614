"""`python -m fencepost`."""

from fencepost.cli import main

raise SystemExit(main())
