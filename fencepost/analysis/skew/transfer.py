"""What is pending between groups of waves that are skewed.

Let x be an access in group g and y one in group h, later in the program. A rendezvous orders them if x is complete
before g arrives at it and h has passed it before y. Say that where y stands, h has passed `lead` rendezvous more than
g at the same place of the program: 0 within a group; in a ping-pong loop 1 if h is the group that was delayed,
and -1 if g is. Then, counted in rendezvous that g meets:

* once x is complete, g's next rendezvous makes it visible to everyone. It is one ahead (*stage* 1); each rendezvous
  that g meets brings it one nearer, to stage 0, -1, ... x is ordered before y if its stage is no more than the lead.
  So within a group one rendezvous has to follow, from late to early two, from early to late none;
* as long as x is not complete, it is not ordered before y if the lead is 0 or less. With a lead of n >= 1 it is, if
  it is complete in time: before g meets its n-th rendezvous behind y. Until then it is *owed*. If a rendezvous
  without a fence comes first, that is where a fence is missing.

So every set of pending bits is there once for each ordered pair of groups (a *relation*) and stage; a bit that has
reached a stage that no lead is less than is ordered for good and goes. One more relation is a wave's own: what it has
not completed itself must not be overtaken by its own engine.

What is in flight is on its relations as well. A wait that completes it takes it to stage 1. Before that, it conflicts
whatever the lead is; for a lead of 1 and more that asks for the wait a little earlier than necessary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fencepost.analysis.access_class import AccessClass, ClassTable, all_ages, width
from fencepost.analysis.conflicts import Filter, can_overlap, made_before_arrivals, pairs_that_matter
from fencepost.analysis.skew.groups import Groups
from fencepost.analysis.transfer import Sync, Turn, WavesApart

OWN = 0
"""The layer of a wave's own unfinished accesses."""


@dataclass(slots=True)
class Skewed:
    """The layers of bits of a kernel whose waves are skewed, and how bits move between them.

    A layer is as wide as all classes. They are: a wave's own; then for each stage (unfinished; 1, 0, -1, ...; owed
    after n-1, ..., 1, 0 more rendezvous; overdue) one for each relation, so that moving on a stage is one shift.
    """

    groups: Groups
    width: int
    """Bits of a layer."""
    relations: tuple[tuple[int, int], ...]
    least: tuple[int, ...]
    """For each relation, its least lead: an access at this stage is ordered for good."""
    lowest: int
    """The lowest stage that is distinguished."""
    most_owed: int
    """The greatest lead."""
    conflicts: list[list[int]] = field(default_factory=list)
    """For each relation, then the wave's own: for each class, the bits of completed or unfinished accesses."""
    in_flight: list[list[int]] = field(default_factory=list)
    """The same for bits in flight."""
    asked: list[int] = field(default_factory=list)
    """For each relation and own: bits that anything conflicts with. The others need not be followed."""
    count: int = field(init=False)
    """How many relations there are."""
    layers: int = field(init=False)
    stride: int = field(init=False)
    """Places from one stage to the next."""
    copies: int = field(init=False)
    """Times this, bits are there on every layer."""
    everything: int = field(init=False)
    """All bits of a layer."""
    open_layers: list[int] = field(init=False)
    """Times this, for each group: bits are there on its layers of unfinished and owed ones."""
    fence: int = field(init=False)
    """Everything that is complete behind a fence."""
    masks: dict[frozenset[int] | None, tuple[int, int]] = field(default_factory=dict)
    """For sets of groups that meet: the bits that move on, and where there is something to move to."""

    def __post_init__(self) -> None:
        self.count = len(self.relations)
        self.layers = 1 + self.count * (1 + (2 - self.lowest) + self.most_owed + 1)
        self.stride = self.count * self.width
        self.copies = sum(1 << layer * self.width for layer in range(self.layers))
        self.everything = (1 << self.width) - 1
        self.open_layers = [0] * len(self.groups.masks)
        for relation, (one, _) in enumerate(self.relations):
            self.open_layers[one] |= self.on(self.unfinished(relation), 1)
            for after in range(-1, self.most_owed):
                self.open_layers[one] |= self.on(self.owed(relation, after), 1)
        self.fence = self.completing(dict.fromkeys(range(len(self.groups.masks)), self.everything))

    # ------------------------------------------------------------ as every transfer function (see `Transfer`)

    @property
    def spread(self) -> int:
        """Barriers are not split here."""
        return self.copies

    @property
    def counts_rendezvous(self) -> bool:
        """What is ordered depends on how many barriers come between, and on what is complete by then."""
        return True

    def completed_copies(self, bits: int) -> int:
        """Copies that a wait has completed, on the layers of those that the next rendezvous makes visible."""
        return self.as_pending(bits)

    def through(self, sync: Sync, pending: int) -> int:
        """What is pending behind a barrier or wait."""
        if sync.fences:
            pending = self.completed(pending, self.fence)
        for _ in range(sync.times if sync.rendezvous else 0):
            pending = self.met(pending)
        return pending

    # ------------------------------------------------------------ layers

    def unfinished(self, relation: int) -> int:
        """The layer of unfinished accesses."""
        return 1 + relation

    def complete(self, relation: int, stage: int) -> int:
        """The layer of completed accesses of a stage, from 1 down to `lowest`."""
        return 1 + self.count * (2 - stage) + relation

    def owed(self, relation: int, after: int) -> int:
        """The layer of those that have to be complete after so many more rendezvous at most; -1 for overdue."""
        return 1 + self.count * (2 - self.lowest + self.most_owed - after) + relation

    def on(self, layer: int, bits: int) -> int:
        """Bits of classes on a layer."""
        return bits << layer * self.width

    def classes(self, bits: int) -> int:
        """The bits of classes among bits of any layer."""
        found, mask = 0, self.everything
        while bits:
            found |= bits & mask
            bits >>= self.width
        return found

    def lead(self, extras: tuple[int, ...], relation: int) -> int:
        """How far the second group of a relation is ahead, given how far apart all are."""
        one, other = self.relations[relation]
        return extras[other] - extras[one]

    def stage_of(self, layer: int) -> int | None:
        """The stage of a layer of completed or unfinished bits, at least; None for others."""
        stage = 2 - (layer - 1) // self.count
        return min(stage, 1) if layer != OWN and stage >= self.lowest else None

    # ------------------------------------------------------------ what an access does

    def added(self, number: int, table: ClassTable) -> int:
        """An access that has been issued, on the layers where anything asks for it."""
        made, bits = table.classes[number], all_ages(table, number)
        young = table.bit[number]
        added = young if bits & self.asked[self.count] else 0
        for relation, (one, _) in enumerate(self.relations):
            if bits & self.asked[relation] and made.waves & self.groups.masks[one]:
                added |= self.on(self.unfinished(relation), young)
        return added

    def conflicting(self, number: int, extras: tuple[int, ...]) -> int:
        """Pending bits that an access conflicts with where the groups are so far apart."""
        found = self.conflicts[self.count][number]
        for relation in range(self.count):
            bits, lead = self.conflicts[relation][number], self.lead(extras, relation)
            if not bits:
                continue
            if lead <= 0:
                found |= self.on(self.unfinished(relation), bits)
            for stage in range(1, max(lead, self.lowest - 1), -1):
                found |= self.on(self.complete(relation, stage), bits)
        return found

    def conflicting_in_flight(self, number: int) -> int:
        """Bits in flight, of one level, that an access conflicts with."""
        found = self.in_flight[self.count][number]
        for relation in range(self.count):
            found |= self.on(self.unfinished(relation), self.in_flight[relation][number])
        return found

    def owing(self, number: int, extras: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        """Unfinished bits that have to be complete soon because of an access in a group that is ahead."""
        found = []
        for relation in range(self.count):
            bits, lead = self.conflicts[relation][number], self.lead(extras, relation)
            if bits and lead >= 1:
                layer = self.unfinished(relation)
                found.append((self.on(layer, bits), (self.owed(relation, lead - 1) - layer) * self.width))
        return tuple(found)

    # ------------------------------------------------------------ how bits move

    def completing(self, bits: Mapping[int, int]) -> int:
        """The bits of each group that are completed, as `Turn` has them; a wave's own if they are in all groups."""
        found = self.everything
        for here in bits.values():
            found &= here
        for group, here in bits.items():
            found |= here * self.open_layers[group]
        return found

    def completed(self, pending: int, mask: int) -> int:
        """`pending` once the bits of `mask` are complete."""
        done = pending & mask
        if not done:
            return pending
        return (pending ^ done) | self.as_pending(done)

    def as_pending(self, bits: int) -> int:
        """Unfinished bits, or bits in flight, as they are once they are complete."""
        return (bits & ((1 << self.stride) - 1) << self.width) << self.stride

    def met(self, pending: int, groups: frozenset[int] | None = None) -> int:
        """`pending` behind a barrier that all groups meet, or some."""
        meeting, kept = self.masks[groups] if groups in self.masks else self._masks(groups)
        moving = pending & meeting
        return (pending ^ moving) | (moving << self.stride & kept) if moving else pending

    def _masks(self, groups: frozenset[int] | None) -> tuple[int, int]:
        everything = self.everything
        meeting = kept = 0
        for relation, (one, _) in enumerate(self.relations):
            if groups is not None and one not in groups:
                continue
            for stage in range(1, self.lowest - 1, -1):
                meeting |= self.on(self.complete(relation, stage), everything)
                if stage < 1 and stage > self.least[relation]:
                    kept |= self.on(self.complete(relation, stage), everything)
            for after in range(-1, self.most_owed):
                if after >= 0:
                    meeting |= self.on(self.owed(relation, after), everything)
                if after < self.most_owed - 1:
                    kept |= self.on(self.owed(relation, after), everything)
        self.masks[groups] = meeting, kept
        return meeting, kept

    def turned(self, turn: Turn, pending: int) -> int:
        """`pending` behind an operation."""
        if turn.completes:
            pending = self.completed(pending, turn.completes)
        for mask, places in turn.owes:
            pending |= (pending & mask) << places
        if turn.meets is not None:
            pending = self.met(pending, turn.meets)
        return pending & ~turn.drops

    # ------------------------------------------------------------ what helps

    def overdue(self, groups: Iterable[int] | None = None, arrivals: int = 0) -> int:
        """Owed bits that are not complete in time, if some groups meet so many barriers without a fence."""
        everything = self.everything
        found = 0
        for relation, (one, _) in enumerate(self.relations):
            if groups is None or one in groups:
                for after in range(-1, min(arrivals, self.most_owed)):
                    found |= self.on(self.owed(relation, after), everything)
        return found

    def missing(self, hit: int, instance: int) -> int:
        """How many rendezvous are missing for pending bits that conflict; 0 if a fence is enough."""
        found, extras = 0, self.groups.extras[instance]
        layer = 0
        while hit:
            here = hit & self.everything
            hit >>= self.width
            if here and layer:
                stage = self.stage_of(layer)
                if stage is not None:
                    lead = self.lead(extras, (layer - 1) % self.count)
                    found = max(found, stage - lead, 1)
            layer += 1
        return found

    def apart(self, hit: int, instance: int) -> WavesApart | None:
        """The groups of one of some bits that conflict; None for a wave's own."""
        layer = (hit.bit_length() - 1) // self.width
        if layer <= 0:
            return None
        one, other = self.relations[(layer - 1) % self.count]
        masks, extras = self.groups.masks, self.groups.extras[instance]
        return WavesApart(masks[one], masks[other], extras[one] - extras[other])


def skewed(groups: Groups, table: ClassTable, ignore: Filter | None) -> Skewed:
    """The layers that a kernel needs, and what conflicts on each of them."""
    found: dict[tuple[int, int], list[int]] = {}
    for one, other, lead in groups.leads():
        found.setdefault((one, other), []).append(lead)
    relations = tuple(sorted(found))
    least = tuple(min(found[relation]) for relation in relations)
    most = max(max(found[relation]) for relation in relations)
    skew = Skewed(groups, max(width(table), 1), relations, least, min(least) + 1, most)
    size = len(table.classes)
    skew.conflicts = [[0] * size for _ in range(skew.count + 1)]
    skew.in_flight = [[0] * size for _ in range(skew.count + 1)]
    parts = [[made.among(mask) for mask in groups.masks] for made in table.classes]
    _add_conflicts(skew, table, ignore, parts)
    _add_uses_of_new_mbarriers(skew, table, parts)
    for number in range(skew.count + 1):
        asked = 0
        for conflicts in (*skew.conflicts[number], *skew.in_flight[number]):
            asked |= conflicts
        skew.asked.append(asked)
    return skew


Parts = list[list[AccessClass]]
"""For each class of accesses, and each group of waves: what of it they do."""


def _add_conflicts(skew: Skewed, table: ClassTable, ignore: Filter | None, parts: Parts) -> None:
    """Accesses that must not overtake each other, by which groups make them."""
    for one, other, bits, age in pairs_that_matter(table, ignore):
        earlier, later = table.classes[one], table.classes[other]
        for number, (first, second) in enumerate(skew.relations):
            mine, theirs = parts[one][first], parts[other][second]
            if mine.waves and theirs.waves and can_overlap(mine, theirs, False, age, table.solver):
                skew.conflicts[number][other] |= bits
                if earlier.engine:
                    skew.in_flight[number][other] |= bits
        if (earlier.engine or later.engine) and can_overlap(earlier, later, True, age, table.solver):
            # A copy that has been waited for is known to its own wave.
            (skew.in_flight if earlier.engine else skew.conflicts)[skew.count][other] |= bits


def _add_uses_of_new_mbarriers(skew: Skewed, table: ClassTable, parts: Parts) -> None:
    """An mbarrier is made before others arrive on it."""
    for one, other in made_before_arrivals(table):
        for number, (first, second) in enumerate(skew.relations):
            makers, users = parts[one][first].waves, parts[other][second].waves
            either = makers | users
            if makers and users and either & (either - 1):
                skew.conflicts[number][other] |= all_ages(table, one)
