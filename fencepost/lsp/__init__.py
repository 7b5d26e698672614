"""Findings in an editor: `document` says what there is to say about a text, `server` speaks the protocol."""
