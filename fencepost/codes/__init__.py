"""Every code that fencepost prints (FP001, FP207, ...), explained: one page each, in `pages/`.

A page says what the code means, why it matters and what to do, and has an example that is wrong and the same one put
right. `fencepost explain FP207` shows it, docs/codes.md is made from all of them, and the tests run the examples:
the wrong one gives exactly its code, the right one does not.
"""

from __future__ import annotations

from fencepost.codes.lookup import known_codes, looks_like_a_code, page_of
from fencepost.codes.page import CodePage, Example

__all__ = ["CodePage", "Example", "known_codes", "looks_like_a_code", "page_of"]
