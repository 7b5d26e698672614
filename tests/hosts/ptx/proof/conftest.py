"""How far the tests of the proof judge a kernel."""

from __future__ import annotations

import pytest

from tests.tiers import sweep


@pytest.fixture(params=sweep([False, True], first=1), ids=["proof alone", "with runs"])
def runs(request: pytest.FixtureRequest) -> bool:
    """Whether a kernel that stays undecided is run, too: runs would look for a race in it until their time is up."""
    return bool(request.param)
