from __future__ import annotations

import pytest

from denseflip import DCS, explain, make_method, methods
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.search.core.method import describe_parameters
from denseflip.search.core.refinement import BackwardRefine, MinimalRefine
from denseflip.search.methods.registry import ALIASES, GROUPS, METHODS, as_method
from denseflip.search.methods.structure_blocks import CliqueSparsify
from graphs import path


def test_the_list_has_every_method_and_suffix_with_a_line_each():
    names = [m.name for m in methods()]
    assert names == [
        *(
            "auto",
            "brief",
            "tri",
            "cli",
            "rcli",
            "con",
            "blocks",
            "race",
            "best",
            "edg",
            "obs",
            "dbs",
            "dat",
            "medoid",
            "tight",
            "gradient",
        ),
        *("cell", "plex", "quasi", "core", "truss", "club", "densest", "community"),
        *("+bw", "+bw1", "+min"),
    ]
    for m in methods():
        assert 20 < len(m.summary) < 90, m
        assert m.summary[0].isupper() or m.suffix
        assert m.suffix == m.name.startswith("+")
        assert str(m).startswith(m.name)
    needs = {m.name: m.needs for m in methods() if m.needs}
    assert needs == {
        "rcli": ("regions",),
        "con": ("background",),
        "blocks": ("regions", "background"),
        "brief": ("regions", "background"),
        "dbs": ("background",),
        "dat": ("background",),
        "medoid": ("background",),
        "cell": ("regions",),
        "gradient": ("gradient",),
    }
    assert "(needs regions, background)" in str(next(m for m in methods() if m.name == "blocks"))


def test_what_a_method_needs_follows_from_its_parts():
    assert make_method("blocks+min").needs == {"regions", "background"}
    assert as_method(DCS()).needs == set()
    assert as_method(DCS(rank="contrast")).needs == {"background"}
    assert as_method(DCS(rank="regions", sparsify=CliqueSparsify(select="contrast"))).needs == {
        "regions",
        "background",
    }

    def mine(problem):
        return iter(())

    assert as_method(mine).needs == set()
    mine.needs = {"regions"}
    assert as_method(mine).needs == {"regions"}
    with pytest.raises(MissingInputError, match="'mine' needs to know which region"):
        explain(path(4), lambda a: 0, mine)


def test_names_are_forgiving_and_aliases_stand_for_methods():
    assert make_method(" TRI+Min ").name == "tri+min"
    for alias, name in ALIASES.items():
        assert make_method(alias).name == name
        assert name in METHODS


def test_suffixes_are_refinements_in_order():
    assert make_method("tri+bw+min").refiners == (BackwardRefine(), MinimalRefine())
    assert make_method("obs").refiners == (BackwardRefine(),)  # obs and dbs bring their own
    assert make_method("obs+min").refiners == (BackwardRefine(), MinimalRefine())


def test_parameters_are_checked():
    assert make_method("cli", max_iterations=3).search.max_iterations == 3
    message = "Unknown parameter of 'cli' 'max_iteration'. Did you mean 'max_iterations'"
    with pytest.raises(UnknownNameError, match=message):
        make_method("cli", max_iteration=3)
    for wrong in ({"max_cliques": 0}, {"max_cliques": "x"}, {"select": "size"}, {"ties": "x"}):
        with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
            make_method("cli", **wrong)


def test_every_parameter_of_every_method_can_be_given():
    for info in methods():
        if not info.suffix:
            assert make_method(info.name).parameters["search"]


def test_a_recipe_of_a_composition_carries_its_refinements():
    recipe = as_method(DCS(refine="min"))
    assert recipe.name == "dcs"
    assert recipe.refiners == (MinimalRefine(),)
    assert as_method(recipe) is recipe


def test_a_callable_object_is_named_by_its_class():
    class Mine:
        def __call__(self, problem):
            return ()

    assert explain(path(3), lambda a: 0, Mine()).method == "mine"


def test_parameters_are_described_plainly():
    def function():
        return None

    described = describe_parameters((1, "a", None, 2.5, [True], function, DCS()))
    assert described[:5] == [1, "a", None, 2.5, [True]]
    assert described[5]["type"].endswith("function")
    assert described[6]["type"] == "DCS"
    assert described[6]["sparsify"]["max_cliques"] == 100_000
    assert describe_parameters({1}) == "{1}"


@pytest.mark.parametrize(
    ("variant", "base", "parameters"),
    [
        ("rcli", "cli", {"rank": "regions"}),
        ("dbs", "obs", {"data_driven": True}),
        ("medoid", "dat", {"medoid": True}),
    ],
)
def test_a_variant_is_another_method_with_other_parameters(variant, base, parameters):
    one, other = make_method(variant), make_method(base, **parameters)
    assert one.search == other.search
    assert one.refiners == other.refiners
    assert (one.name, other.name) == (variant, base)
    said = next(m for m in methods() if m.name == variant)
    assert said.group == "variant"
    assert said.variant_of.startswith(f"{base} with {next(iter(parameters))}=")


def test_every_method_is_in_a_group():
    groups = {group: [m.name for m in methods() if m.group == group] for group in GROUPS}
    assert groups["variant"] == ["rcli", "dbs", "medoid"]
    assert groups["advanced"] == ["brief", "race", "best", "tight", "gradient"]
    assert groups["refinement"] == ["+bw", "+bw1", "+min"]
    assert sum(map(len, groups.values())) == len(methods())
