"""Blocks that are run, so that a race is one that happens; which launches, and what a run has shown."""
