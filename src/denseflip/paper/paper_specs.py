"""The experiments of `denseflip paper` as specs (for the tables see `paper_tables`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from denseflip.errors import UnknownNameError
from denseflip.experiments.plan import (
    Matrix,
    Plan,
    Source,
    make_plan,
    method_spec,
    register_reading,
)
from denseflip.experiments.spec import PLAIN, ClassifierSpec, MeasureSpec
from denseflip.paper.printed import DATASETS, METHODS
from denseflip.paper.published_classifier import evaluate_published, published_oracle
from denseflip.paper.published_methods import published_distance_and_calls, published_method
from denseflip.runs.sources import Trainer, data_spec, preset_oracle, register_trainer
from denseflip.runs.spec_base import Spec

PUBLISHED = "published"

register_reading(PUBLISHED, published_method, published_distance_and_calls)
register_trainer(PUBLISHED, Trainer(published_oracle, evaluate_published))


PROFILES = (PUBLISHED, "text")


@dataclass
class PaperPlan:
    """The plan of `denseflip paper`.

    Attributes
    ----------
    profile : ``published`` or ``text``.
    sources : the data sets.
    methods : names of the methods.
    runs : the explanations, and the cells left out.
    classifiers : one evaluation per data set.
    """

    profile: str
    sources: list[Source]
    methods: list[str]
    runs: Plan
    classifiers: list[ClassifierSpec]

    @property
    def specs(self) -> list[Spec]:
        """Everything to run."""
        return [*self.classifiers, *self.runs.specs]

    @property
    def partial(self) -> list[str]:
        """The data sets of which only some graphs are explained."""
        return [s.spec.name for s in self.sources if len(s.ids) < len(s.dataset)]


def plan_paper(
    profile: str = "published",
    datasets: Sequence[str] = DATASETS,
    methods: Sequence[str] = METHODS,
    *,
    limit: int | None = None,
    measures: MeasureSpec | None = None,
    repeats: int = 10,
    permutations: int = 200,
) -> PaperPlan:
    """Plan the runs of a profile.

    Parameters
    ----------
    profile : ``published`` (what was actually run) or ``text`` (what the paper says).
    datasets, methods : those of the paper by default.
    limit : maximum number of graphs per data set; the first ones are explained.
    measures : additional measures to compute.
    repeats, permutations : of the held-out evaluation.
    """
    if profile not in PROFILES:
        raise UnknownNameError("profile", profile, PROFILES)
    for name in datasets:
        if name not in DATASETS:
            raise UnknownNameError("data set of the paper", name, DATASETS)
    for name in methods:
        if name not in METHODS:
            raise UnknownNameError("method of the paper", name, METHODS)
    reading, classifier = (PLAIN, "sf-knn") if profile == "text" else (PUBLISHED, PUBLISHED)
    oracle = preset_oracle(classifier)
    sources = []
    for name in dict.fromkeys(datasets):
        spec, dataset = data_spec(name)
        sources.append(Source(spec, dataset, dataset.ids[:limit]))
    chosen = list(dict.fromkeys(methods))
    matrix = Matrix(
        sources,
        [oracle],
        [method_spec(name, reading=reading) for name in chosen],
        measures=measures or MeasureSpec(),
        profile=profile,
    )
    judged = [
        ClassifierSpec(s.spec, oracle, repeats=repeats, permutations=permutations, profile=profile)
        for s in sources
    ]
    return PaperPlan(profile, sources, chosen, make_plan(matrix), judged)
