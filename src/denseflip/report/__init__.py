"""Showing a story: static pictures (`plot_`), interactive ones (`view_`), and a page to send.

Nothing here knows a search or a classifier: everything is drawn from a `Story`.
"""

from denseflip.report.comparison import plot_comparison
from denseflip.report.page import make_page, write_page
from denseflip.report.plot import (
    plot_circle,
    plot_connectome,
    plot_region_matrix,
    plot_regions,
)
from denseflip.report.view import View, view_connectome

__all__ = [
    "View",
    "make_page",
    "plot_circle",
    "plot_comparison",
    "plot_connectome",
    "plot_region_matrix",
    "plot_regions",
    "view_connectome",
    "write_page",
]
