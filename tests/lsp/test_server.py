"""The language server, spoken to by a real client over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.lsp.test_document import RACY

SECONDS = 60


class Editor(LanguageClient):
    """An editor: what it was sent, and a text that it has open."""

    def __init__(self, path: Path) -> None:
        super().__init__("editor", "1")
        self.uri = path.as_uri()
        self.edition = 1
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.published.put_nowait(params)

    async def open(self, text: str) -> types.PublishDiagnosticsParams:
        """Open a text and wait for what is found."""
        item = types.TextDocumentItem(self.uri, "fencepost", self.edition, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await asyncio.wait_for(self.published.get(), SECONDS)

    async def change(self, text: str) -> types.PublishDiagnosticsParams:
        """Replace the text."""
        self.edition += 1
        document = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.edition)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))
        return await asyncio.wait_for(self.published.get(), SECONDS)

    async def hover(self, line: int) -> types.Hover | None:
        """What is shown on a line, counted from 1."""
        where = types.TextDocumentIdentifier(self.uri)
        return await self.text_document_hover_async(types.HoverParams(where, types.Position(line - 1, 4)))

    async def actions(self, line: int) -> list[types.CodeAction]:
        """The fixes that are offered on a line."""
        at = types.Position(line - 1, 4)
        found = await self.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(self.uri), types.Range(at, at), types.CodeActionContext([])
            )
        )
        return [action for action in found or [] if isinstance(action, types.CodeAction)]


def in_an_editor(path: Path, session: Callable[[Editor], Awaitable[None]]) -> None:
    """Run a session with a server of its own."""

    async def run() -> None:
        editor = Editor(path)
        await editor.start_io(sys.executable, "-m", "fencepost", "lsp", "--stdio")
        await editor.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
        editor.initialized(types.InitializedParams())
        await session(editor)
        await editor.shutdown_async(None)
        editor.exit(None)
        await editor.stop()  # type: ignore[no-untyped-call]

    asyncio.run(run())


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """A text with the edits of a code action, as an editor applies them: from the end on."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]

    def offset(at: types.Position) -> int:
        return starts[at.line] + at.character

    for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def test_a_race_is_shown_fixed_and_gone(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        (found,) = (await editor.open(RACY)).diagnostics
        assert (found.code, found.severity, found.range.start.line) == (
            "FP001",
            types.DiagnosticSeverity.Error,
            3,
        )
        assert found.message.startswith("wave 1 can read %a before wave 0 has written it\nwhy: no barrier")
        assert [other.location.range.start.line for other in found.related_information or []] == [3, 4]
        assert await editor.actions(line=2) == []
        (action,) = await editor.actions(line=5)
        assert (action.title, action.kind) == ("Fix: a barrier before line 5", types.CodeActionKind.QuickFix)
        assert action.edit is not None and action.edit.changes is not None
        text = applied(RACY, list(action.edit.changes[editor.uri]))
        assert (await editor.change(text)).diagnostics == ()
        hover = await editor.hover(line=5)
        assert hover is not None and isinstance(hover.contents, types.MarkupContent)
        assert "without this, wave 1's read of %a (line 6) can miss" in hover.contents.value
        assert await editor.hover(line=4) is None

    in_an_editor(tmp_path / "k.fp", session)


def test_a_text_that_is_being_typed_is_no_reason_to_fall_over(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        assert (await editor.open("")).diagnostics == ()
        for end in (30, 45, len(RACY) - 3):
            (found,) = (await editor.change(RACY[:end])).diagnostics
            assert str(found.code).startswith("FP1")
        (found,) = (await editor.change(RACY)).diagnostics
        assert found.code == "FP001"

    in_an_editor(tmp_path / "k.fp", session)


MODULE = """#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
!tensor = tensor<64x64xf16, #b>
!tile = !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory, mutable>
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 8192 : i32, ttg.target = "cuda:80"} {
  tt.func public @kernel(%x: !tensor) {
    %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !tile
    ttg.local_store %x, %m : !tensor -> !tile
    %y = ttg.local_load %m : !tile -> !tensor
    tt.return
  }
}
"""


def test_a_triton_module_has_findings_and_reasons_and_is_not_changed(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        (found,) = (await editor.open(MODULE)).diagnostics
        assert (found.code, found.range.start.line) == ("FP001", 7)
        assert {other.location.range.start.line for other in found.related_information or []} == {7, 8}
        assert await editor.actions(line=9) == [], "barriers of a cached module are not what gets compiled"
        mended = MODULE.replace("    %y =", "    ttg.barrier local\n    %y =")
        assert (await editor.change(mended)).diagnostics == ()
        hover = await editor.hover(line=9)
        assert hover is not None and isinstance(hover.contents, types.MarkupContent)
        assert hover.contents.value.startswith("**needed**") and "line 10" in hover.contents.value
        (broken,) = (await editor.change(MODULE.replace("local_load", "local_lode"))).diagnostics
        assert (broken.code, broken.range.start.line) == ("FP402", 8)
        allowed = MODULE.replace("-> !tensor\n", "-> !tensor  // fencepost: allow FP001: constant\n")
        assert (await editor.change(allowed)).diagnostics == ()
        hover = await editor.hover(line=9)
        assert hover is not None and isinstance(hover.contents, types.MarkupContent)
        assert "**allowed** FP001" in hover.contents.value and "constant (line 9)" in hover.contents.value

    in_an_editor(tmp_path / "k.ttgir", session)


def test_what_a_comment_allows_is_not_shown_and_said_on_hover(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        allowed = RACY.replace("  read %a", "  read %a  # fencepost: allow FP001: the tile is constant")
        assert (await editor.open(allowed)).diagnostics == ()
        assert await editor.actions(line=5) == []
        hover = await editor.hover(line=5)
        assert hover is not None and isinstance(hover.contents, types.MarkupContent)
        assert "**allowed** FP001" in hover.contents.value and "the tile is constant" in hover.contents.value
        (warned,) = (await editor.change(allowed.replace("write %a", "read %a"))).diagnostics
        assert (warned.code, warned.severity) == ("FP303", types.DiagnosticSeverity.Warning)

    in_an_editor(tmp_path / "k.fp", session)
