"""One line and kernels get fencepost's barriers; another one, and Wave is as it was."""

from __future__ import annotations

import warnings

import pytest

from fencepost.hosts import wave as host
from fencepost.hosts.wave import Audit, installation
from fencepost.ir.source import FencepostError
from tests.hosts.wave import kernels


@pytest.fixture(autouse=True)
def untouched() -> object:
    before = vars(kernels.PIPELINE).copy()
    yield
    host.uninstall()
    # Wave itself notes here whether it has warned of an old compiler.
    assert vars(kernels.PIPELINE) == before | {"_warned": vars(kernels.PIPELINE)["_warned"]}


def test_install_and_uninstall() -> None:
    made = host.install()
    assert made is not None and made.mode == "replace"
    kernels.gemm().compiled()
    assert len(made.inserted) == len(made.seconds) == 1
    assert [barrier.op.mnemonic for barrier in made.inserted[0].barriers] == ["barrier", "barrier"]
    host.uninstall()
    kernels.gemm().compiled()
    assert len(made.inserted) == 1


def test_installing_twice_is_installing_once() -> None:
    host.install()
    made = host.install()
    kernels.gemm().compiled()
    assert made is not None and len(made.inserted) == 1


def test_inner_installation_ends_where_its_block_ends() -> None:
    with host.installed("audit", show=lambda _: None):
        with host.installed("replace"):
            pass
        (outer,) = installation._installations.current
        assert outer.mode == "audit"


def test_audit_changes_nothing() -> None:
    plain = kernels.barrier_before_the_writer().compiled()
    found: list[Audit] = []
    with host.installed("audit", show=found.append):
        assert kernels.barrier_before_the_writer().compiled() == plain
    assert len(found) == 1 and found[0].barriers == 1 and len(found[0].races) == 1


def test_audit_prints(capsys: pytest.CaptureFixture[str]) -> None:
    with host.installed("audit"):
        kernels.gemm().compiled()
    assert "fencepost: @gemm (gfx942): 2 barriers, 0 redundant, no race" in capsys.readouterr().err


def test_variable_says_the_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(installation.VARIABLE, "audit")
    made = host.install()
    assert made is not None and made.mode == "audit"
    monkeypatch.setenv(installation.VARIABLE, "off")
    assert host.install() is None


def test_unknown_mode() -> None:
    with pytest.raises(FencepostError, match="unknown mode 'replce'") as error:
        host.install("replce")
    assert error.value.code == "FP425"


def test_what_goes_wrong_leaves_the_kernel_to_wave(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(trace: object, target: str = "") -> None:
        raise FencepostError("it does not work")

    monkeypatch.setattr(installation, "add_shared_memory_barriers", broken)
    plain = kernels.gemm().compiled()
    with host.installed(), pytest.warns(RuntimeWarning, match="it does not work"):
        assert kernels.gemm().compiled() == plain


def test_nothing_warns_on_the_way() -> None:
    with host.installed(), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        kernels.gemm().compiled()


def test_kernels_have_keys_of_their_own() -> None:
    from wave_lang.kernel.wave.cache import WaveCacheManager
    from wave_lang.kernel.wave.compile_options import WaveCompileOptions

    def key() -> str:
        source = kernels.gemm()
        options = WaveCompileOptions(subs=dict(source.sizes))
        found: str = WaveCacheManager.get_hash(None, source.kernel.constraints, source.kernel._f, options)
        return found

    plain = key()
    with host.installed("replace"):
        ours = key()
    with host.installed("audit"):
        assert len({plain, ours, key()}) == 3
    assert key() == plain


def test_what_was_put_in_says_where_and_why() -> None:
    with host.installed() as made:
        kernels.barrier_before_the_writer().compiled()
    assert made is not None
    (result,) = made.results
    assert result.kernel == "two" and len(result.placed) == 2 and not result.changed
    lines = str(result).splitlines()
    assert lines[0].startswith("fencepost: @two (gfx942): 2 put in, 0 changed")
    assert {line.split(":")[0].split(" before ")[0].strip() for line in lines[1:]} == {"barrier"}
    assert all("kernels.py:" in line for line in lines[1:])
    assert any("write → read %memory" in line for line in lines[1:])


@pytest.mark.parametrize("name", ["add_shared_memory_barriers", "minimize_shared_allocs"])
def test_a_release_without_a_pass_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delattr(kernels.PIPELINE, name)
    before = vars(kernels.PIPELINE).copy()
    with pytest.raises(FencepostError, match=f"has no {name}") as error:
        host.install()
    assert error.value.code == "FP421"
    assert vars(kernels.PIPELINE) == before  # and nothing is left behind
    monkeypatch.undo()


def test_a_release_with_other_arguments_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from fencepost.hosts.wave import versions

    monkeypatch.setitem(versions.LAYOUT, "Read", ("memory", "mapping"))
    with pytest.raises(FencepostError, match="Read has the arguments memory, elements_per_thread") as error:
        host.install()
    assert error.value.code == "FP421"
