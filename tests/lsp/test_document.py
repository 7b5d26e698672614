"""What an editor is given of a text, without an editor."""

from __future__ import annotations

from fencepost.ir.text_changes import changed_text
from fencepost.lsp.document import read_document

RACY = """\
# The tile of a loop.
kernel @k waves=4 {
  shared %a : 1024   # bytes
  write %a
  read %a
}
"""


def test_a_race_is_a_finding_with_a_fix_that_keeps_the_rest_of_the_text() -> None:
    (finding,) = read_document("k.fp", RACY).findings
    assert finding.diagnostic.code == "FP001"
    assert [mark.span.line for mark in finding.diagnostic.marks if mark.span] == [4, 5]
    assert finding.fix is not None and finding.fix.title == "a barrier before line 5"
    fixed = changed_text(RACY, finding.fix.changes)
    assert fixed == RACY.replace("  read %a", "  barrier\n  read %a")
    assert read_document("k.fp", fixed).findings == ()


def test_a_text_that_cannot_be_read_is_a_finding() -> None:
    (finding,) = read_document("k.fp", "kernel @k waves=4 {\n  reed %a\n}\n").findings
    assert (finding.diagnostic.code, finding.fix) == ("FP101", None)
    assert finding.diagnostic.marks[0].span is not None and finding.diagnostic.marks[0].span.line == 2


def test_an_empty_text_says_nothing() -> None:
    assert read_document("k.fp", "").findings == read_document("k.fp", "# nothing yet\n").findings == ()


def test_barriers_have_reasons() -> None:
    document = read_document("k.fp", RACY.replace("  read %a", "  barrier\n  read %a\n  barrier"))
    needed, redundant = (document.reason_at(line) for line in (5, 7))
    assert needed is not None and "without this, wave 1's read of %a (line 6) can miss" in needed.markdown
    assert redundant is not None and redundant.markdown.startswith("**redundant**")
    assert document.reason_at(4) is None


def test_every_kernel_of_a_file_is_looked_at() -> None:
    two = RACY + RACY.replace("@k", "@l")
    firsts = [finding.diagnostic.marks[0].span for finding in read_document("k.fp", two).findings]
    assert [span and span.line for span in firsts] == [4, 10]


ALLOWED = RACY.replace("  read %a", "  read %a  # fencepost: allow FP001: the tile is constant")


def test_what_a_comment_allows_is_said_on_hover_and_is_no_finding() -> None:
    document = read_document("k.fp", ALLOWED)
    assert document.findings == ()
    for line in (4, 5):
        reason = document.reason_at(line)
        assert reason is not None and reason.markdown.startswith("**allowed** FP001: wave 1 can read %a")
        assert "the tile is constant (line 5)" in reason.markdown
    assert document.reason_at(3) is None


def test_a_comment_above_and_the_barrier_that_it_is_about_share_a_line() -> None:
    text = RACY.replace(
        "  read %a", "  if wave < 2 {\n  barrier  # fencepost: allow FP002: it passes here\n  }"
    )
    reason = read_document("k.fp", text).reason_at(6)
    assert (
        reason is not None and "**allowed** FP002" in reason.markdown and "it passes here" in reason.markdown
    )
    above = RACY.replace("  read %a", "  # fencepost: allow FP001: constant\n  read %a")
    assert all(read_document("k.fp", above).reason_at(line) is not None for line in (4, 5, 6))


def test_comments_that_allow_nothing_are_warned_of() -> None:
    for text, code in (
        (ALLOWED.replace(": the tile is constant", ""), "FP302"),
        (ALLOWED.replace("write %a", "barrier"), "FP303"),
    ):
        found = [
            each.diagnostic
            for each in read_document("k.fp", text).findings
            if each.diagnostic.severity == "warning"
        ]
        assert [each.code for each in found] == [code]


def test_host_code_without_a_kernel_is_no_mistake() -> None:
    assert not read_document("host.cu", "int main() { return 0; }\n").findings
    assert read_document("host.cu", "#if CUDA\n__global__ void k() {}\n#endif\n").findings
