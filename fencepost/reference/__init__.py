"""The seeds' own algorithms, kept to compare with: `wave` (windows, dependencies, counts) and `membar` (Triton's).

They are public by the seeds' names. Nothing in the pipeline uses them; the tests compare what they give with what
`analysis` and `placement` find.
"""
