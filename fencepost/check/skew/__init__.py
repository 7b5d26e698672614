"""Skewed waves, as `check` follows them: how far they are apart, and what each can rely on."""
