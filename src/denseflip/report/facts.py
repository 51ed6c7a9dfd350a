"""Facts about a story, a method, a classifier and a data set, as readable lines and labels."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from denseflip._version import __version__
from denseflip.classifiers.evaluation import Confounding
from denseflip.report.front import language_words, warning_of
from denseflip.report.html import Fact
from denseflip.report.scene import status_words
from denseflip.story.wording.badge import TRUE, distrust_words, judged_better
from denseflip.story.wording.marks import marks_of_story, retrained_words

if TYPE_CHECKING:
    from denseflip.story.story import Story

_PACKAGES = ("numpy", "scikit-learn", "nilearn", "matplotlib")
_UNSET = "not set"
_SHOWN = ("preset", "features", "estimator", "dataset", "task", "n_graphs", "n_nodes", "seed")


@dataclass(frozen=True)
class Confused:
    """One true class: how often its held-out graphs got each answer."""

    term: str
    counts: tuple[int, ...]


@dataclass(frozen=True)
class ClassifierCard:
    """A classifier and its performance on held-out graphs.

    Attributes
    ----------
    about : its settings and training data.
    figures : its held-out performance; empty if it was never evaluated.
    verdict, better : the conclusion, and whether it is better than chance.
    warning : why not to trust it, or empty.
    confusion : one row per true class.
    counted : the caption of `confusion`.
    """

    about: tuple[Fact, ...]
    figures: tuple[Fact, ...] = ()
    verdict: str = ""
    better: bool = False
    warning: str = ""
    confusion: tuple[Confused, ...] = ()
    counted: str = ""


def as_mapping(value: Any) -> dict[str, Any]:
    """A card or an evaluation as a dictionary; empty for anything else."""
    if value is None:
        return {}
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    elif hasattr(value, "card") and not isinstance(value, Mapping):
        value = value.card
    return dict(value) if isinstance(value, Mapping) else {}


def classifier_card(card: Any, evaluation: Any) -> ClassifierCard:
    """The card of a classifier: its dictionary or the fitted oracle, and its evaluation if any."""
    about = as_mapping(card)
    judged = as_mapping(evaluation) or as_mapping(about.get("evaluation"))
    known = {key: about.get(key, judged.get(key)) for key in _SHOWN}
    lines = tuple(
        Fact(_plain(key), setting_words(value, unset=False))
        for key, value in known.items()
        if value is not None
    )
    if "accuracy" not in judged:
        return ClassifierCard(lines)
    return ClassifierCard(
        lines,
        _figures(judged),
        verdict=str(judged.get("verdict") or ""),
        better=judged.get("level") == "better",
        warning=str(judged.get("warning") or ""),
        confusion=_confusion(judged),
        counted=(
            "Graphs that may be part of its training data, by true class (row) and prediction "
            "(column)"
            if judged.get("protocol") == "as given"
            else "Held-out graphs by true class (row) and prediction (column), summed over repeats"
        ),
    )


def dataset_card(card: Any) -> tuple[Fact, ...]:
    """The card of a data set, line by line: entries that have a plain value."""
    lines = []
    for key, value in as_mapping(card).items():
        if isinstance(value, (list, tuple)):
            value = " ".join(map(str, value))
        if value not in (None, "", {}) and not isinstance(value, Mapping):
            lines.append(Fact(_plain(key), str(value)))
    return tuple(lines)


def _figures(data: Mapping[str, Any]) -> tuple[Fact, ...]:
    low, high = data.get("interval") or (None, None)
    seen = data.get("protocol") == "as given"
    which = "possibly training graphs" if seen else "held-out graphs"
    lines = [Fact(f"accuracy, {which}", _percent(data["accuracy"]))]
    if low is not None and high is not None:
        lines.append(Fact("95 % confidence interval", f"{_percent(low)} to {_percent(high)}"))
    for term, key, form in (
        ("always the largest class", "majority_rate", _percent),
        ("permutation test", "p_value", "p = {:.3g}".format),
        ("balanced accuracy", "balanced_accuracy", _percent),
    ):
        if data.get(key) is not None:
            lines.append(Fact(term, form(data[key])))
    lines += _confound_lines(data.get("confounds"))
    if data.get("training_accuracy") is not None and not seen:
        text = f"{_percent(data['training_accuracy'])} (no evidence: it was trained on them)"
        lines.append(Fact("accuracy, training graphs", text))
    if data.get("folds"):
        text = f"nested cross-validation, {data['folds']} folds × {data.get('repeats', 1)}"
        if data.get("permutations"):
            text += f", {data['permutations']} permutations"
        lines.append(Fact("evaluation", text))
    elif seen:
        lines.append(Fact("evaluation", "as given; it could not be retrained"))
    return tuple(lines)


def _confound_lines(data: Any) -> list[Fact]:
    """The classifier compared with its confounds, line by line."""
    if not isinstance(data, Mapping):
        return []
    found = Confounding.from_dict(data)
    how = "regressed out in each fold" if found.regressed else "not regressed out"
    name = f"accuracy, {', '.join(found.columns)} {how}"
    lines = [Fact(name, _with_interval(found.accuracy, found.interval))]
    if found.p_value is not None:
        within = "labels shuffled within sites" if found.site else "labels shuffled"
        lines.append(Fact(f"permutation test, {within}", f"p = {found.p_value:.3g}"))
    alone = _with_interval(found.alone, found.alone_interval)
    lines.append(Fact("accuracy, confounds alone", alone))
    if found.leave_site_out is not None and found.leave_site_out_interval is not None:
        text = _with_interval(found.leave_site_out, found.leave_site_out_interval)
        lines.append(
            Fact(f"accuracy on each of {found.n_sites} sites, trained on the others", text)
        )
    return lines


def _with_interval(share: float, interval: tuple[float, float]) -> str:
    low, high = map(_percent, interval)
    return f"{_percent(share)} (95 % interval {low} to {high})"


def _confusion(data: Mapping[str, Any]) -> tuple[Confused, ...]:
    matrix, classes = data.get("confusion"), data.get("class_counts")
    if not matrix or not isinstance(classes, Mapping) or len(matrix) != len(classes):
        return ()
    return tuple(Confused(str(name), tuple(row)) for name, row in zip(classes, matrix, strict=True))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


# ---- settings -----------------------------------------------------------------------------


def setting_rows(data: Mapping[str, Any], parent: str = "") -> list[Fact]:
    """Nested settings as one row per part; nested parts follow their parent.

    >>> for row in setting_rows({"search": {"type": "DCS", "rank": {"by": "degree"}, "limit": None},
    ...                          "refine": [{"type": "MinimalRefine"}], "exact": True}):
    ...     print(": ".join(row))
    search: DCS (limit not set)
    search: rank: by degree
    refine: MinimalRefine
    exact: yes
    """
    rows: list[Fact] = []
    for key, value in data.items():
        name = f"{parent}: {_plain(key)}" if parent else _plain(key)
        inner = _parts(value)
        if not inner:
            rows.append(Fact(name, setting_words(value)))
            continue
        own = {k: v for k, v in value.items() if k not in inner}
        if own:
            rows.append(Fact(name, setting_words(own)))
        rows += setting_rows(inner, name)
    return rows


def setting_words(value: Any, *, unset: bool = True) -> str:
    """A setting in one line; ``unset`` includes settings without a value.

    >>> setting_words({"name": "svm", "C": 10000, "scale": False, "seed": None})
    'svm (C 10000, scale no, seed not set)'
    >>> setting_words([]), setting_words({"type": "denseflip.search.shuffled_changes"})
    ('none', 'shuffled changes')
    """
    if value is None:
        return _UNSET
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple, set, frozenset)):
        return ", ".join(setting_words(v, unset=unset) for v in value) or "none"
    if not isinstance(value, Mapping):
        return str(value)
    head = str(value.get("name") or _short(value.get("type")))
    rest = ", ".join(
        f"{_plain(k)} {setting_words(v, unset=unset)}"
        for k, v in value.items()
        if k not in {"name", "type"} and (unset or v is not None)
    )
    return f"{head} ({rest})" if head and rest else head or rest or "none"


def _parts(value: Any) -> dict[str, Any]:
    """The nested parts among the settings of a part."""
    if not isinstance(value, Mapping):
        return {}
    return {k: v for k, v in value.items() if isinstance(v, Mapping)}


def _plain(key: object) -> str:
    return str(key).replace("_", " ")


def _short(kind: object) -> str:
    """The last part of a dotted name: a class unchanged, a function with spaces."""
    last = str(kind or "").rsplit(".", 1)[-1]
    return last if last[:1].isupper() else last.replace("_", " ")


_CHIPS = {"true": "good", "listed": "listed", "none": "plain"}  # a badge's level → its look


@dataclass(frozen=True)
class Chip:
    """A short framed label about the result, styled ``good``, ``listed`` or ``plain``.

    ``meaning`` says what it means for the reader: as a tooltip, and below a label that warns.
    """

    kind: str
    text: str
    meaning: str = ""

    @property
    def name(self) -> str:
        """The label without its figure."""
        return self.text.partition(": ")[0]

    @property
    def figure(self) -> str:
        """The figure of the label; empty if it has none."""
        return self.text.partition(": ")[2]


def badge_chip(story: Story) -> Chip:
    """How far to trust a story, in one label beside whether the sentence is true as read.

    It is the status of the search if nothing was found.
    """
    if not story.result.found:
        return Chip("plain", status_words(story))
    badge = story.badge
    doubted = judged_better(story.evaluation) is False  # readers must not overlook this
    return Chip("listed" if doubted else _CHIPS[badge.level], badge.text.removeprefix(f"{TRUE}, "))


def chips_of(story: Story, *, alone: bool = False) -> tuple[Chip, ...]:
    """The marks of a story; how the search ended if nothing was found."""
    return marks_of(story, alone=alone) or (Chip("plain", status_words(story)),)


def shown_marks(story: Story) -> tuple[Chip, ...]:
    """The marks beside the sentence, without what a line beside the sentence says already.

    That is a classifier that is not better than chance (`distrust_words`), and what follows from
    it: that a sentence which is not stable says nothing about the groups. Its mark then says only
    what was counted. What it means to be out of range, or to be no group difference, stands below
    the sentence.
    """
    marks = without_warning(marks_of(story), story)
    if not distrust_words(story.evaluation):
        return marks
    return (*marks[1:-1], replace(marks[-1], meaning=retrained_words(story))) if marks else ()


def without_warning(marks: tuple[Chip, ...], story: Story) -> tuple[Chip, ...]:
    """The marks without what the sentence on a page says itself (`Told.warning`)."""
    said = warning_of(story)
    return tuple(replace(m, meaning="") if said and m.meaning == said else m for m in marks)


def confidence_words(story: Story) -> str:
    """The classifier's confidence in its class before and after; empty if it gives none."""
    r = story.result
    if not r.found or r.confidence_before is None or r.confidence_after is None:
        return ""
    before = f"{_percent(r.confidence_before)} in {story.class_name(r.label_before)}"
    after = f"{_percent(r.confidence_after)} in {story.class_name(r.label_after)}"
    whose = " of this classifier" if distrust_words(story.evaluation) else ""
    return f"Confidence{whose}: {before} before, {after} after."


def marks_of(story: Story, *, alone: bool = False) -> tuple[Chip, ...]:
    """Each reason to trust a story, or not, with its figure; empty if nothing was found.

    Marks are green only together: if the sentence is true as read and in range and the classifier
    better than chance. A mark that fails is styled ``listed``. With ``alone``, each mark has the
    colour of its own fact, so that the same fact looks the same in every story of a comparison.
    """
    if not story.result.found:
        return ()
    passed = "good" if alone or story.badge.level == "true" else "plain"
    looks = {True: passed, False: "listed", None: "plain"}
    return tuple(Chip(looks[m.passed], m.text, m.meaning) for m in marks_of_story(story))


def decision_of(story: Story) -> Chip | None:
    """Whether the classifier is right about the graph; None if the true class is not known.

    A sentence about a wrong decision names the true class itself, so this does not repeat it.
    """
    if story.correct is False:
        told_already = story.result.found
        said = "" if told_already else f": the data set says {story.true_class}"
        return Chip("listed", f"The classifier is wrong here{said}.")
    if story.true_class is None:
        return None
    same = "Classified correctly: t" if story.correct else "T"
    return Chip("plain", f"{same}he data set says {story.true_class}.")


def tiles_of(story: Story) -> tuple[Fact, ...]:
    """The key numbers of a story."""
    r = story.result
    tiles = [
        Fact("edges removed" if r.found else "removed in the last attempt", f"{len(r.removed):,}"),
        Fact("edges added" if r.found else "added in the last attempt", f"{len(r.added):,}"),
        Fact("edits, of the edges of either graph", f"{100 * r.relative_distance:.1f} %"),
        Fact("queries to the classifier", f"{r.calls:,}"),
    ]
    if language := language_words(story):
        tiles.append(Fact("the sentence is", language))
    if r.robustness is not None and r.robustness.draws:
        low, high = r.robustness.interval
        meant = (
            f"random perturbations survived ({100 * r.robustness.noise:g} % of all pairs; "
            f"95 %: {100 * low:.0f}–{100 * high:.0f} %)"
        )
        tiles.append(Fact(meant, f"{r.robustness.flips} of {r.robustness.draws}"))
    if r.plausibility is not None and r.plausibility.implausible is not None:
        meant = "distance to the nearest real graph, relative to its class"
        tiles.append(Fact(meant, f"{r.plausibility.implausible:.2f} ×"))
    if r.minimal is not None:
        certified = Fact("every edit is needed (certified)", "1-minimal")
        tiles.append(certified if r.minimal else Fact("every edit is needed", "not certified"))
    return tuple(tiles)


@cache
def versions_words() -> str:
    """The versions of denseflip, Python and the packages that matter; found once per process."""
    numbers = [f"Python {platform.python_version()}"]
    for package in _PACKAGES:
        try:
            numbers.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return f"denseflip {__version__} ({', '.join(numbers)})"
