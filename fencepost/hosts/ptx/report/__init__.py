"""Verdicts as messages, places in files and JSON, in the names and lines of the file that is quoted."""
