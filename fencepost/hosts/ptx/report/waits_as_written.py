"""Counts of waits for copies and parities of waits for mbarriers, as the line of the wait writes them.

A fix is made from what the instructions say: `cp.async.wait_group 1` instead of 2, or a parity by the number of the
wait. What a user changes is `__pipeline_wait_prior(STAGES - 1)`, or `wait(&full[s], (i / SLOTS) & 1)`.
"""

from __future__ import annotations

import re

from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.reading.kernel_names import plain_text
from fencepost.hosts.ptx.report.quoted_places import span_of
from fencepost.hosts.ptx.verdicts import COUNTED, OTHER_PARITY, Finding

_WAIT = re.compile(r"cp\.async\.wait_group (\d+)")
_PRIOR = re.compile(r"([\w:]*wait_prior)\s*([<(])")
"""What CUDA calls that: `__pipeline_wait_prior(1)`, `cuda::pipeline_consumer_wait_prior<1>(pipe)`."""
_CALL = re.compile(r"([\w:]+(?:\[[^\]]*\])*(?:(?:\.|->)\w+)*)\s*\(")
_PARITY = re.compile(rf"{OTHER_PARITY}(: .*?): `[^`]*`, {COUNTED}")
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


def with_waits_as_written(judged: JudgedPtx, finding: Finding, text: str) -> str:
    """The waits for copies that a text names, as the line of the wait writes them; if there is none, as the API does
    that the copy is made with."""
    site = finding.first if finding.wait is None else finding.wait.site
    line = judged.quoted.line(span_of(judged, site).line)
    written = _PRIOR.search(line) if finding.wait is not None else None
    if written is not None:
        name, opening = written.groups()
        arguments = _arguments(line, written.end(), opening)
        count = _WAIT.search(site.instruction)
        now = int(count[1]) if count is not None else 0
        argument = arguments[0] if arguments and count is not None else str(now)
        said = _WAIT.search(text)
        text = _WAIT.sub(
            lambda match: f"{name}{opening}{lowered(argument, now, int(match[1]))}{_CLOSING[opening]}", text
        )
        if said is None or argument.isdigit():
            return text
        return text.replace(f"instead of {now}", f"instead of `{argument}` ({said[1]} instead of {now})")
    if "__pipeline_memcpy_async" in line:
        return _WAIT.sub(r"__pipeline_wait_prior(\1)", text)
    return text


def lowered(argument: str, now: int, count: int) -> str:
    """A count in the words of the argument that is `now` so much: `STAGES - 2` for 1 where `STAGES - 1` is 2."""
    less = now - count
    if argument.isdigit() or less < 0:
        return str(count)
    if not less:
        return argument
    ends = re.fullmatch(r"([\w:]+) - (\d+)", argument)
    if ends is not None:
        return f"{ends[1]} - {int(ends[2]) + less}"
    return f"{argument} - {less}" if re.fullmatch(r"[\w:]+", argument) else f"({argument}) - {less}"


def with_parities_as_written(judged: JudgedPtx, finding: Finding, text: str) -> str:
    """A fix with the parities that the lines of the waits have, where the other one is needed each time."""
    sites = iter(finding.in_fix or (finding.first, finding.second))

    def exchanged(match: re.Match[str]) -> str:
        site = next(sites, None)
        line = "" if site is None else judged.quoted.line(span_of(judged, site).line)
        parity = (
            parity_in(line, tuple(map(plain_text, finding.mbarriers or ())))
            if judged.quoted is not judged.ptx
            else None
        )
        if parity is None:
            return match[0]
        return f"{OTHER_PARITY}, `{flipped(parity)}` instead of `{parity}`{match[1]}"

    return _PARITY.sub(exchanged, text)


def parity_in(line: str, mbarriers: tuple[str, ...]) -> str | None:
    """The parity in a line that waits for one of some mbarriers: the argument behind the mbarrier; None if there is
    no such call, or more than one."""
    names = "|".join(re.escape(re.split(r"[\[.]", each.strip("`"))[0]) for each in mbarriers if each)
    found = set()
    for call in _CALL.finditer(line) if names else ():
        if "wait" not in call[1].lower():
            continue
        pieces = [call[1], *_arguments(line, call.end(), "(")]
        here = [at for at, piece in enumerate(pieces[:-1]) if re.search(rf"\b(?:{names})\b", piece)]
        if here:
            found.add(pieces[here[-1] + 1])
    return found.pop() if len(found) == 1 else None


def flipped(parity: str) -> str:
    """The other parity."""
    if parity in ("0", "1"):
        return "10"[int(parity)]
    inner = re.fullmatch(r"(.*\S)\s*\^\s*1u?", parity)
    if inner is not None:
        return _without_parentheses(inner[1])
    # A name in capitals may be a macro, of parts that bind less than `^`.
    return f"{parity} ^ 1" if re.fullmatch(r"\w+", parity) and not parity.isupper() else f"({parity}) ^ 1"


def _without_parentheses(text: str) -> str:
    """A text without the pair of parentheses that all of it is in."""
    inside = text[1:-1]
    whole = text.startswith("(") and _arguments(text, 1, "(") == [inside.strip()]
    return inside if whole else text


def _arguments(line: str, start: int, opening: str) -> list[str]:
    """The arguments of a call whose list opens before `start`; none if it does not close in this line."""
    found: list[str] = []
    depth, begin = 0, start
    # Of a template's list `<` and `>` are the ends, of all others they compare.
    closes = {_CLOSING[each] for each in "([{"} | {_CLOSING[opening]}
    for at in range(start, len(line)):
        here = line[at]
        if here in closes and depth == 0:
            last = line[begin:at].strip()
            return [*found, last] if last or found else []
        if here in "([{":
            depth += 1
        elif here in ")]}":
            depth -= 1
        elif here == "," and depth == 0:
            found.append(line[begin:at].strip())
            begin = at + 1
    return []
