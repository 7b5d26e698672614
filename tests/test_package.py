"""What holds for the package as a whole: who may import whom, and what the first steps of a newcomer give."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fencepost
from fencepost.cli import main
from fencepost.kernels import BUNDLED, KERNELS, TO_SCHEDULE, bundled_kernel

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "fencepost"
MOST_ENTERED = 60
"""`insert` enters fewer modules than this for each bundled kernel: as many as one can step through."""
BASE = {"did_you_mean", "gc_pause", "option_fields", "phases", "version"}
"""Modules that know nothing of kernels."""
MAY_IMPORT = {
    "ir": set(),
    "codes": {"ir"},
    "flow": {"ir"},
    "targets": {"ir"},
    "check": {"flow", "ir"},
    "analysis": {"flow", "ir"},
    "placement": {"analysis", "flow", "ir", "targets"},
    "emit": {"analysis", "flow", "ir", "placement", "targets"},
    "timing": {"flow", "ir", "targets"},
    "reference": {"analysis", "flow", "ir", "targets"},
    "schedule": {"analysis", "check", "ir", "targets"},
    "passes": {"analysis", "check", "emit", "flow", "ir", "placement", "schedule", "targets", "timing"},
    "report": {"analysis", "check", "codes", "emit", "flow", "ir", "passes", "timing"},
    "view": {
        *("analysis", "check", "emit", "flow", "ir", "passes", "placement", "report", "timing"),
    },
    "hosts": {
        *("analysis", "check", "emit", "flow", "ir", "passes", "placement"),
        *("reference", "report", "schedule", "targets"),
    },
    "kernels": {"ir"},
    "schemas": set(),
    "api": {"analysis", "check", "hosts", "ir", "passes", "reference", "schedule"},
    "audit": {"check", "flow", "hosts", "ir", "passes", "report"},
    "lsp": {"check", "hosts", "ir", "passes", "report"},
    "commands": {
        *("analysis", "audit", "check", "codes", "emit", "hosts", "ir", "kernels", "lsp", "passes", "report"),
        *("placement", "schedule", "schemas", "targets", "timing", "view"),
    },
    "pytest_plugin": {"check", "commands", "hosts", "ir", "report"},
    "cli": {"commands", "ir"},
    "__main__": {"cli"},
}
"""Data goes one way, host or text → ir → flow → analysis → placement → emit; `check` shares no code with what it
judges; `passes` calls the others in order, and nothing calls back."""


def rooms() -> dict[str, list[Path]]:
    """The files of every package and root module."""
    found: dict[str, list[Path]] = {}
    for path in PACKAGE.rglob("*.py"):
        found.setdefault(path.relative_to(PACKAGE).with_suffix("").parts[0], []).append(path)
    return found


@pytest.mark.parametrize("room", sorted(rooms().keys() - BASE - {"__init__"}))
def test_rooms_import_only_what_they_may(room: str) -> None:
    for path in rooms()[room]:
        for module in _imported(path):
            if module.startswith("fencepost."):
                used = module.split(".")[1]
                assert used in {room, *BASE, *MAY_IMPORT[room]}, f"{path.name} imports {module}"


PTX = "fencepost.hosts.ptx"
PTX_MAY_IMPORT = {
    "cuda_source": set(),
    "reading": set(),
    "launches": {"cuda_source", "reading"},
    "compiler": {"cuda_source", "launches", "reading"},
    "expressions": {"launches", "reading"},
    "proof": {"expressions", "launches", "reading"},
    "runs": {"expressions", "launches", "proof", "reading"},
    "exact": {"expressions", "launches", "proof", "reading", "runs"},
    "edits": {"asked_launch", "checking", "cuda_source", "expressions", "launches", "proof", "reading"},
    "report": {"cuda_source", "judged_kernel", "launches", "reading", "runs"},
}
"""Inside `hosts/ptx`: what each folder builds on, besides `verdicts`. The modules at the top call them all."""


@pytest.mark.parametrize("room", sorted(PTX_MAY_IMPORT))
def test_rooms_of_the_ptx_host_import_only_what_they_may(room: str) -> None:
    for path in (PACKAGE / "hosts" / "ptx" / room).glob("*.py"):
        for module in _imported(path):
            if module.startswith(f"{PTX}."):
                used = module.removeprefix(f"{PTX}.").split(".")[0]
                assert used in {room, "verdicts", *PTX_MAY_IMPORT[room]}, f"{path.name} imports {module}"


def test_base_modules_import_no_room() -> None:
    for name in BASE:
        assert not [module for module in _imported(PACKAGE / f"{name}.py") if module.startswith("fencepost")]


def test_there_is_no_cycle_of_rooms() -> None:
    order: list[str] = []
    todo = set(MAY_IMPORT)
    while todo:
        free = {room for room in todo if MAY_IMPORT[room] <= set(order)}
        assert free, f"a cycle among {sorted(todo)}"
        order += sorted(free)
        todo -= free


def _imported(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
            found += [f"{node.module}.{name.name}" for name in node.names if node.module == "fencepost"]
        elif isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.Constant) and re.fullmatch(r"fencepost(\.\w+)+", str(node.value)):
            # A module that is imported by its name, when it is needed.
            found.append(str(node.value))
    return found


def test_heavy_libraries_are_not_loaded_at_start() -> None:
    code = "import sys, fencepost, fencepost.cli; print(' '.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"torch", "triton", "scipy", "numpy", "islpy", "lark", "rich", "jinja2"}
    assert heavy.isdisjoint(loaded)


ENTERED = """
import json, sys
from pathlib import Path
import fencepost
from fencepost.cli import main

root = str(Path(fencepost.__file__).parent) + "/"
modules, called = {}, []

def profile(frame, event, argument):
    code = frame.f_code
    # Bodies of modules and classes, which run when they are loaded, are no functions.
    if event == "call" and code.co_filename.startswith(root) and code.co_flags & 1:
        name = code.co_filename.removeprefix(root).removesuffix(".py").replace("/", ".")
        modules[name] = None
        called.append(f"{name}.{code.co_name}")

sys.setprofile(profile)
code = main(["insert", sys.argv[1], "-o", sys.argv[2], "--seconds", "60"])
sys.setprofile(None)
print(json.dumps([code, list(modules), called]))
"""
"""Runs `insert`, and prints which modules were entered, in this order, and every function that was called.

With so much time that a busy machine does not decide where the search ends."""
STAGES = [
    "ir.parser.parse_all",
    "flow.build_flow.build_flow",
    "analysis.build_program.read_program",
    "placement.driver.decide",
    "emit.write.write_decision",
    "ir.printer.print_file",
]


@pytest.mark.parametrize("name", [*KERNELS, *TO_SCHEDULE])
def test_a_kernel_can_be_followed_through_insert(name: str, tmp_path: Path) -> None:
    """Few modules to step through, each stage once, none before the one that it builds on."""
    kernel = PACKAGE / "kernels" / f"{name}.fp"
    run = subprocess.run(
        [sys.executable, "-c", ENTERED, str(kernel), str(tmp_path / "out.fp")],
        capture_output=True,
        text=True,
        check=True,
    )
    code, modules, called = json.loads(run.stdout)
    assert code == 0 and "barrier" in (tmp_path / "out.fp").read_text(encoding="utf-8")
    assert len(modules) < MOST_ENTERED, modules
    assert [function for function in called if function in STAGES] == STAGES
    begun = {stage: called.index(stage) for stage in STAGES}
    for package, stage in (
        ("analysis", "analysis.build_program.read_program"),
        ("placement.optimal", "placement.driver.decide"),
        ("emit", "emit.write.write_decision"),
    ):
        before = called[begun["ir.parser.parse_all"] : begun[stage]]
        assert not [function for function in before if function.startswith(f"{package}.")]
    # What has been decided is read and worded; nothing is decided again.
    writing = called[begun["emit.write.write_decision"] :]
    asked = {function.split(".")[1] for function in writing if function.startswith("placement.")}
    assert asked <= {"reasons", "strategy", "wait_counts"}
    behind = called[begun["ir.printer.print_file"] :]
    assert not [function for function in behind if function.startswith(("analysis.", "placement.", "emit."))]


def test_the_example_in_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})
    assert "barrier" in capsys.readouterr().out


def test_the_example_in_the_package_docstring_names_things_that_exist() -> None:
    for name in re.findall(r"fp\.(\w+)", fencepost.__doc__ or ""):
        assert hasattr(fencepost, name)


def test_the_types_of_results_can_be_named() -> None:
    """What functions return can be written into a user's annotations."""
    wanted = {
        "Barrier",
        "Cause",
        "Deadlock",
        "Edit",
        "Estimates",
        "Explanation",
        "Inserted",
        "OutOfRange",
        "Position",
    }
    wanted |= {
        "Pruned",
        "Race",
        "Report",
        "Scheduled",
        "Touch",
        "Buffer",
        "View",
        "Expr",
        "Condition",
        "UsageError",
    }
    assert wanted <= set(fencepost.__all__)
    assert all(hasattr(fencepost, name) for name in fencepost.__all__)
    assert (PACKAGE / "py.typed").exists()


def test_an_editable_install_is_a_path_that_type_checkers_follow() -> None:
    """Without this setting, setuptools makes an import hook, and `mypy --strict` does not find the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["setuptools"]["package-dir"] == {"": "."}


def test_python_files_that_the_docs_name_exist() -> None:
    """With their folders, or by their names alone where a page says where they are."""
    present = [path.relative_to(ROOT) for path in ROOT.glob("[!.]*/**/*.py")]
    placeholders = {"NAME", "softmax.py"}
    for page in (ROOT / "docs").glob("*.md"):
        for name in re.findall(r"`([\w/-]+\.py)`", page.read_text(encoding="utf-8")):
            parts = Path(name).parts
            known = any(path.parts[-len(parts) :] == parts for path in present)
            assert known or placeholders & set(parts), f"{page.name} names {name}"


def test_the_changelog_begins_with_this_version_or_what_comes_next() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    titles = [title.split() for title in re.findall(r"^## (.*)", text, re.MULTILINE)]
    released = [title[0] for title in titles if title[0] != "Unreleased"]
    assert titles[0][0] in ("Unreleased", fencepost.__version__)
    assert released[0] == fencepost.__version__
    assert "Unreleased" not in [title[0] for title in titles[1:]]


def test_every_bundled_kernel_is_listed() -> None:
    assert sorted((*KERNELS, *TO_SCHEDULE)) == sorted(
        path.stem for path in (PACKAGE / "kernels").glob("*.fp")
    )


@pytest.mark.parametrize("name", [*KERNELS, *TO_SCHEDULE])
def test_bundled_kernels_race_without_barriers_and_not_with_them(name: str) -> None:
    kernel = bundled_kernel(name)
    assert fencepost.check(kernel).races
    result = fencepost.insert_barriers(kernel)
    report = fencepost.check(kernel)
    assert report.ok and report.explored.complete
    assert all(barrier.hazards for barrier in result.barriers)


@pytest.mark.parametrize(
    ("name", "in_the_loop"),
    [
        ("gemm", 2), ("gemm_prefetch", 2), ("gemm_modulo", 1),
        ("attention", 4), ("attention_prefetch", 2), ("attention_modulo", 1),
    ],
)  # fmt: skip
def test_bundled_kernels_have_as_few_barriers_per_iteration_as_can_be(name: str, in_the_loop: int) -> None:
    kernel = bundled_kernel(name)
    fencepost.add_shared_memory_barriers(kernel)
    assert sum(op.mnemonic == "barrier" for op in kernel.walk_graph("region_1")) == in_the_loop


def test_the_demo_tells_the_whole_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    told = capsys.readouterr().out
    for name in BUNDLED:
        assert f"@{name}\n" in told
    assert told.count("checked: no race, no deadlock") == len(BUNDLED)
    assert told.endswith("4 kernels, 11 barriers, all clean.\n")


def test_public_names_are_where_types_say_they_are() -> None:
    """Each public name is listed, typed and loaded from the same module."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (typed,) = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {
        alias.name: node.module
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    loaded = {name: home for home, names in fencepost.HOMES.items() for name in names}
    assert imported == loaded
    assert sorted(fencepost.__all__) == sorted([*loaded, "__version__"])
    assert all(getattr(fencepost, name) is not None for name in fencepost.__all__)


def test_check_is_the_function_whenever_its_package_is_loaded() -> None:
    code = (
        "import fencepost.check.track, fencepost as fp; print(fp.check is fp.api.check, callable(fp.check))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "True True\n"
