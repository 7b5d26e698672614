"""Races in global memory, as findings of a verdict that is otherwise about shared memory."""

from __future__ import annotations

from dataclasses import replace

from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.launches.thread_names import two_accesses
from fencepost.hosts.ptx.proof.global_memory import kind_of
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.proof.kernel_and_launch import KernelAndLaunch
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import Instruction
from fencepost.hosts.ptx.runs.certain_global_races import GlobalRace, certain_races
from fencepost.hosts.ptx.runs.possible_global_races import races_of_some_launch
from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict, Thread

MOST_FINDINGS = 20
Block = tuple[int, int, int]


def add_global_races(verdict: KernelVerdict, evaluator: Evaluator, block: Block) -> KernelVerdict:
    """The verdict with the races of global memory that happen with every launch of this block."""
    found = [_finding(evaluator.flow, block, each) for each in certain_races(evaluator, block)]
    if not found:
        return verdict
    return _with(verdict, found)


def _with(verdict: KernelVerdict, found: list[Finding]) -> KernelVerdict:
    found.sort(key=lambda each: each.first.ptx_line)
    findings = (*verdict.findings, *found)[:MOST_FINDINGS]
    return replace(verdict, verdict="race", findings=findings, reasons=())


def add_races_of_runs(verdict: KernelVerdict, case: KernelAndLaunch) -> KernelVerdict:
    """The verdict with the races of global memory that some launch has, as runs show them."""
    races, chosen = races_of_some_launch(case)
    block = case.launch.block
    if not races or block is None:
        return verdict
    names = tuple(name for name in chosen if name not in case.launch.parameters)
    found = [_finding(case.flow, block, each) for each in races]
    shown = [replace(each, values={**each.values, **chosen}, chosen=names) for each in found]
    return _with(verdict, shown)


def _finding(flow: Flow, block: Block, race: GlobalRace) -> Finding:
    if race.blocks is not None:
        return _of_blocks(flow, block, race, race.blocks)
    first, second = (_at(flow, each) for each in race.places)
    one, two = (_thread(block, each) for each in race.threads)
    doing = [_doing(each) for each in (first, second)]
    message = (
        f"{two_accesses((one, two), doing, block)} the same bytes of global memory, "
        f"counted from {race.base}, with no barrier between them"
    ) + (" (both threads are in one warp)" if race.in_one_warp else "")
    fix = "let one thread store, or use an atomic"
    if race.places[0] != race.places[1]:
        barrier = "__syncwarp()" if race.in_one_warp else "__syncthreads()"
        fix = f"put {barrier} between {first.site} and {second.site}"
    values = dict(zip(("block.x", "block.y", "block.z"), block, strict=True))
    found = Finding("FP001", "error", message, first.site, second.site, (one, two), None, values, fix)
    return replace(found, in_one_warp=race.in_one_warp)


def _of_blocks(flow: Flow, block: Block, race: GlobalRace, blocks: tuple[Block, Block]) -> Finding:
    first, second = (_at(flow, each) for each in race.places)
    one, two = (_thread(block, each) for each in race.threads)
    message = (
        f"thread {one} of block {blocks[0]} {_doing(first)} and thread {two} of block {blocks[1]} "
        f"{_doing(second)} the same bytes of global memory, counted from {race.base}: nothing orders blocks"
    )
    values = dict(zip(("block.x", "block.y", "block.z"), block, strict=True))
    fix = "give each block bytes of its own, use an atomic, or launch another kernel"
    return Finding("FP001", "error", message, first.site, second.site, (one, two), None, values, fix)


def _doing(instruction: Instruction) -> str:
    """What an access does, in words."""
    return "updates" if instruction.name in ("atom", "red") else f"{kind_of(instruction) or 'read'}s"


def _at(flow: Flow, place: Place) -> Instruction:
    return flow.blocks[place.block].instructions[place.index]


def _thread(block: Block, number: int) -> Thread:
    return number % block[0], number // block[0] % block[1], number // (block[0] * block[1])
