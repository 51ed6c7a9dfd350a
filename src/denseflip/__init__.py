"""Counterfactual explanations of graph classifiers in terms of dense regions.

Names are loaded on first use, so ``import denseflip`` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from denseflip._version import __version__

if TYPE_CHECKING:
    from denseflip.classifiers.crossval import evaluate as evaluate
    from denseflip.classifiers.persist import load_oracle as load_oracle
    from denseflip.classifiers.presets import fit_oracle as fit_oracle
    from denseflip.classifiers.refits import make_refits as make_refits
    from denseflip.cohort.cohort import Cohort as Cohort
    from denseflip.cohort.explain_cohort import explain_cohort as explain_cohort
    from denseflip.constraints import Constraints as Constraints
    from denseflip.counterfactual import Counterfactual as Counterfactual
    from denseflip.counterfactual import Step as Step
    from denseflip.datasets import Dataset as Dataset
    from denseflip.datasets import load_dataset as load_dataset
    from denseflip.errors import DenseflipError as DenseflipError
    from denseflip.experiments.explain_many import explain_many as explain_many
    from denseflip.graph import Edits as Edits
    from denseflip.graph import Graph as Graph
    from denseflip.graph import Nodes as Nodes
    from denseflip.oracles.adapt import as_oracle as as_oracle
    from denseflip.oracles.background import Background as Background
    from denseflip.oracles.open import open_oracle as open_oracle
    from denseflip.report.cohort_page import write_cohort_page as write_cohort_page
    from denseflip.report.cohort_pictures import plot_cohort_chords as plot_cohort_chords
    from denseflip.report.cohort_pictures import plot_cohort_matrix as plot_cohort_matrix
    from denseflip.report.cohort_pictures import plot_cohort_patients as plot_cohort_patients
    from denseflip.report.comparison import plot_comparison as plot_comparison
    from denseflip.report.page import write_page as write_page
    from denseflip.report.plot import plot_circle as plot_circle
    from denseflip.report.plot import plot_connectome as plot_connectome
    from denseflip.report.plot import plot_region_matrix as plot_region_matrix
    from denseflip.report.plot import plot_regions as plot_regions
    from denseflip.report.reference_strip import plot_reference as plot_reference
    from denseflip.report.view import view_connectome as view_connectome
    from denseflip.request import Request as Request
    from denseflip.search.core.method import conversation as conversation
    from denseflip.search.core.method import stream as stream
    from denseflip.search.explain import explain as explain
    from denseflip.search.methods.dcs import DCS as DCS
    from denseflip.search.methods.registry import make_method as make_method
    from denseflip.search.methods.registry import methods as methods
    from denseflip.story.describe import describe as describe
    from denseflip.story.story import Story as Story
    from denseflip.story.wording.vocabulary import Vocabulary as Vocabulary
    from denseflip.workflow.compare import compare as compare

_HOME = {
    "Background": "oracles.background",
    "Constraints": "constraints",
    "Cohort": "cohort.cohort",
    "Counterfactual": "counterfactual",
    "DCS": "search.methods.dcs",
    "Dataset": "datasets",
    "DenseflipError": "errors",
    "Edits": "graph",
    "Graph": "graph",
    "Nodes": "graph",
    "Request": "request",
    "Step": "counterfactual",
    "Story": "story.story",
    "Vocabulary": "story.wording.vocabulary",
    "as_oracle": "oracles.adapt",
    "compare": "workflow.compare",
    "conversation": "search.core.method",
    "describe": "story.describe",
    "evaluate": "classifiers.crossval",
    "explain": "search.explain",
    "explain_cohort": "cohort.explain_cohort",
    "explain_many": "experiments.explain_many",
    "fit_oracle": "classifiers.presets",
    "load_dataset": "datasets",
    "load_oracle": "classifiers.persist",
    "make_method": "search.methods.registry",
    "make_refits": "classifiers.refits",
    "methods": "search.methods.registry",
    "open_oracle": "oracles.open",
    "plot_circle": "report.plot",
    "plot_cohort_chords": "report.cohort_pictures",
    "plot_cohort_matrix": "report.cohort_pictures",
    "plot_cohort_patients": "report.cohort_pictures",
    "plot_comparison": "report.comparison",
    "plot_connectome": "report.plot",
    "plot_reference": "report.reference_strip",
    "plot_region_matrix": "report.plot",
    "plot_regions": "report.plot",
    "stream": "search.core.method",
    "view_connectome": "report.view",
    "write_cohort_page": "report.cohort_page",
    "write_page": "report.page",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        msg = f"module 'denseflip' has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(f"denseflip.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
