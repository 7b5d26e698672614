"""Boxes of tensor maps that a kernel is given: worked out from the bytes of each phase, and from where copies go."""

from __future__ import annotations

from collections.abc import Mapping


def boxes_that_fit(
    brought: Mapping[tuple[int, int], list[tuple[object, int, int]]], expected: Mapping[tuple[int, int], int]
) -> dict[object, int] | None:
    """The boxes of tensor maps, from what each phase expects and where its copies go; None if nothing fits."""
    phases = _with_unknown_boxes(brought, expected)
    maps = sorted({each for unknown, _ in phases for each in unknown}, key=str)
    starts = sorted({to for copies in brought.values() for _, to, _ in copies})
    room = {each: _room(each, brought, starts) for each in maps}
    for rest in [None, *maps]:
        boxes = {each: room[each] for each in maps if each != rest}
        if rest is not None and not _remainder(boxes, rest, phases):
            continue
        if all(0 < boxes[each] <= room[each] for each in maps) and _fits(boxes, phases):
            return boxes
    alike = {each: total // len(unknown) for unknown, total in phases for each in unknown}
    return alike if _fits(alike, phases) and all(alike[each] <= room[each] for each in maps) else None


def _with_unknown_boxes(
    brought: Mapping[tuple[int, int], list[tuple[object, int, int]]], expected: Mapping[tuple[int, int], int]
) -> list[tuple[list[object], int]]:
    """For each phase with such copies: the tensor maps whose boxes are not known, and how many bytes they bring."""
    phases = []
    for key, copies in brought.items():
        unknown = [tensor_map for tensor_map, _, size in copies if not size]
        if unknown:
            phases.append((unknown, expected.get(key, 0) - sum(size for _, _, size in copies)))
    return phases


def _room(
    tensor_map: object, brought: Mapping[tuple[int, int], list[tuple[object, int, int]]], starts: list[int]
) -> int:
    """How far it is from where a map's copies go to where the next copy goes."""
    gaps = [
        min((each for each in starts if each > to), default=to + (1 << 20)) - to
        for copies in brought.values()
        for key, to, _ in copies
        if key == tensor_map
    ]
    return min(gaps)


def _remainder(boxes: dict[object, int], rest: object, phases: list[tuple[list[object], int]]) -> bool:
    """Gives one map what is left in the first phase that has it."""
    for unknown, total in phases:
        times = unknown.count(rest)
        if times:
            left = total - sum(boxes[each] for each in unknown if each != rest)
            boxes[rest] = left // times
            return left > 0 and left % times == 0
    return False


def _fits(boxes: dict[object, int], phases: list[tuple[list[object], int]]) -> bool:
    return all(sum(boxes[each] for each in unknown) == total for unknown, total in phases)
