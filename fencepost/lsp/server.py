"""The language server: diagnostics while one types, reasons on hover, fixes as code actions.

A text is looked at in a thread of its own, one text after the other; of a text that changes faster than it is looked
at, the versions in between are left out.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote, urlparse

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from fencepost.ir.source import Span
from fencepost.ir.text_changes import TextChange
from fencepost.lsp.document import Document, Finding, read_document
from fencepost.report.diagnostics import Diagnostic
from fencepost.version import __version__

SETTLES = 0.2
"""Seconds without a change after which a text is looked at."""
SEVERITIES = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}


class Server(LanguageServer):
    """What is known about the texts that are open."""

    def __init__(self) -> None:
        super().__init__("fencepost", __version__)
        self.documents: dict[str, tuple[int | None, Document]] = {}
        self.worker = ThreadPoolExecutor(max_workers=1)

    async def look(self, uri: str) -> None:
        """Look at a text as it is now, and publish what there is to say about it."""
        version = self.workspace.get_text_document(uri).version
        await asyncio.sleep(SETTLES)
        text = self.workspace.get_text_document(uri)
        if text.version != version:
            return  # a later change looks at it
        document = await asyncio.get_running_loop().run_in_executor(
            self.worker, read_document, unquote(urlparse(uri).path), text.source
        )
        if self.workspace.get_text_document(uri).version != version:
            return
        self.documents[uri] = (version, document)
        found = [_diagnostic(finding.diagnostic, uri) for finding in document.findings]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def known(self, uri: str) -> Document:
        """What is known about a text as it is now; nothing, if it has changed since it was looked at."""
        version, document = self.documents.get(uri, (None, Document()))
        return document if version == self.workspace.get_text_document(uri).version else Document()


def make_server() -> Server:
    """A server that answers."""
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        await server.look(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        await server.look(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.documents.pop(uri, None)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        reason = server.known(params.text_document.uri).reason_at(params.position.line + 1)
        if reason is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, reason.markdown)
        return types.Hover(content, range_of(reason.span))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def fixes(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        findings = server.known(uri).findings
        return [action for finding in findings for action in _actions(finding, uri, params.range)]

    return server


def range_of(span: Span) -> types.Range:
    """A stretch of text as the protocol counts it: from 0."""
    return types.Range(
        types.Position(span.line - 1, span.column - 1), types.Position(span.end_line - 1, span.end_column - 1)
    )


def _diagnostic(found: Diagnostic, uri: str) -> types.Diagnostic:
    """A message at its first place, with the others beside it."""
    marks = [mark for mark in found.marks if mark.span is not None]
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
    notes = [f"{name}: {text}" for name, text in found.notes]
    return types.Diagnostic(
        range_of(marks[0].span) if marks and marks[0].span else nowhere,
        "\n".join([found.title, *notes]),
        severity=SEVERITIES.get(found.severity, types.DiagnosticSeverity.Information),
        code=found.code,
        source="fencepost",
        related_information=[
            types.DiagnosticRelatedInformation(types.Location(uri, range_of(mark.span)), mark.text)
            for mark in marks
            if mark.span and mark.text
        ],
    )


def _actions(finding: Finding, uri: str, asked: types.Range) -> list[types.CodeAction]:
    """The fix of a finding, if the finding has to do with the lines that are asked about."""
    if finding.fix is None:
        return []
    lines = [mark.span.line - 1 for mark in finding.diagnostic.marks if mark.span is not None]
    if not any(asked.start.line <= line <= asked.end.line for line in lines):
        return []
    edits = [_edit(change) for change in finding.fix.changes]
    return [
        types.CodeAction(
            f"Fix: {finding.fix.title}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[_diagnostic(finding.diagnostic, uri)],
            edit=types.WorkspaceEdit(changes={uri: edits}),
            is_preferred=True,
        )
    ]


def _edit(change: TextChange) -> types.TextEdit:
    return types.TextEdit(range_of(change.span), change.text)
