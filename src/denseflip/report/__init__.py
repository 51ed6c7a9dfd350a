"""Figures and pages of a story: static (`plot_`), interactive (`view_`), and HTML pages.

This package does not depend on searches or classifiers: it draws a `Story` or a `Cohort`. Names are
loaded when they are first used, so writing a table does not import matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from denseflip.report.cohort_page import make_cohort_page as make_cohort_page
    from denseflip.report.cohort_page import write_cohort_page as write_cohort_page
    from denseflip.report.cohort_pictures import plot_cohort_chords as plot_cohort_chords
    from denseflip.report.cohort_pictures import plot_cohort_matrix as plot_cohort_matrix
    from denseflip.report.cohort_pictures import plot_cohort_patients as plot_cohort_patients
    from denseflip.report.comparison import plot_comparison as plot_comparison
    from denseflip.report.page import make_page as make_page
    from denseflip.report.page import write_page as write_page
    from denseflip.report.plot import plot_circle as plot_circle
    from denseflip.report.plot import plot_connectome as plot_connectome
    from denseflip.report.plot import plot_region_matrix as plot_region_matrix
    from denseflip.report.plot import plot_regions as plot_regions
    from denseflip.report.reference_strip import plot_reference as plot_reference
    from denseflip.report.view import View as View
    from denseflip.report.view import view_connectome as view_connectome

_HOME = {
    name: module
    for module, names in {
        "cohort_page": ("make_cohort_page", "write_cohort_page"),
        "cohort_pictures": ("plot_cohort_chords", "plot_cohort_matrix", "plot_cohort_patients"),
        "comparison": ("plot_comparison",),
        "page": ("make_page", "write_page"),
        "plot": ("plot_circle", "plot_connectome", "plot_region_matrix", "plot_regions"),
        "reference_strip": ("plot_reference",),
        "view": ("View", "view_connectome"),
    }.items()
    for name in names
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
