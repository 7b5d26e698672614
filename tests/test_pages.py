"""Pages of the docs, run as they stand: kernels, commands with their output, and Python."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from fencepost.check import check
from fencepost.ir.parser import parse, parse_all
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.explain import explain_barriers
from fencepost.passes.insert import insert_barriers
from tests.conftest import CommandLine

DOCS = Path(__file__).parent.parent / "docs"
COMMANDS = {
    "copies-in-flight.md": 10,
    "split-barriers.md": 8,
    "ping-pong.md": 3,
    "view.md": 4,
    "silencing.md": 3,
}
TOURS = {"tour-cuda.md": 6, "tour-hip.md": 6}
STRATEGIES = {
    "strategy-auto.md": 3,
    "strategy-eager.md": 1,
    "strategy-intersect.md": 2,
    "strategy-minimize.md": 1,
    "strategy-optimal.md": 2,
    "strategy-walk.md": 2,
}
OUTPUTS = {"findings.md": 9, "cuda.md": 5, "cuda-mistakes.md": 13}
KERNELS = {
    "copies-in-flight.md": 9,
    "split-barriers.md": 5,
    "ping-pong.md": 1,
    "view.md": 1,
    "silencing.md": 2,
}
"""Pages, and how many commands and kernels each shows at least."""
Blocks = list[tuple[str, str, str]]


def blocks(page: str) -> Blocks:
    """The code blocks of a page: the file that each is said to be, or nothing; its language; its text."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(
        r"(?:^`(\w+\.(?:fp|cu))`:\n\n)?^```(\w+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL
    )


def shown(expected: str, printed: str) -> bool:
    """Whether a page shows what was printed; a line of three dots stands for any lines."""
    lines = [
        r"(?:.*\n)*" if line.strip() == "..." else re.escape(line) + r"\n" for line in expected.splitlines()
    ]
    return re.fullmatch("".join(lines), printed) is not None


def update(page: str, command: str, old: str, new: str) -> None:
    """Write what a command prints now into its page; what is shown in part is left to whoever wrote it."""
    text = (DOCS / page).read_text(encoding="utf-8")
    if not shown(old, new) and "\n..." not in f"\n{old}":
        (DOCS / page).write_text(text.replace(command + old, command + new), encoding="utf-8")


@pytest.mark.parametrize("page", [*COMMANDS, *TOURS, *STRATEGIES, *OUTPUTS])
def test_the_page_shows_what_the_commands_print(
    page: str,
    fencepost: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = 0
    for name, language, body in blocks(page):
        if name:
            Path(name).write_text(body, encoding="utf-8")
        if language != "console":
            continue
        for command, expected in re.findall(
            r"^\$ fencepost (.*)\n((?:(?!\$ ).*\n)*)", body, flags=re.MULTILINE
        ):
            ran = fencepost(*command.split())
            if request.config.getoption("--update-golden"):
                update(page, f"$ fencepost {command}\n", expected, ran.out + ran.err)
                continue
            assert shown(expected, ran.out + ran.err), f"{command}\n{ran.out}{ran.err}"
            commands += 1
    if request.config.getoption("--update-golden"):
        return
    assert commands >= (COMMANDS | TOURS | STRATEGIES | OUTPUTS)[page]


@pytest.mark.parametrize(
    "page", [*COMMANDS, "embedding.md", "findings.md", "strategy-auto.md", "triton-amd.md"]
)
def test_the_python_of_the_page_prints_what_the_page_says(page: str) -> None:
    found = blocks(page)
    (place,) = [number for number, (_, language, _) in enumerate(found) if language == "python"]
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(found[place][2], {"__name__": __name__})
    assert printed.getvalue().rstrip("\n") == found[place + 1][2].rstrip("\n")


@pytest.mark.parametrize("page", COMMANDS)
def test_every_kernel_of_the_page_is_one(page: str) -> None:
    kernels = [body for _, language, body in blocks(page) if language == "fp"]
    assert len(kernels) >= KERNELS[page]
    for body in kernels:
        (trace,) = parse_all(body)
        assert str(parse(str(trace))) == str(trace)


def test_three_dots_stand_for_any_lines() -> None:
    assert shown("a\n...\nc\n", "a\nb\nb\nc\n")
    assert shown("a\n...\nc\n", "a\nc\n")
    assert not shown("a\n...\nc\n", "a\nb\n")
    assert not shown("a\n", "a\nb\n")


KERNELS_OF_THE_DOCS = [
    pytest.param(trace, id=f"{page.name}-{trace.name}")
    for page in sorted(DOCS.glob("*.md"))
    if page.name != "codes.md"  # half of its kernels are wrong on purpose; tests/codes runs them
    for _, language, body in blocks(page.name)
    if language == "fp" and body.lstrip().startswith(("kernel @", "#", "func @")) and "kernel @" in body
    for trace in parse_all(body)
]


@pytest.mark.parametrize("trace", KERNELS_OF_THE_DOCS)
def test_insert_and_explain_agree_with_check_about_the_kernels_of_the_docs(trace: CapturedTrace) -> None:
    kernel = parse(str(trace))
    clean = check(kernel).ok
    if clean:
        assert not explain_barriers(kernel).uncovered
    try:
        done = insert_barriers(kernel)
    except FencepostError as refused:
        # What is not followed is refused by name, right or wrong; what is out of step is wrong.
        assert refused.code == "FP201" or not clean
        return
    assert check(kernel).ok
    if clean:
        assert not (done.barriers or done.upgraded or done.fenced), str(kernel)


def test_the_ring_of_the_docs_is_accepted_as_it_stands_and_refused_without_its_waits() -> None:
    rings = [param.values[0] for param in KERNELS_OF_THE_DOCS if param.id == "text-form.md-ring"]
    (text,) = [str(ring) for ring in rings if "mbarrier_init" in str(ring)]
    assert str(parse(text)) == text
    kernel = parse(text)
    assert not insert_barriers(kernel).barriers
    assert str(kernel) == text
    lines = text.splitlines()
    (wait,) = [number for number, line in enumerate(lines) if "mbarrier_wait %empty" in line]
    without = parse("\n".join(lines[:wait] + lines[wait + 1 :]) + "\n")
    assert not check(without).ok
    with pytest.raises(FencepostError) as refused:
        insert_barriers(without)
    assert refused.value.code == "FP203"


def test_the_smallest_host_works() -> None:
    ((_, _, body),) = (block for block in blocks("adding-a-host.md") if block[1] == "python")
    exec(compile(body, "adding-a-host.md", "exec"), {})


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them; code blocks have none."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


PAGES = [*sorted(DOCS.glob("*.md")), *sorted(DOCS.parent.glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(DOCS.parent)) for page in PAGES])
def test_links_lead_to_pages_and_headings_that_exist(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        if "://" in target:
            continue
        linked = page.parent / name if name else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


def test_the_index_lists_every_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in sorted(DOCS.glob("*.md")) if f"({page.name}" not in index] == ["README.md"]


def test_the_architecture_page_names_files_that_exist() -> None:
    """Every package has a row, and every file that a question is answered with is there."""
    package = DOCS.parent / "fencepost"
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    where = text.partition("## Where is")[2]
    folder = ""
    for entry in re.findall(r"`([\w/]+(?:\.py|\.lark|/))`", where):
        path = package / entry if "/" in entry else package / folder / entry
        assert path.exists(), entry
        folder = str(path.parent.relative_to(package))
    packages = {path.parent.name for path in package.glob("*/__init__.py")} - {"kernels"}
    assert packages <= set(re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)) | {"api"}


def test_the_architecture_page_has_every_module_of_triton_and_every_folder_of_ptx() -> None:
    hosts, text = DOCS.parent / "fencepost" / "hosts", (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)/?`", text))
    assert not {path.stem for path in (hosts / "triton").glob("[!_]*.py")} - named
    assert not {path.parent.name for path in (hosts / "ptx").glob("*/__init__.py")} - named
