"""What a search says when it ends: hints that were tried, limits told, other ways."""

from __future__ import annotations

import pytest

from denseflip import explain, make_method
from denseflip.counterfactual import Status
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.search.core.method import Method
from denseflip.search.core.refinement import BackwardRefine
from denseflip.search.methods.registry import tri
from graphs import clique, complete, empty, graph, halves, path, triangle_with_tail, two_cliques


def test_blocks_hints_at_the_stronger_move_and_that_works():
    """The target class has between one and six edges on the left; the oracle wants six of them."""
    g = empty(8)
    background = [g, graph(8, clique(0, 1, 2, 3)), graph(8, [(0, 1), (0, 7)])]
    given = {"nodes": halves(8), "background": background}

    def oracle(a):
        return int(a[:4, :4].sum() / 2 >= 6 or a[0, 7])

    weak = explain(g, oracle, "blocks", **given)
    assert weak.status is Status.EXHAUSTED
    assert "changed to the target class's mean" in weak.notes[0]
    assert "strength='full'" in weak.notes[0]
    assert explain(g, oracle, make_method("blocks", strength="full"), **given).found


def test_full_strength_hints_at_nothing_stronger():
    g, other = path(8), graph(8, [(0, 7)])
    result = explain(
        g,
        lambda a: int(a.sum() == 2 and a[0, 7]),
        make_method("blocks", strength="full"),
        nodes=halves(8),
        background=[g, other],
    )
    assert result.status is Status.EXHAUSTED
    assert "strength" not in " ".join(result.notes)


def test_a_search_that_ends_says_so_and_its_advice_is_another_method():
    result = explain(triangle_with_tail(), lambda a: 0, "tri")
    assert result.status is Status.EXHAUSTED
    assert "ran to its end (4 queries) and found no flip" in result.notes[0]
    assert "'race'" in result.notes[0]
    # Where tri goes past the flip, race finds it.
    g = two_cliques()

    def one_more(a):
        return int(a.sum() / 2 == 11)

    assert not explain(g, one_more, "tri").found
    assert explain(g, one_more, "race").distance == 1


@pytest.mark.parametrize("most", [1, 3, 7])
def test_backward_search_tells_its_limit(most):
    g, other = complete(8), empty(8)
    method = Method("x", make_method("dat").search, (BackwardRefine(max_questions=most),))
    result = explain(g, lambda a: int(a.sum() < 20), method, background=[g, other])
    assert result.refine_calls == most
    note = f"stopped at its limit of {most} queries"
    assert any(note in n for n in result.notes)
    done = explain(g, lambda a: int(a.sum() < 20), "dat+bw", background=[g, other])
    assert not any("limit" in n for n in done.notes)


def test_tri_tries_both_directions_and_takes_the_nearer():
    g = two_cliques()
    oracles = [lambda a, p=p: int(a[p]) for p in ((3, 4), (0, 1), (6, 7), (4, 5), (0, 7))]
    for oracle in oracles:
        ways = [explain(g, oracle, make_method("tri", reverse=r)) for r in (False, True)]
        both = explain(g, oracle, make_method("tri", direction="both"))
        found = [w.distance for w in ways if w.found]
        assert both.found == bool(found)
        assert both.distance == min(found)
        assert both.replay() == both.counterfactual
        assert both.notes == ()
        assert both.calls <= sum(w.calls for w in ways)
    nothing = explain(g, lambda a: 0, make_method("tri", direction="both"))
    assert nothing.status is Status.EXHAUSTED
    assert nothing.notes
    spent = explain(g, lambda a: 0, make_method("tri", direction="both"), budget=5)
    assert spent.status is Status.BUDGET
    assert spent.calls == 5


def test_the_default_tri_is_the_paper_s():
    assert (
        explain(two_cliques(), lambda a: int(a[3, 4]), "tri").edits
        == explain(two_cliques(), lambda a: int(a[3, 4]), tri()).edits
    )
    with pytest.raises(UnknownNameError, match="Unknown direction 'two'"):
        make_method("tri", direction="two")
    with pytest.raises(UnknownNameError, match=r"Unknown ties_by 'structures'\. Did you mean"):
        make_method("tri", ties_by="structures")


def test_the_slack_and_the_counts_of_cliques_can_be_set():
    for name in ("cli", "rcli"):
        search = make_method(name, slack=0, counts=1, ties="harmonic").search
        assert (search.densify.slack, search.densify.step, search.densify.ties) == (
            *(0, 1),
            "harmonic",
        )
        default = make_method(name).search.densify
        assert (default.slack, default.step) == (10, -1)
        with pytest.raises(InvalidParameterError, match="counts must be one of -1, 0, 1"):
            make_method(name, counts=2)
        with pytest.raises(InvalidParameterError, match="slack"):
            make_method(name, slack=-1)
