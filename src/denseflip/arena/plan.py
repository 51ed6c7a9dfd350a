"""The protocol of the benchmark, and the trials of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from denseflip.arena.frozen import KINDS, SMALL, Card, freeze
from denseflip.arena.peers import Missing, find_explainer, is_missing
from denseflip.arena.problem import Explainer
from denseflip.arena.trial import Contender, Side, Trial
from denseflip.datasets import Dataset
from denseflip.errors import ConfigError, DatasetError, MissingExtraError, UnknownNameError
from denseflip.experiments.plan import choose_graphs
from denseflip.runs.identity import source_digest
from denseflip.runs.sources import DataSpec, data_spec

#: Data sets of the full benchmark and the kinds of classifiers on each. One is planted, one is
#: accurate on real data, one is real and hard, and the last has no difference: it is at chance.
PROTOCOL: Mapping[str, tuple[str, ...]] = {
    "synthetic": ("linear", "gin"),
    "mice": ("linear", "gcn"),
    "aut": ("gin",),
    "synthetic:strength=0": ("linear",),
}


#: The settings of the short form.
SHORT: Mapping[str, Any] = {
    "sides": {"synthetic": ("linear", "gin"), "mice": ("linear",)},
    "graphs": 2,
    "repeated": 1,
    "slow": 1,
    "seeds": 2,
    "trainings": 2,
    "budget": 500,
    "seconds": 20.0,
}


@dataclass(frozen=True)
class Settings:
    """The settings of a run; the defaults are the protocol.

    Attributes
    ----------
    sides : data set → the kinds of classifiers on it.
    explainers : the explainers.
    graphs : graphs per data set.
    repeated : graphs that are explained again: with other seeds, with renumbered nodes, and on the
        other trainings.
    slow : graphs that slow explainers run on, once.
    seeds : seeds of stochastic explainers.
    trainings : trainings of each classifier. The networks of the other trainings are not explained;
        they only test whether an answer holds for them too.
    budget : largest number of forwards and backwards per explanation.
    seconds : limit of the processor time of one explanation.
    checkout : a folder with GRETEL's source, or None.
    """

    sides: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(PROTOCOL))
    explainers: tuple[str, ...] = ()
    graphs: int = 30
    repeated: int = 4
    slow: int = 3
    seeds: int = 5
    trainings: int = 3
    budget: int = 2000
    seconds: float = 30.0
    checkout: Path | None = None


def choose_sides(
    known: Mapping[str, tuple[str, ...]], datasets: Sequence[str], kinds: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Data set → kinds of classifiers, of what a user names.

    Parameters
    ----------
    known : the usual ones.
    datasets : data sets, also with their kinds (``mice@linear@gcn``); empty for the usual ones.
    kinds : kinds of classifiers; empty for the usual ones of each data set, or all.

    Examples
    --------
    >>> choose_sides({"mice": ("gcn",), "aut": ("gin",)}, ["mice", "aut@knn"], ())
    {'mice': ('gcn',), 'aut': ('knn',)}
    """
    sides = {}
    for text in datasets or known:
        name, *own = text.split("@")
        if own and set(own) <= KINDS.keys():
            sides[name] = tuple(own)
        else:
            sides[text] = kinds or known.get(text, tuple(KINDS))
    return sides


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
    """Train the classifiers that a folder lacks and list the trials; `say` gets their accuracy."""
    for kind in {kind for kinds in settings.sides.values() for kind in kinds}:
        if kind not in KINDS:
            raise UnknownNameError("kind of classifier", kind, KINDS)
    plan = ArenaPlan(settings)
    contenders = _contenders(settings, plan)
    for name, kinds in settings.sides.items():
        try:
            spec, dataset = data_spec(name)
            dataset.check_shared_nodes("The benchmark")
        except DatasetError as error:
            plan.skipped.append(Missing(name, str(error)))
            continue
        plan.sources[spec.name] = name
        ids = choose_graphs(dataset, limit=settings.graphs)
        again = choose_graphs(dataset, limit=min(settings.repeated, len(ids)))
        few = choose_graphs(dataset, limit=min(settings.slow, len(ids)))
        for kind in kinds:
            for side in _sides(spec, dataset, kind, plan, folder, say):
                for one in contenders:
                    plan.trials += _trials(side, one, settings, few if one[0].slow else ids, again)
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
    for training in range(plan.settings.trainings):
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
        if not i or kind in SMALL
    ]


def _trials(
    side: Side,
    one: tuple[Explainer, Contender],
    settings: Settings,
    ids: Sequence[str],
    again: Sequence[str],
) -> list[Trial]:
    """The trials of one explainer: all graphs once and, for some, other seeds and numberings."""
    explainer, contender = one
    if explainer.kinds and side.card.kind not in explainer.kinds:
        return []
    again = () if explainer.slow else again
    if side.card.training:
        ways = [(graph, 0, 0) for graph in again]
    else:
        seeds = range(1, settings.seeds if explainer.stochastic else 1)
        ways = [(graph, 0, 0) for graph in ids]
        ways += [(graph, seed, 0) for graph in again for seed in seeds]
        ways += [(graph, 0, 1) for graph in again]
    return [
        Trial(
            side=side,
            contender=contender,
            graph=graph,
            seed=seed,
            renumbering=renumbering,
            budget=settings.budget,
            seconds=settings.seconds,
            described=not (side.card.training or seed or renumbering),
        )
        for graph, seed, renumbering in ways
    ]
