"""What people and programs read: diagnostics with the source underlined, sentences, JSON."""
