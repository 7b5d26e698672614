"""A kernel as a picture: one page, made from what `check`, `explain` and `insert` say.

`page_data` is everything that a page shows, as plain data. `kernel_page` makes it for one kernel: `hazard_windows`
from the analysis, `recording` and `scenarios` from runs of `check`'s own simulation, with barriers and without.
`html_page`, `svg_picture`, `png_picture` and `perfetto_trace` write files; `notebook` is what kernels and results
show in a notebook.

Nothing here decides anything: what a page says about a race, a barrier or a wait is what the rest of fencepost says.
The work is bounded, and what was left out stands on the page.
"""
