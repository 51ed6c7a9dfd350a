"""Methods of an experiment, and the registries that other packages may add to."""

import subprocess
import sys

import pytest

from denseflip.errors import UnknownNameError
from denseflip.experiments import plan
from denseflip.experiments.plan import (
    build_method,
    distance_and_calls,
    method_spec,
    register_reading,
)
from denseflip.experiments.spec import MethodSpec
from denseflip.graph import Graph
from denseflip.search.explain import explain
from denseflip.search.methods.registry import make_method

TRIANGLE = Graph.from_edges(4, [(0, 1), (0, 2), (1, 2)])


@pytest.fixture
def own(monkeypatch):
    """Copies of the registries, so that a test may add to them."""
    for name in ("MAKERS", "READINGS"):
        monkeypatch.setattr(plan, name, dict(getattr(plan, name)))


def test_the_plain_reading_is_the_librarys_own():
    result = explain(TRIANGLE, lambda a: int(a[0, 1]), build_method(method_spec("tri")))
    assert distance_and_calls(result) == (result.relative_distance, result.calls)
    assert method_spec("tri").reading == "plain"


def test_a_reading_of_ones_own(own):
    def slow(name, **parameters):
        return make_method(name, max_iterations=1, **parameters)

    register_reading("slow", slow, lambda result: (0.0, 7))
    spec = method_spec("tri", reading="slow")
    assert spec.resolved["search"]["max_iterations"] == 1
    result = explain(TRIANGLE, lambda a: int(a[0, 1]), build_method(spec))
    assert distance_and_calls(result, "slow") == (0.0, 7)


def test_unknown_names_are_said_to_be_unknown():
    with pytest.raises(UnknownNameError, match="reading"):
        build_method(MethodSpec("tri", reading="backwards"))


def test_a_plug_in_is_imported_when_a_name_asks_for_it():
    code = (
        "import sys\n"
        "from denseflip.errors import UnknownNameError\n"
        "from denseflip.experiments.plan import READINGS, method_spec\n"
        "from denseflip.runs.sources import PLUG_INS\n"
        "method_spec('tri')\n"
        "assert not any(m in sys.modules for m in PLUG_INS)\n"
        "before = len(READINGS)\n"
        "try:\n    method_spec('tri', reading='no such reading')\n"
        "except UnknownNameError:\n    pass\n"
        "assert all(m in sys.modules for m in PLUG_INS)\n"
        "assert len(READINGS) > before\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
