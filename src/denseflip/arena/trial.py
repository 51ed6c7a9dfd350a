"""One trial: an explainer, a frozen classifier, a graph, a seed; run by any engine, kept by id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from denseflip.arena.child import CHILD
from denseflip.arena.frozen import Card
from denseflip.arena.judge import Judge
from denseflip.runs.identity import versions
from denseflip.runs.result_store import CHECKS, Record, make_record
from denseflip.runs.sources import DataSpec, OracleSpec, load_data
from denseflip.runs.spec_base import Listener, Spec

KIND = "trial"


@dataclass(frozen=True)
class Side:
    """A data set and a frozen classifier: what the trials of one explainer share.

    Attributes
    ----------
    data : the data set.
    card : the classifier.
    path : its file.
    others : files and hashes of its other trainings.
    other_weights : the hashes of their weights.
    """

    data: DataSpec
    card: Card
    path: str = field(compare=False)
    others: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    other_weights: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contender:
    """An explainer in a run: its name, and what its answers depend on besides denseflip.

    Attributes
    ----------
    name : its name.
    track, removal_only : see `Explainer`.
    packages : package → version, and the digest of a user's source file.
    checkout : the folder of GRETEL, if it is needed.
    """

    name: str
    track: str
    removal_only: bool
    packages: Mapping[str, str]
    checkout: str = field(default="", compare=False)


@dataclass(frozen=True)
class Trial(Spec):
    """One explainer on one graph.

    Attributes
    ----------
    side, contender : the classifier and the explainer.
    graph : id of the graph.
    seed : seed of the explainer.
    renumbering : seed of a random numbering of the nodes; 0 for the data set's.
    budget : the largest number of forwards and backwards.
    seconds : time limit.
    described : whether to take the measures of the sentence.
    """

    side: Side
    contender: Contender
    graph: str
    seed: int
    renumbering: int
    budget: int
    seconds: float
    described: bool

    together = True

    @property
    def sources(self) -> tuple[DataSpec, OracleSpec]:
        """The data set and the classifier."""
        card = self.side.card
        name = f"{card.kind} {card.training}"
        return self.side.data, OracleSpec(name, "file", card.sha256, ref=self.side.path)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything the result depends on."""
        card = self.side.card
        return {
            "kind": KIND,
            "data": {"name": self.side.data.name, "digest": self.side.data.digest},
            "oracle": {"kind": card.kind, "training": card.training, "weights": card.weights},
            "others": list(self.side.other_weights),
            "explainer": self.contender.name,
            "track": self.contender.track,
            "removal_only": self.contender.removal_only,
            "packages": dict(self.contender.packages),
            "graph": self.graph,
            "seed": self.seed,
            "renumbering": self.renumbering,
            "budget": self.budget,
            "seconds": self.seconds,
            "described": self.described,
            "versions": dict(versions()),
        }

    @property
    def alike(self) -> object:
        """The classifier: a worker keeps it open."""
        return self.side

    @property
    def place(self) -> str:
        """Data set, classifier, explainer and graph."""
        return f"{super().place} / {self.contender.name} / {self.graph}"

    def work(self, on_event: Listener | None = None) -> Record:
        """Run the explainer in the child process of this worker, and judge its answer here."""
        side = self.side
        reply = CHILD.solve(self)
        row = _judge(side).judge(self.graph, reply, described=self.described)
        times = {"search": reply.seconds, "training": reply.training_seconds}
        return make_record(self.identity, result=row, times=times)


@lru_cache(maxsize=2)
def _judge(side: Side) -> Judge:
    return Judge(load_data(side.data), side.path, side.card.sha256, side.others)


def _is_complete(record: Record) -> bool:
    """Whether the record of a trial has what the tables need."""
    spec, result, times = record["spec"], record.get("result"), record.get("times")
    return (
        {"data", "oracle", "explainer", "track", "graph", "seed", "renumbering"} <= spec.keys()
        and isinstance(result, dict)
        and isinstance(result.get("found"), bool)
        and "calls" in result
        and isinstance(times, dict)
        and isinstance(times.get("search"), (int, float))
    )


CHECKS[KIND] = _is_complete
