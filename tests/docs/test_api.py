"""The public names, pinned: to change one is a decision, not an accident."""

from __future__ import annotations

import importlib
import inspect

import pytest

import denseflip
from denseflip.workflow.compare import COMPARED

NAMES = [
    "Background",
    "Cohort",
    "Constraints",
    "Counterfactual",
    "DCS",
    "Dataset",
    "DenseflipError",
    "Edits",
    "Graph",
    "Nodes",
    "Request",
    "Step",
    "Story",
    "Vocabulary",
    "__version__",
    "as_oracle",
    "compare",
    "conversation",
    "describe",
    "evaluate",
    "explain",
    "explain_cohort",
    "explain_many",
    "fit_oracle",
    "load_dataset",
    "load_oracle",
    "make_method",
    "make_refits",
    "methods",
    "open_oracle",
    "plot_circle",
    "plot_cohort_chords",
    "plot_cohort_matrix",
    "plot_cohort_patients",
    "plot_comparison",
    "plot_connectome",
    "plot_reference",
    "plot_region_matrix",
    "plot_regions",
    "stream",
    "view_connectome",
    "write_cohort_page",
    "write_page",
]


def parameters(function):
    out = []
    for p in inspect.signature(function).parameters.values():
        star = "*" if p.kind is p.KEYWORD_ONLY else ""
        default = "" if p.default is p.empty else f"={p.default!r}"
        out.append(f"{star}{p.name}{default}")
    return out


def test_the_public_names_are_these():
    assert sorted(denseflip.__all__) == NAMES
    assert dir(denseflip) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_name_can_be_had_and_is_explained(name):
    thing = getattr(denseflip, name)
    assert isinstance(thing, str) or (inspect.getdoc(thing) or "").strip()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'explian'"):
        denseflip.explian  # noqa: B018


def test_a_module_that_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"denseflip\.story\.nothing"):
        importlib.import_module("denseflip.story.nothing")


OPTIONS = [
    "*parameters=None",
    "*target=None",
    "*confidence=None",
    "*information='auto'",
    "*regions=None",
    "*language=None",
    "*max_cells=None",
    "*objective=None",
    "*in_range=None",
    "*balance=None",
    "*reference=None",
    "*vocabulary='auto'",
    "*share=0.0",
    "*constraints=None",
    "*robust=None",
    "*noise=None",
    "*stable=None",
    "*plausible=False",
    "*max_implausible=None",
    "*n=1",
    "*front=False",
    "*budget=None",
    "*time_limit=None",
    "*seed=0",
    "*confirm=1",
    "*request=None",
]


def test_explain_is_called_like_this():
    assert parameters(denseflip.explain) == [
        "graph",
        "oracle",
        "method='auto'",
        "*nodes=None",
        "*background=None",
        "*refits=None",
        "*batch=64",
        "*on_event=None",
        *OPTIONS,
    ]


def test_compare_is_called_like_this():
    per_method = (
        "*parameters",
        "*language",
        "*objective",
        "*in_range",
        "*balance",
        "*reference",
        "*front",
        "*stable",
        "*information",
        "*n=",
    )
    assert parameters(denseflip.compare) == [
        "graph",
        "oracle",
        f"methods={COMPARED!r}",
        "*nodes=None",
        "*background=None",
        "*subject=None",
        "*true_class=None",
        "*class_names=None",
        "*evaluation=None",
        "*progress=None",
        "*on_event=None",
        *(option for option in OPTIONS if not option.startswith(per_method)),
    ]


def test_as_oracle_is_called_like_this():
    assert parameters(denseflip.as_oracle) == [
        "model",
        "input='auto'",
        "*batch=False",
        "*features=None",
        "*nodes=None",
        "*output=None",
        "*device=None",
        "*max_batch=None",
        "*class_names=None",
    ]


def test_dcs_is_called_like_this():
    assert parameters(denseflip.DCS) == [
        "rank='triangles'",
        "sparsify='clique'",
        "densify='clique'",
        "schedule='alternate'",
        "refine=()",
        "max_iterations=200",
        "questions='each'",
    ]


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (
            "Graph",
            "codes degrees digest distance edges from_adjacency from_dict from_edges from_networkx "
            "from_sparse has_edge n_edges n_nodes n_pairs named names pairs relative_distance "
            "to_adjacency to_dict to_networkx to_sparse toggle",
        ),
        (
            "Nodes",
            "check_fits coordinates from_dict from_groups from_networkx n_nodes names "
            "numbered ordered read_csv regions taxonomies taxonomy to_dict write_csv",
        ),
        ("Edits", "added apply between inverse only pairs removed"),
        (
            "Counterfactual",
            "added amortised_calls background_calls calls counterfactual distance distinct_calls "
            "edits elapsed found from_dict iterations label_after label_before method minimal "
            "notes original parameters refine_calls relative_distance removed replay "
            "search_calls seed status target to_dict trace",
        ),
        ("Step", "ask block from_dict iteration name nodes structure to_dict toggled"),
    ],
)
def test_the_core_types_have_these_parts(owner, names):
    cls = getattr(denseflip, owner)
    have = set(dir(cls)) | set(getattr(cls, "__dataclass_fields__", ()))
    assert not set(names.split()) - have
