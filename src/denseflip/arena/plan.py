"""The protocol of the benchmark, and the trials of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from denseflip.arena.frozen import KINDS, SMALL, Card, freeze
from denseflip.arena.peers import Missing, find_explainer, is_missing
from denseflip.arena.problem import Explainer
from denseflip.arena.trial import Contender, Side, Trial
from denseflip.datasets import Dataset
from denseflip.errors import ConfigError, DatasetError, MissingExtraError, UnknownNameError
from denseflip.experiments.plan import choose_graphs
from denseflip.runs.identity import source_digest
from denseflip.runs.sources import DataSpec, data_spec

#: Data sets of the full benchmark. The last has no planted difference, so it is at chance.
DATASETS = ("synthetic", "mice", "aut", "synthetic:strength=0")


@dataclass(frozen=True)
class Settings:
    """The settings of a run; the defaults are the protocol.

    Attributes
    ----------
    datasets, kinds, explainers : what to combine.
    graphs : graphs per data set.
    seeds : seeds of stochastic explainers.
    trainings : trainings of the classifiers that train within seconds; others have one.
    renumbered : graphs that are explained a second time with renumbered nodes.
    budget : largest number of forwards and backwards per explanation.
    seconds : time limit of one explanation.
    checkout : a folder with GRETEL's source, or None.
    """

    datasets: tuple[str, ...] = DATASETS
    kinds: tuple[str, ...] = tuple(KINDS)
    explainers: tuple[str, ...] = ()
    graphs: int = 30
    seeds: int = 5
    trainings: int = 3
    renumbered: int = 10
    budget: int = 2000
    seconds: float = 60.0
    checkout: Path | None = None


@dataclass
class ArenaPlan:
    """The trials of a run, the classifiers, what is left out and why, and where data sets are."""

    settings: Settings
    trials: list[Trial] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    skipped: list[Missing] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)


def make_arena_plan(
    settings: Settings, folder: Path, *, say: Callable[[str], object] = lambda text: None
) -> ArenaPlan:
    """Train the classifiers that a folder lacks and list the trials.

    Parameters
    ----------
    settings : what to run.
    folder : where the classifiers are kept.
    say : receives a line per classifier.
    """
    for kind in settings.kinds:
        if kind not in KINDS:
            raise UnknownNameError("kind of classifier", kind, KINDS)
    plan = ArenaPlan(settings)
    contenders = _contenders(settings, plan)
    for name in settings.datasets:
        try:
            spec, dataset = data_spec(name)
            dataset.check_shared_nodes("The benchmark")
        except DatasetError as error:
            plan.skipped.append(Missing(name, str(error)))
            continue
        plan.sources[spec.name] = name
        ids = choose_graphs(dataset, limit=settings.graphs)
        for kind in settings.kinds:
            if "strength=0" in name and kind != "linear":
                continue  # one classifier at chance is enough
            sides = _sides(spec, dataset, kind, plan, folder, say)
            for side in sides:
                for graph in ids:
                    plan.trials += _trials(side, graph, ids, contenders, settings)
    if not plan.trials:
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in plan.skipped)
        msg = f"Nothing to run ({reasons or 'no explainer fits the classifiers'})."
        raise ConfigError(msg)
    return plan


def _contenders(settings: Settings, plan: ArenaPlan) -> list[tuple[Explainer, Contender]]:
    found = []
    for name in settings.explainers:
        explainer = find_explainer(name, settings.checkout)
        if (missing := is_missing(explainer)) is not None:
            plan.skipped.append(missing)
            continue
        packages = {pip: _version(pip) for pip in explainer.needs.values()}
        if ":" in name:
            packages[name.partition(":")[0]] = source_digest(name.partition(":")[0])
        checkout = str(settings.checkout or "") if name.startswith("GRETEL") else ""
        contender = Contender(
            explainer.name, explainer.track, explainer.removal_only, packages, checkout
        )
        found.append((explainer, contender))
    return found


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _sides(
    spec: DataSpec,
    dataset: Dataset,
    kind: str,
    plan: ArenaPlan,
    folder: Path,
    say: Callable[[str], object],
) -> list[Side]:
    """The trainings of one kind of classifier on one data set; none if torch is missing."""
    cards, name = [], spec.name
    for training in range(plan.settings.trainings if kind in SMALL else 1):
        try:
            card = freeze(name, dataset, kind, training, folder)
        except MissingExtraError as error:
            plan.skipped.append(Missing(f"{name} {kind}", str(error)))
            return []
        say(
            f"{name}, {kind}, training {training}: held-out accuracy {card.held_out:.2f} on "
            f"{card.n_held_out} graphs (majority {card.majority:.2f}), weights {card.weights[:12]}"
        )
        cards.append(card)
    plan.cards += cards
    files = [(str((folder / card.file).resolve()), card.sha256) for card in cards]
    return [
        Side(
            spec,
            card,
            files[i][0],
            tuple(file for j, file in enumerate(files) if j != i),
            tuple(other.weights for j, other in enumerate(cards) if j != i),
        )
        for i, card in enumerate(cards)
    ]


def _trials(
    side: Side,
    graph: str,
    ids: Sequence[str],
    contenders: Sequence[tuple[Explainer, Contender]],
    settings: Settings,
) -> list[Trial]:
    """The trials of one graph: all explainers, seeds and, for the first graphs, numberings."""
    trials = []
    first = side.card.training == 0
    for explainer, contender in contenders:
        if explainer.kinds and side.card.kind not in explainer.kinds:
            continue
        seeds = range(settings.seeds if explainer.stochastic and first else 1)
        ways = [(seed, 0) for seed in seeds]
        if first and graph in ids[: settings.renumbered]:
            ways.append((0, 1))
        trials += [
            Trial(
                side=side,
                contender=contender,
                graph=graph,
                seed=seed,
                renumbering=renumbering,
                budget=settings.budget,
                seconds=settings.seconds,
                described=first and seed == 0 and not renumbering,
            )
            for seed, renumbering in ways
        ]
    return trials
