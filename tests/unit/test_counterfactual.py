from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from denseflip import Counterfactual, Step, explain
from denseflip.counterfactual import Ask, AsRead, Status
from denseflip.errors import FileFormatError, InvalidParameterError
from denseflip.graph import Edits
from graphs import path, triangle_with_tail

G = path(4)


def make(**facts):
    defaults = {
        "status": Status.FOUND,
        "original": G,
        "edits": Edits(added=((0, 3),), removed=((0, 1), (1, 2))),
        "label_before": "ill",
        "label_after": "well",
        "method": "tri",
        "search_calls": 5,
        "refine_calls": 2,
    }
    return Counterfactual(**{**defaults, **facts})


def test_what_follows_from_the_facts():
    result = make()
    assert result.found
    assert result.added == ((0, 3),)
    assert result.removed == ((0, 1), (1, 2))
    assert result.distance == 3
    assert result.relative_distance == 3 / 4 == G.relative_distance(result.counterfactual)
    assert result.calls == 7
    assert result.counterfactual.edges() == [(0, 3), (2, 3)]
    assert not make(status=Status.EXHAUSTED).found


def test_an_unchanged_empty_graph_has_no_distance():
    from graphs import empty

    assert make(original=empty(3), edits=Edits()).relative_distance == 0.0


def test_calls_once_the_background_is_known():
    known = Step("replace", "graph", (), Ask.KNOWN)
    assert make(search_calls=11, background_calls=10, trace=(known,)).amortised_calls == 3
    # Elsewhere the background was never among the calls, however many there were.
    assert make(search_calls=50, background_calls=10).amortised_calls == 52
    assert make(search_calls=5, background_calls=10).amortised_calls == 7


def test_the_trace_leads_to_the_result():
    steps = (
        Step("sparsify", "edge", ((0, 1), (1, 2))),
        Step("densify", "edge", ((0, 2), (0, 3))),
        Step("refine", "edge", ((0, 2),)),
    )
    result = make(trace=steps)
    assert result.replay() == result.counterfactual


def test_the_dictionary_form_leads_back():
    result = make(
        trace=(Step("sparsify", "clique", ((0, 1),), Ask.KNOWN, (0, 1), "A – B", 2),),
        parameters={"search": {"type": "X", "limit": None}},
        notes=("a remark",),
        minimal=True,
        target="well",
        background_calls=3,
        elapsed=0.25,
    )
    data = json.loads(json.dumps(result.to_dict()))
    assert Counterfactual.from_dict(data) == result
    assert data["found"] is True
    assert data["calls"] == 7
    assert data["added"] == [[0, 3]]
    assert pickle.loads(pickle.dumps(result)) == result


def test_numbers_of_other_makes_become_plain_in_a_step():
    step = Step("mine", "edge", ((np.int64(0), np.int64(1)),), nodes=(np.int32(2),))
    assert json.loads(json.dumps(step.to_dict()))["toggled"] == [[0, 1]]
    assert Step.from_dict(step.to_dict()) == step


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "it has format 99; this version of denseflip reads format 3"),
        ({"format": 2}, "it has format 2; .* Read it with the version that wrote it"),
        ({"format": "x"}, "it has format 'x'"),
        ({"format": None}, "it has no format"),
        ({"status": "lost"}, "status must be one of 'found', .*; got 'lost'"),
        ({"original": {}}, "original: A graph's dictionary needs the keys"),
        ({"added": [[0, 3], [3, 0]]}, "The pair .0, 3. is added twice"),
        ({"added": 5}, "added must be a list; got 5"),
        ({"added": [[0, 3, 4]]}, r"added\[0\] must be a list of 2; got \[0, 3, 4\]"),
        ({"trace": [{"block": "x"}]}, r"trace\[0\]: the entries structure, toggled, .* missing"),
        (
            {"robustness": {"wanted": 1, "noise": 0, "draws": 1, "flips": 2}},
            "robustness: flips",
        ),
    ],
)
def test_what_is_no_result_is_refused(change, message):
    with pytest.raises(FileFormatError, match=f"^Not a denseflip result: .*{message}"):
        Counterfactual.from_dict({**make().to_dict(), **change})


def test_a_missing_field_is_named():
    data = make().to_dict()
    del data["seed"]
    with pytest.raises(FileFormatError, match="the entry seed is missing"):
        Counterfactual.from_dict(data)
    with pytest.raises(FileFormatError, match=r"Not a denseflip result"):
        Counterfactual.from_dict({})


def test_a_result_cannot_be_changed():
    result = make()
    with pytest.raises(AttributeError):
        result.status = Status.EXHAUSTED
    with pytest.raises(AttributeError):
        Step("a", "b", ()).block = "c"


def test_it_shows_itself_in_a_terminal_and_in_a_notebook():
    result = make(method="cli+min", minimal=True, notes=("a <remark>",), background_calls=4)
    text = str(result)
    for part in (
        "cli+min",
        "found",
        "'ill' → 'well'",
        "1 added, 2 removed",
        "5 search",
        "certified",
    ):
        assert part in text
    page = result._repr_html_()
    assert "<table>" in page
    assert "a &lt;remark&gt;" in page
    assert "a <remark>" not in page
    assert repr(result) == "Counterfactual('found', method='cli+min', distance=3, calls=7)"
    assert "not certified" in str(make(minimal=False))


def test_a_real_result_shows_itself():
    result = explain(triangle_with_tail(), lambda a: int(a[0, 1]), "cli+min")
    assert "1-minimal" in str(result)
    assert "Counterfactual by cli+min, seed 0" in str(result)


def test_truth_as_read_and_the_front_are_kept_with_the_result():
    test = AsRead("regions", "lobe", "typical", draws=20, flips=18)
    assert test.true
    assert test.share == 0.9
    one = make(as_read=test, chosen="brief")
    result = make(as_read=test, chosen="brief", front=(one, make()))
    again = Counterfactual.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again == result
    assert again.front[0].as_read == test


def test_what_cannot_be_as_read_is_refused():
    assert not AsRead("regions", "lobe", "any", 20, 17).true
    assert not AsRead("nodes", None, "any", 0, 0).true
    assert AsRead("nodes", None, "any", 0, 0).share is None
    assert AsRead("pairs", None, "any", 0, 0).true
    for wrong in (("words", None, "any", 1, 1), ("nodes", None, "all", 1, 1)):
        with pytest.raises(InvalidParameterError, match="must be one of"):
            AsRead(*wrong)
    with pytest.raises(InvalidParameterError, match=r"from 0 to draws \(2\); got 3"):
        AsRead("nodes", None, "any", 2, 3)
