"""Random tiny kernels with mbarriers: correct ones, with a few changes each, and some made of anything."""

from __future__ import annotations

import random
import re

TEMPLATES = [
    # One program: wave 0 copies, all wait, a barrier keeps the next round back.
    """\
kernel @k waves=2 {
  shared %a : 2 x 64
  shared %b : 64
  shared %full : 2 x 8
  shared %free : 2 x 8
  param %n
  mbarrier_init %full[0] count=1
  mbarrier_init %full[1] count=1
  barrier
  loop %i in 0..%n {
    if wave == 0 {
      mbarrier_expect %full[%i % 2] bytes=64
      tensor_load_to_lds %a[%i % 2] counter=tma arrives %full[%i % 2] bytes=64
    }
    mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
    read %a[%i % 2]
    barrier
  }
}
""",
    # A producer and consumers.
    """\
kernel @k waves=3 {
  shared %a : 2 x 64
  shared %b : 64
  shared %full : 2 x 8
  shared %free : 2 x 8
  param %n
  mbarrier_init %full[0] count=1
  mbarrier_init %full[1] count=1
  mbarrier_init %free[0] count=2
  mbarrier_init %free[1] count=2
  barrier
  if wave < 2 {
    loop %i in 0..%n {
      mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
      read %a[%i % 2]
      mbarrier_arrive %free[%i % 2]
    }
  } else {
    loop %j in 0..%n {
      mbarrier_wait %free[%j % 2] phase=(%j // 2 + 1) % 2
      mbarrier_expect %full[%j % 2] bytes=64
      tensor_load_to_lds %a[%j % 2] counter=tma arrives %full[%j % 2] bytes=64
    }
  }
}
""",
    # The same with one slot, and two buffers on one mbarrier.
    """\
kernel @k waves=2 {
  shared %a : 2 x 64
  shared %b : 64
  shared %full : 8
  shared %free : 8
  param %n
  mbarrier_init %full count=1
  mbarrier_init %free count=1
  barrier
  if wave == 0 {
    loop %i in 0..%n {
      mbarrier_wait %full phase=%i % 2
      read %a[0]
      read %b
      mbarrier_arrive %free
    }
  } else {
    loop %j in 0..%n {
      mbarrier_wait %free phase=(%j + 1) % 2
      mbarrier_expect %full bytes=96
      tensor_load_to_lds %a[0] counter=tma arrives %full bytes=64
      tensor_load_to_lds %b counter=tma arrives %full bytes=32
    }
  }
}
""",
    # Copies that are waited for thread by thread: every wave's engine arrives.
    """\
kernel @k waves=2 {
  shared %a : 2 x 64
  shared %b : 64
  shared %full : 2 x 8
  shared %free : 2 x 8
  mbarrier_init %full[0] count=2
  mbarrier_init %full[1] count=2
  barrier
  loop %i in 0..3 {
    gather_to_lds %a[%i % 2] counter=copy
    mbarrier_arrive %full[%i % 2] counter=copy
    mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
    read %a[%i % 2]
    barrier
  }
}
""",
    # Waves that write themselves, and hand over without a barrier.
    """\
kernel @k waves=3 {
  shared %a : 2 x 64
  shared %b : 64
  shared %full : 8
  shared %free : 8
  param %n
  mbarrier_init %full count=1
  mbarrier_init %free count=2
  barrier
  if wave == 0 {
    loop %i in 0..%n {
      mbarrier_wait %free phase=(%i + 1) % 2
      write %a[0]
      mbarrier_arrive %full
    }
  } else {
    loop %j in 0..%n {
      mbarrier_wait %full phase=%j % 2
      read %a[0]
      mbarrier_arrive %free
    }
  }
}
""",
    # An engine that reads, and is done when it says so.
    """\
kernel @k waves=2 {
  shared %a : 2 x 64
  shared %b : 64
  shared %full : 8
  shared %free : 8
  param %n
  mbarrier_init %full count=1
  mbarrier_init %free count=1
  barrier
  if wave == 0 {
    loop %i in 0..%n {
      mbarrier_wait %free phase=(%i + 1) % 2
      write %a[0]
      mbarrier_arrive %full
    }
  } else {
    loop %j in 0..%n {
      mbarrier_wait %full phase=%j % 2
      async_mma %a[0] arrives %free count=1
    }
  }
}
""",
    # Everybody arrives and waits: a barrier made of an mbarrier.
    """\
kernel @k waves=2 {
  shared %a : 2 x 64
  shared %b : 64
  shared %full : 8
  shared %free : 8
  param %n
  mbarrier_init %full count=2
  mbarrier_init %free count=2
  barrier
  loop %i in 0..%n {
    write %a[wave]
    mbarrier_arrive %full
    mbarrier_wait %full phase=%i % 2
    read %a[1 - wave]
    mbarrier_arrive %free
    mbarrier_wait %free phase=%i % 2
  }
}
""",
    # Engines that are waited for with counts, and some waves that meet.
    """\
kernel @k waves=3 {
  shared %a : 2 x 64
  shared %b : 64
  shared %full : 8
  shared %free : 8
  mbarrier_init %full count=2
  barrier
  if wave < 2 {
    gather_to_lds %b counter=copy
    wait_count copy=0
    barrier waves 0..2
    read %b
    write %a[wave]
    mbarrier_arrive %full
  } else {
    mbarrier_wait %full phase=0
    read %a[0]
    read %a[1]
    write %b
  }
}
""",
    # An mbarrier that is made anew in each round, and ended when everybody is done with it.
    """\
kernel @k waves=2 {
  shared %a : 2 x 64
  shared %b : 64
  shared %full : 8
  shared %free : 8
  param %n
  loop %i in 0..%n {
    if wave == 0 {
      mbarrier_init %full count=1 until=inval
    }
    barrier
    if wave == 1 {
      tensor_load_to_lds %a[0]
      tensor_load_to_lds %b arrives %full count=1
    }
    mbarrier_wait %full phase=0
    read %a[0]
    read %b
    barrier
    if wave == 0 {
      mbarrier_inval %full
    }
    barrier
  }
}
""",
    # Two producers that take turns, each with its own engine, and memory that is used for something else at the end.
    """\
kernel @k waves=3 {
  shared %a : 2 x 64
  shared %b : 64
  shared %full : 8
  shared %free : 8
  mbarrier_init %full count=1
  mbarrier_init %free count=1
  barrier
  if wave == 0 {
    tensor_load_to_lds %a[0] arrives %full count=1
  }
  if wave == 1 {
    mbarrier_wait %full phase=0
    tensor_load_to_lds %a[0] arrives %free count=1
  }
  if wave == 2 {
    mbarrier_wait %free phase=0
    read %a[0]
  }
  barrier
  write %full
}
""",
]

SLOTS = ["0", "1", "wave % 2"]
PHASES = ["0", "1"]
LOOPED_SLOTS = [*SLOTS, "%i % 2", "(%i + 1) % 2"]
LOOPED_PHASES = [*PHASES, "%i % 2", "%i // 2 % 2", "(%i + 1) % 2", "(%i // 2 + 1) % 2"]
STATEMENTS = [
    "read %a[{slot}]",
    "read %b",
    "write %a[{slot}]",
    "write %b",
    "barrier",
    "barrier waves 0..2",
    "mbarrier_arrive {object}",
    "mbarrier_arrive {object} count=2",
    "mbarrier_arrive {object} counter=copy",
    "mbarrier_wait {object} phase={phase}",
    "mbarrier_wait {object} phase={phase}",
    "mbarrier_expect {object} bytes=64",
    "mbarrier_init {object} count={count}",
    "mbarrier_init {object} count={count} until=inval",
    "mbarrier_inval {object}",
    "write {object}",
    "tensor_load_to_lds %a[{slot}]",
    "tensor_load_to_lds %b arrives {object} count=1",
    "tensor_load_to_lds %a[{slot}] counter=tma arrives {object} bytes=64",
    "tensor_load_to_lds %b counter=tma arrives {object} count=1",
    "gather_to_lds %a[{slot}] counter=copy",
    "gather_to_lds %b counter=copy",
    "async_mma %a[{slot}] arrives {object} count=1",
    "wait_count copy=0",
    "wait_count copy=1",
    "wait_count tma=0",
    "wait_count lds=0",
]
CONDITIONS = ["wave == 0", "wave < 1", "wave < 2", "wave == 1", "wave >= 1", "wave != 0"]


def random_kernel(seed: int, rounds: int | None = None) -> str:
    """A kernel: a correct one with up to four changes, or one that is made of anything.

    Its loops run as often as a number says that it is given, or `rounds` times.
    """
    rng = random.Random(seed)
    lines = _anything(rng) if rng.random() < 0.15 else rng.choice(TEMPLATES).splitlines()
    for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3, 4])):
        lines = _changed(rng, lines)
    text = "\n".join(lines) + "\n"
    return text if rounds is None else text.replace("  param %n\n", "").replace("0..%n", f"0..{rounds}")


def _loop(lines: list[str], at: int) -> str:
    """The variable of the loop around a line."""
    depth = 0
    for line in reversed(lines[:at]):
        depth += line.strip().startswith("}")
        if line.endswith("{"):
            if not depth and line.strip().startswith("loop"):
                return line.split()[1]
            depth = max(depth - 1, 0)
    return ""


def _slot(rng: random.Random, loop: str) -> str:
    return rng.choice(LOOPED_SLOTS if loop else SLOTS).replace("%i", loop)


def _phase(rng: random.Random, loop: str) -> str:
    return rng.choice(LOOPED_PHASES if loop else PHASES).replace("%i", loop)


def _object(rng: random.Random, lines: list[str], loop: str) -> str:
    name = rng.choice(["full", "full", "free"])
    ring = any(line.strip().startswith(f"shared %{name} : 2 x") for line in lines)
    return f"%{name}[{_slot(rng, loop)}]" if ring else f"%{name}"


def _statement(rng: random.Random, lines: list[str], loop: str) -> str:
    return rng.choice(STATEMENTS).format(
        slot=_slot(rng, loop),
        object=_object(rng, lines, loop),
        phase=_phase(rng, loop),
        count=rng.randint(1, 3),
    )


def _plain(lines: list[str]) -> list[int]:
    """The lines that stand for themselves."""
    words = ("kernel", "shared", "param", "loop", "if", "}")
    return [at for at, line in enumerate(lines) if not line.strip().startswith(words)]


def _changed(rng: random.Random, lines: list[str]) -> list[str]:
    lines = list(lines)
    places = _plain(lines)
    if not places:
        return lines
    at = rng.choice(places)
    line = lines[at]
    indent = line[: len(line) - len(line.lstrip())]
    loop = _loop(lines, at)
    what = rng.randrange(10)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(at, line)
    elif what == 2:
        other = rng.choice(places)
        lines[at], lines[other] = lines[other], lines[at]
    elif what == 3:
        lines.insert(rng.choice(places), lines.pop(at))
    elif what in (4, 5):
        lines.insert(at, indent + _statement(rng, lines, loop))
    elif what == 6:
        lines[at] = re.sub(r"phase=.*", f"phase={_phase(rng, loop)}", line)
    elif what == 7:
        lines[at] = re.sub(r"(count|bytes)=(\d+)", lambda m: f"{m[1]}={rng.choice([1, 2, 3, 32, 64])}", line)
    elif what == 8:
        lines[at] = re.sub(r"\[[^\]]*\]", lambda m: f"[{_slot(rng, loop)}]", line, count=rng.choice([0, 1]))
    else:
        head = [here for here, text in enumerate(lines) if text.strip().startswith("if ")]
        if head:
            at = rng.choice(head)
            lines[at] = re.sub(r"wave \S+ \d", rng.choice(CONDITIONS), lines[at])
    return lines


def _anything(rng: random.Random) -> list[str]:
    """A kernel of random statements around an mbarrier that is made properly."""
    lines = [
        f"kernel @k waves={rng.choice([2, 2, 3])} {{",
        "  shared %a : 2 x 64",
        "  shared %b : 64",
        "  shared %full : 8",
        "  shared %free : 8",
        "  param %n",
        f"  mbarrier_init %full count={rng.choice([1, 1, 2])}",
        f"  mbarrier_init %free count={rng.choice([1, 1, 2])}",
        "  barrier",
    ]
    looped = rng.random() < 0.5
    loop = "%i" if looped else ""
    lines += ["  loop %i in 0..%n {"] if looped else []
    lines += [f"    if {rng.choice(CONDITIONS)} {{"]
    lines += [f"      {_statement(rng, lines, loop)}" for _ in range(rng.randint(1, 4))]
    lines += ["    } else {"]
    lines += [f"      {_statement(rng, lines, loop)}" for _ in range(rng.randint(1, 4))]
    return [*lines, "    }", *(["  }"] if looped else []), "}"]
