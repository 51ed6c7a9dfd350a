"""What the paper says in words of its results, each claim checked against ours.

Two tables: the claims of its quantitative comparison, data set by data set, and those about the
three patients of its figures. Where the paper's word is no number ("comparable", "mainly"), what
it is taken to mean stands in the table.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from denseflip.experiments.results import Row
from denseflip.experiments.tables import Table
from denseflip.story.story import Story

SPARSE = ("ohsu", "pek", "kki")
_ALL = ("edg", "tri", "cli", "rcli", "dat", "dat+bw")


@dataclass(frozen=True)
class Figures:
    """One data set's results: medians over found counterfactuals, and flip rates."""

    rows: Sequence[Row]

    def has(self, *methods: str) -> bool:
        """Whether there are results of all these methods."""
        there = {r["method"] for r in self.rows}
        return there.issuperset(methods)

    def median(self, method: str, column: str) -> float:
        """The median of a column over what a method found; infinite if it found nothing."""
        values = [
            float(r[column])
            for r in self.rows
            if r["method"] == method and r["found"] and r[column] is not None
        ]
        return statistics.median(values) if values else float("inf")

    def rate(self, method: str) -> float:
        """Flip rate in percent, both classes together."""
        found = [bool(r["found"]) for r in self.rows if r["method"] == method]
        return 100 * sum(found) / len(found)


@dataclass(frozen=True)
class Claim:
    """One claim of the paper's comparison.

    Attributes
    ----------
    text : what it says, and what that is taken to mean.
    methods : of which results are needed.
    check : whether it holds, and our figures in words.
    only : the data sets that it is about; all if empty.
    """

    text: str
    methods: tuple[str, ...]
    check: Callable[[Figures], tuple[bool, str]]
    only: tuple[str, ...] = ()
    but: tuple[str, ...] = ()


def _listed(figures: Figures, methods: Sequence[str], column: str, digits: str) -> str:
    return ", ".join(f"{m.upper()} {figures.median(m, column):{digits}}" for m in methods)


def _order(
    column: str, digits: str, low: Sequence[str], high: Sequence[str]
) -> Callable[[Figures], tuple[bool, str]]:
    """That every median of some methods is at most every one of others."""

    def check(figures: Figures) -> tuple[bool, str]:
        held = max(figures.median(m, column) for m in low) <= min(
            figures.median(m, column) for m in high
        )
        return held, _listed(figures, (*low, *high), column, digits)

    return check


def _near(column: str, a: str, b: str, factor: float) -> Callable[[Figures], tuple[bool, str]]:
    """That two medians differ by at most a factor."""

    def check(figures: Figures) -> tuple[bool, str]:
        x, y = figures.median(a, column), figures.median(b, column)
        held = max(x, y) <= factor * min(x, y)
        return held, _listed(figures, (a, b), column, ".3f")

    return check


def _rates(
    methods: Sequence[str], held: Callable[..., bool]
) -> Callable[[Figures], tuple[bool, str]]:
    def check(figures: Figures) -> tuple[bool, str]:
        rates = [figures.rate(m) for m in methods]
        words = (f"{m.upper()} {r:.0f} %" for m, r in zip(methods, rates, strict=True))
        return held(*rates), ", ".join(words)

    return check


CLAIMS = (
    Claim(
        "DAT and DAT+BW ask the oracle most often (median C)",
        ("edg", "tri", "cli", "dat", "dat+bw"),
        _order("C", ".4g", ("edg", "tri", "cli"), ("dat", "dat+bw")),
    ),
    Claim(
        "DAT+BW asks slightly more than DAT (median C, at most twice)",
        ("dat", "dat+bw"),
        lambda f: (
            f.median("dat", "C") <= f.median("dat+bw", "C") <= 2 * f.median("dat", "C"),
            _listed(f, ("dat", "dat+bw"), "C", ".4g"),
        ),
    ),
    Claim(
        "CLI finds solutions more quickly than EDG and TRI (median C)",
        ("edg", "tri", "cli"),
        _order("C", ".4g", ("cli",), ("edg", "tri")),
    ),
    Claim(
        "DAT's counterfactuals differ more from the input than those of EDG and TRI (median d%)",
        ("edg", "tri", "dat"),
        _order("d", ".3f", ("edg", "tri"), ("dat",)),
    ),
    Claim(
        "DAT+BW comes closer to the input than the other methods (median d%)",
        ("edg", "tri", "cli", "dat", "dat+bw"),
        _order("d", ".3f", ("dat+bw",), ("edg", "tri", "cli", "dat")),
    ),
    Claim(
        "A backward search after RCLI alters little (median d%, at most a tenth less)",
        ("rcli", "rcli+bw"),
        _near("d", "rcli", "rcli+bw", 1 / 0.9),
    ),
    Claim(
        "The distances of TRI and EDG are comparable (median d%, within a factor of two)",
        ("edg", "tri"),
        _near("d", "edg", "tri", 2.0),
    ),
    Claim(
        "CLI's counterfactuals are more distant than those of EDG and TRI (median d%)",
        ("edg", "tri", "cli"),
        _order("d", ".3f", ("edg", "tri"), ("cli",)),
    ),
    Claim(
        "RCLI's counterfactuals are more distant than those of EDG and TRI (median d%)",
        ("edg", "tri", "rcli"),
        _order("d", ".3f", ("edg", "tri"), ("rcli",)),
    ),
    Claim(
        "RCLI changes edges in fewer regions than CLI (median regions touched)",
        ("cli", "rcli"),
        lambda f: (
            f.median("rcli", "regions_touched") < f.median("cli", "regions_touched"),
            _listed(f, ("cli", "rcli"), "regions_touched", "g"),
        ),
    ),
    Claim(
        "DAT always flips",
        ("dat",),
        _rates(("dat",), lambda dat: dat == 100),
    ),
    Claim(
        "TRI flips more often than EDG and CLI (or as often)",
        ("edg", "tri", "cli"),
        _rates(("edg", "tri", "cli"), lambda edg, tri, cli: tri >= max(edg, cli)),
        but=SPARSE,
    ),
    Claim(
        "In the sparsest networks TRI flips less often than EDG",
        ("edg", "tri"),
        _rates(("edg", "tri"), lambda edg, tri: tri < edg),
        only=SPARSE,
    ),
    Claim(
        "In the sparsest networks CLI strikes a balance between EDG and TRI (flip rate)",
        ("edg", "tri", "cli"),
        _rates(("edg", "tri", "cli"), lambda e, t, c: min(e, t) - 1e-9 <= c <= max(e, t) + 1e-9),
        only=SPARSE,
    ),
)  # fmt: skip


def claims_table(rows: Sequence[Row], datasets: Sequence[str]) -> Table:
    """Every claim of the comparison, data set by data set, with our figures."""
    body = []
    held = 0
    for claim in CLAIMS:
        for name in claim.only or datasets:
            figures = Figures([r for r in rows if r["data"] == name])
            if name not in datasets or name in claim.but or not figures.has(*claim.methods):
                continue
            holds, words = claim.check(figures)
            held += holds
            body.append((claim.text, name.upper(), holds, words))
    note = f"{held} of {len(body)} hold."
    return Table(
        "claims",
        "What the paper says of its comparison, and whether it holds for our results",
        ("claim", "data", "holds", "ours"),
        tuple(body),
        (note,) if body else (),
    )


# ---- patients -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lobes:
    """Where one counterfactual changes a brain: shares in percent, divided by the lobes' sizes."""

    story: Story
    removed: Mapping[str, float]
    added: Mapping[str, float]

    @classmethod
    def of(cls, story: Story) -> Lobes:
        """The shares of the paper's bars."""
        from denseflip.report.charts import bar_shares
        from denseflip.report.scene import make_scene

        scene = make_scene(story, regions="lobe")
        names = scene.taxonomy.regions
        shares = bar_shares(scene, range(len(names)), by_size=True)
        removed, added = (dict(zip(names, row.tolist(), strict=True)) for row in shares)
        return cls(story, removed, added)

    def top(self, kind: str, n: int = 1) -> tuple[str, ...]:
        """The lobes with the largest shares, largest first."""
        shares = getattr(self, kind)
        return tuple(sorted((r for r in shares if shares[r] > 0), key=lambda r: -shares[r])[:n])

    def words(self, kind: str, n: int = 3) -> str:
        """The largest shares in words."""
        shares = getattr(self, kind)
        said = ", ".join(f"{r} {shares[r]:.0f} %" for r in self.top(kind, n))
        return f"{kind}: {said or 'nothing'}"

    @property
    def touched(self) -> int:
        """How many lobes are changed."""
        return sum(self.removed[r] + self.added[r] > 0 for r in self.removed)


Check = Callable[[Lobes], tuple[bool, str]]


def _top(kind: str, *names: str) -> Check:
    """That these lobes have the largest shares, in this order."""
    return lambda lobes: (lobes.top(kind, len(names)) == names, lobes.words(kind))


def _among(kind: str, *names: str) -> Check:
    """That these lobes have the largest shares, in any order."""
    return lambda lobes: (set(lobes.top(kind, len(names))) == set(names), lobes.words(kind))


def _share(kind: str, name: str, least: float = 99.99) -> Check:
    """That a lobe has at least this share; all of it by default."""
    return lambda lobes: (getattr(lobes, kind)[name] >= least, lobes.words(kind))


def _spread(kind: str, least: int) -> Check:
    def check(lobes: Lobes) -> tuple[bool, str]:
        n = sum(x > 0 for x in getattr(lobes, kind).values())
        return n >= least, f"{kind} in {n} of {len(lobes.removed)} lobes"

    return check


def _lobes(least: int) -> Check:
    return lambda lobes: (
        lobes.touched >= least,
        f"{lobes.touched} of {len(lobes.removed)} lobes changed",
    )


def _even(lobes: Lobes) -> tuple[bool, str]:
    gap = max(abs(lobes.removed[r] - lobes.added[r]) for r in lobes.removed)
    return gap <= 10, f"removed and added shares of a lobe differ by at most {gap:.0f} points"


def _edges(removed: int, added: int) -> Check:
    def check(lobes: Lobes) -> tuple[bool, str]:
        result = lobes.story.result
        found = len(result.removed), len(result.added)
        return found == (removed, added), f"{found[0]} removed, {found[1]} added"

    return check


FRONTAL, TEMPORAL, PARIETAL = "Frontal Lobe", "Temporal Lobe", "Parietal Lobe"
OCCIPITAL, INSULA, FOSSA = "Occipital Lobe", "Insula & Cingulate Gyri", "Posterior Fossa"
PATIENT_CLAIMS: tuple[tuple[str, str, str, Check], ...] = (
    ("AUT 9", "DAT", "almost the same number added and removed in each lobe", _even),
    ("AUT 9", "DAT+BW", "removes mainly in two lobes, Parietal and Temporal",
     _among("removed", PARIETAL, TEMPORAL)),
    ("AUT 9", "DAT+BW", "its additions still span many regions (at least 5)", _spread("added", 5)),
    ("AUT 9", "EDG", "changes span most of the lobes (at least 5)", _lobes(5)),
    ("AUT 9", "TRI", "mainly sparsifies the Occipital Lobe", _top("removed", OCCIPITAL)),
    ("AUT 9", "TRI", "mainly densifies the Insula & Cingulate Gyri", _top("added", INSULA)),
    ("AUT 9", "CLI", "sparsifies only the Frontal Lobe", _share("removed", FRONTAL)),
    ("AUT 9", "CLI", "adds most in the Posterior Fossa", _top("added", FOSSA)),
    ("AUT 9", "CLI", "its sentence: more in Posterior Fossa, Insula & Cingulate, Temporal Lobe",
     _among("added", FOSSA, INSULA, TEMPORAL)),
    ("BIP 9", "TRI", "10 edges removed, 10 added", _edges(10, 10)),
    ("BIP 9", "TRI", "less in the Parietal Lobe, then in the Insula & Cingulate Gyri",
     _top("removed", PARIETAL, INSULA)),
    ("BIP 9", "TRI", "more in the Posterior Fossa alone", _share("added", FOSSA)),
    ("BIP 9", "CLI", "concentrates removals in the Parietal Lobe (more than half)",
     _share("removed", PARIETAL, 50)),
    ("BIP 9", "CLI", "concentrates additions in the Posterior Fossa (more than half)",
     _share("added", FOSSA, 50)),
    ("BIP 9", "EDG", "involves all brain regions", _lobes(7)),
    ("BIP 9", "DAT", "involves all brain regions", _lobes(7)),
    ("BIP 9", "DAT+BW", "involves all brain regions", _lobes(7)),
    ("ADHD 22", "TRI", "removes in the Occipital Lobe", _share("removed", OCCIPITAL)),
    ("ADHD 22", "TRI", "adds primarily in the Temporal, also in the Frontal Lobe",
     _top("added", TEMPORAL, FRONTAL)),
    ("ADHD 22", "CLI", "removes in the Occipital Lobe", _share("removed", OCCIPITAL)),
    ("ADHD 22", "CLI", "adds in the Temporal Lobe and the Posterior Fossa",
     _among("added", TEMPORAL, FOSSA)),
)  # fmt: skip


def patient_claims(stories: Mapping[str, Mapping[str, Story]]) -> Table:
    """Every claim about the patients of the figures, with our shares."""
    body: list[tuple[str, str, str, bool, str]] = []
    known: dict[tuple[str, str], Lobes] = {}
    for patient, method, text, check in PATIENT_CLAIMS:
        story = stories.get(patient, {}).get(method)
        if story is None:
            continue
        if (patient, method) not in known:
            known[patient, method] = Lobes.of(story)
        if not story.result.found:
            body.append((patient, method, text, False, "no counterfactual found"))
            continue
        holds, words = check(known[patient, method])
        body.append((patient, method, text, holds, words))
    held = sum(row[3] for row in body)
    return Table(
        "patient-claims",
        "What the paper says of its patients, and whether it holds; shares are of changed ends, "
        "divided by the number of regions of interest in a lobe, as in its bars",
        ("patient", "method", "claim", "holds", "ours"),
        tuple(body),
        (f"{held} of {len(body)} hold.",) if body else (),
    )
