"""What stands for GPUVerify's annotations where a file is compiled: a header of macros.

Statements and contracts (`__assert`, `__invariant`, `__requires`, `__reads_from`, …) become nothing, with whatever
their parentheses hold: what is required is read from the text (`preconditions`), the rest is not read. Those that
compute something from their operands (`__implies`) compute it. What asks about accesses or about other threads
(`__read(p)`, `__other_int(x)`) has no meaning outside of an annotation, and no definition: the compiler names it.
"""

from __future__ import annotations

import re

ANNOTATIONS = "gpuverify.h"
"""The name that the header is included by."""
_IN_CODE = """
assume assert axiom ensures requires invariant candidate_assert candidate_invariant function_wide_invariant
function_wide_candidate_invariant barrier_invariant barrier_invariant_binary
reads_from reads_from_local reads_from_shared reads_from_global writes_to writes_to_local writes_to_shared
writes_to_global no_read no_write no_access non_temporal_loads_begin non_temporal_loads_end array_snapshot
"""
_WITH_NUMBER = r"barrier_invariant(?:_binary)?_\d+"
_MOST_NUMBERS = 24
"""How many operands the numbered forms are defined for, `__barrier_invariant_3(…)`."""
_COMPUTED = """
#define __implies(one, other) (!(one) || (other))
#define __iff(one, other) (!(one) == !(other))
#define __xor(one, other) (!(one) != !(other))
#define __ite(condition, one, other) ((condition) ? (one) : (other))
#define __ite_dv(condition, one, other) ((condition) ? (one) : (other))
#define __is_pow2(x) (((x) & ((x) - 1)) == 0)
#define __mod_pow2(x, y) ((x) & ((y) - 1))
#undef assert
#define assert(...) ((void)0)
"""
_COMPUTING = "implies iff xor ite ite_dv is_pow2 mod_pow2"
NAMES = re.compile(
    rf"__(?:(?:global_)?(?:{'|'.join(_IN_CODE.split())})|{'|'.join(_COMPUTING.split())}|{_WITH_NUMBER})"
)
"""The annotations, by which a file that does not include the header is known to need it."""


def annotations_header() -> str:
    """The text of the header."""
    numbered = [
        f"barrier_invariant{kind}_{each}" for kind in ("", "_binary") for each in range(1, _MOST_NUMBERS + 1)
    ]
    plain = [f"{scope}{name}" for scope in ("", "global_") for name in _IN_CODE.split()]
    nothing = "".join(f"#define __{name}(...) ((void)0)\n" for name in (*plain, *numbered))
    return f"#pragma once\n{nothing}{_COMPUTED.lstrip()}"
