"""The paper's claims about the three patients of its figures, each checked against our results.

Shares are those of its bars: ends of changed edges in a lobe, divided by the number of its regions
of interest. If a claim is not numeric ("mainly", "simpler"), it states our interpretation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from denseflip.experiments.table import Table
from denseflip.report.scene import Scene, make_scene
from denseflip.story.story import Story


@dataclass(frozen=True)
class Lobes:
    """Where one counterfactual changes a brain: shares in percent, divided by the lobes' sizes."""

    story: Story
    scene: Scene
    removed: Mapping[str, float]
    added: Mapping[str, float]

    @classmethod
    def of(cls, story: Story) -> Lobes:
        """The shares of the paper's bars."""
        from denseflip.report.region_charts import bar_shares

        scene = make_scene(story, regions="lobe")
        names = scene.taxonomy.regions
        shares = bar_shares(scene, range(len(names)), by_size=True)
        removed, added = (dict(zip(names, row.tolist(), strict=True)) for row in shares)
        return cls(story, scene, removed, added)

    def top(self, kind: str, n: int = 1) -> tuple[str, ...]:
        """The lobes with the largest shares, largest first."""
        shares = getattr(self, kind)
        return tuple(sorted((r for r in shares if shares[r] > 0), key=lambda r: -shares[r])[:n])

    def words(self, kind: str, n: int = 3) -> str:
        """The largest shares in words."""
        shares = getattr(self, kind)
        said = ", ".join(f"{r} {shares[r]:.0f} %" for r in self.top(kind, n))
        return f"{kind}: {said or 'nothing'}"

    def number(self, kind: str) -> int:
        """Number of lobes in which edges are removed, or added."""
        return sum(x > 0 for x in getattr(self, kind).values())

    @property
    def touched(self) -> int:
        """Number of changed lobes."""
        return sum(self.removed[r] + self.added[r] > 0 for r in self.removed)

    @property
    def both(self) -> list[float]:
        """The mean of the removed and the added share of every lobe."""
        kinds = [s for s in (self.removed, self.added) if sum(s.values()) > 0]
        return [sum(s[r] for s in kinds) / max(len(kinds), 1) for r in self.removed]

    @property
    def evenness(self) -> float:
        """How evenly the changes are spread over all lobes, from 0 (one lobe) to 1."""
        shares = [x / 100 for x in self.both if x > 0]
        return -sum(x * math.log(x) for x in shares) / math.log(len(self.removed))


@dataclass(frozen=True)
class Patient:
    """One patient: the changes of each method, and the true class."""

    methods: Mapping[str, Lobes]
    truth: str | None = None

    def some(self, names: Sequence[str]) -> dict[str, Lobes]:
        """The methods that were run and found a counterfactual."""
        return {
            m: self.methods[m]
            for m in names
            if m in self.methods and self.methods[m].story.result.found
        }


Held = tuple[bool, str]
Check = Callable[[Lobes], Held]
PatientCheck = Callable[[Patient], Held]


@dataclass(frozen=True)
class PatientClaim:
    """One claim about a patient.

    Attributes
    ----------
    patient : the patient of the figure.
    where : its section in the paper.
    methods : methods whose counterfactuals it needs; none for a claim about the patient's classes.
    text : the claim and our interpretation.
    check : returns whether it holds, and our numbers in words.
    """

    patient: str
    where: str
    methods: tuple[str, ...]
    text: str
    check: PatientCheck = field(repr=False)


# ---- checks ---------------------------------------------------------------------------------


def _one(method: str, check: Check) -> PatientCheck:
    return lambda patient: check(patient.methods[method])


def _top(kind: str, *names: str) -> Check:
    """Check that these lobes have the largest shares, in this order."""
    return lambda lobes: (lobes.top(kind, len(names)) == names, lobes.words(kind))


def _among(kind: str, *names: str) -> Check:
    """Check that these lobes have the largest shares, in any order."""
    return lambda lobes: (set(lobes.top(kind, len(names))) == set(names), lobes.words(kind))


def _share(kind: str, name: str, least: float = 99.99) -> Check:
    """Check that a lobe has at least this share; all of it by default."""
    return lambda lobes: (getattr(lobes, kind)[name] >= least, lobes.words(kind))


def _spread(lobes: Lobes) -> Held:
    number = lobes.number("added")
    return number >= 5, f"added in {number} of {len(lobes.removed)} lobes"


def _lobes(least: int) -> Check:
    return lambda lobes: (
        lobes.touched >= least,
        f"{lobes.touched} of {len(lobes.removed)} lobes changed",
    )


def _even(lobes: Lobes) -> Held:
    gap = max(abs(lobes.removed[r] - lobes.added[r]) for r in lobes.removed)
    return gap <= 10, f"removed and added shares of a lobe differ by at most {gap:.0f} points"


def _edges(removed: int, added: int) -> Check:
    def check(lobes: Lobes) -> Held:
        result = lobes.story.result
        found = len(result.removed), len(result.added)
        return found == (removed, added), f"{found[0]} removed, {found[1]} added"

    return check


def _classes(before: str, after: str) -> Check:
    """Check the class of the patient and that of the counterfactual."""

    def check(lobes: Lobes) -> Held:
        names, result = lobes.story.class_names, lobes.story.result
        found = names[result.label_before], names[result.label_after]
        return found == (before, after), f"{found[0]}; {found[1]}"

    return check


def _joined(*names: str) -> Check:
    """Check that most added edges have both ends in these lobes."""

    def check(lobes: Lobes) -> Held:
        scene = lobes.scene
        regions = scene.taxonomy.regions
        tally = scene.cells.tally(scene.added)
        inside = sum(n for (a, b), n in tally.items() if {regions[a], regions[b]} <= set(names))
        total = sum(tally.values())
        held = bool(total) and 2 * inside > total
        return held, f"{inside} of {total} added edges have both ends in these lobes"

    return check


def _right(patient: Patient) -> Held:
    lobes = next(iter(patient.methods.values()))
    given = lobes.story.class_names[lobes.story.result.label_before]
    return given == patient.truth, f"classified as {given}; in the data set {patient.truth}"


def _differ(patient: Patient) -> Held:
    """Check that no two methods remove most and add most in the same lobes."""
    main = {
        name: (lobes.top("removed"), lobes.top("added"))
        for name, lobes in patient.some(DRAWN).items()
    }
    words = "; ".join(
        f"{name} {'/'.join(''.join(x) or 'nothing' for x in tops)}" for name, tops in main.items()
    )
    return len(set(main.values())) == len(main), f"most removed/added: {words}"


def _dat_most_complex(patient: Patient) -> Held:
    every = patient.some(DRAWN)
    dat = every["DAT"]
    held = all(dat.touched >= o.touched and dat.evenness >= o.evenness for o in every.values())
    words = ", ".join(f"{m} {o.touched} ({o.evenness:.2f})" for m, o in every.items())
    return held, f"lobes changed (evenness): {words}"


def _fewer(simple: Sequence[str], others: Sequence[str], kind: str = "") -> PatientCheck:
    """Check that each of some methods changes fewer lobes than each of others."""

    def check(patient: Patient) -> Held:
        every = patient.some((*simple, *others))
        count = {m: o.number(kind) if kind else o.touched for m, o in every.items()}
        held = max(count[m] for m in simple) < min(count[m] for m in others)
        words = ", ".join(f"{m} {n}" for m, n in count.items())
        return held, f"lobes {kind or 'changed'}: {words}".replace(
            "lobes removed", "lobes with removals"
        )

    return check


def _concentrated(patient: Patient) -> Held:
    """Check that two lobes contain more than half of the changes of TRI, and of CLI."""
    held = {m: sum(sorted(o.both)[-2:]) for m, o in patient.some(("TRI", "CLI")).items()}
    words = ", ".join(f"{m} {x:.0f} %" for m, x in held.items())
    return min(held.values()) > 50, f"in the two lobes with most: {words}"


def _alike(patient: Patient) -> Held:
    """Check that TRI and CLI remove most, and add most, in the same lobes."""
    both = {method: patient.methods[method] for method in ("TRI", "CLI")}
    words = "; ".join(
        f"{m} {o.words('removed', 1)}, {o.words('added', 1)}" for m, o in both.items()
    )
    return len({(o.top("removed"), o.top("added")) for o in both.values()}) == 1, words


# ---- claims ---------------------------------------------------------------------------------

FRONTAL, TEMPORAL, PARIETAL = "Frontal Lobe", "Temporal Lobe", "Parietal Lobe"
OCCIPITAL, INSULA, FOSSA = "Occipital Lobe", "Insula & Cingulate Gyri", "Posterior Fossa"
TYPICAL, AUTISM = "Typically Developed", "Autism Spectrum Disorder"
BASE = ("EDG", "DAT", "DAT+BW")
DRAWN = ("EDG", "TRI", "CLI", "RCLI", "DAT", "DAT+BW")
NEEDED = ("EDG", "TRI", "CLI", "DAT", "DAT+BW")  # RCLI where it was run
ALL = "§5.4, first paragraph"
AUT, BIP, ADHD = (f"§5.4, {name} Dataset" for name in ("AUT", "BIP", "ADHD"))


def _said(patient: str, where: str, method: str, text: str, check: Check) -> PatientClaim:
    return PatientClaim(patient, where, (method,), text, _one(method, check))


PATIENT_CLAIMS: tuple[PatientClaim, ...] = (
    PatientClaim("AUT 9", ALL, (), "the classifier is right about the patient", _right),
    _said("AUT 9", AUT, "CLI", "classified as Autism Spectrum Disorder; the counterfactual as "
          "Typically Developed", _classes(AUTISM, TYPICAL)),
    PatientClaim("AUT 9", AUT, NEEDED,
        "each method perturbs different regions (no two remove most and add most in the same "
        "lobes)", _differ),
    PatientClaim("AUT 9", AUT, NEEDED,
        "DAT's explanation is the most complex (most lobes, most evenly changed)",
        _dat_most_complex),
    _said("AUT 9", AUT, "DAT", "almost the same number added and removed in each lobe (shares "
          "within 10 points)", _even),
    _said("AUT 9", AUT, "DAT+BW", "removes mainly in two lobes, Parietal and Temporal (the largest "
          "shares)", _among("removed", PARIETAL, TEMPORAL)),
    PatientClaim("AUT 9", AUT, ("DAT", "DAT+BW"),
        "the backward search leaves removals in fewer lobes than DAT has",
        _fewer(("DAT+BW",), ("DAT",), "removed")),
    _said("AUT 9", AUT, "DAT+BW", "its additions still span many regions (at least 5)",
          _spread),
    _said("AUT 9", AUT, "EDG", "changes span most of the lobes (at least 5)", _lobes(5)),
    PatientClaim("AUT 9", AUT, NEEDED,
        "TRI and CLI change fewer lobes than EDG, DAT and DAT+BW", _fewer(("TRI", "CLI"), BASE)),
    PatientClaim("AUT 9", AUT, ("TRI", "CLI"),
        "TRI and CLI concentrate most changes in the same lobes (more than half in two)",
        _concentrated),
    _said("AUT 9", AUT, "TRI", "mainly sparsifies the Occipital Lobe (largest share)",
          _top("removed", OCCIPITAL)),
    _said("AUT 9", AUT, "TRI", "mainly densifies the Insula & Cingulate Gyri (largest share)",
          _top("added", INSULA)),
    _said("AUT 9", AUT, "CLI", "sparsifies only the Frontal Lobe", _share("removed", FRONTAL)),
    _said("AUT 9", AUT, "CLI", "adds most in the Posterior Fossa (largest share)",
          _top("added", FOSSA)),
    _said("AUT 9", AUT, "CLI", "its sentence: more in the Posterior Fossa, the Insula & Cingulate "
          "Gyri and the Temporal Lobe (the largest shares)",
          _among("added", FOSSA, INSULA, TEMPORAL)),
    _said("AUT 9", "§1, on Figure 1", "CLI", "its sentence there: more between these three (most "
          "added edges have both ends in them)", _joined(FOSSA, INSULA, TEMPORAL)),
    PatientClaim("BIP 9", ALL, (), "the classifier is right about the patient", _right),
    _said("BIP 9", BIP, "TRI", "classified as Typically Developed; the counterfactual as Bipolar",
          _classes(TYPICAL, "Bipolar")),
    PatientClaim("BIP 9", BIP, NEEDED,
        "TRI and CLI are more compact: they change fewer lobes than EDG, DAT and DAT+BW",
        _fewer(("TRI", "CLI"), BASE)),
    _said("BIP 9", BIP, "TRI", "10 edges removed, 10 added", _edges(10, 10)),
    _said("BIP 9", BIP, "TRI", "less in the Parietal Lobe, then in the Insula & Cingulate Gyri "
          "(the largest shares)", _top("removed", PARIETAL, INSULA)),
    _said("BIP 9", BIP, "TRI", "more in the Posterior Fossa alone", _share("added", FOSSA)),
    _said("BIP 9", BIP, "CLI", "concentrates removals in the Parietal Lobe (more than half)",
          _share("removed", PARIETAL, 50)),
    _said("BIP 9", BIP, "CLI", "concentrates additions in the Posterior Fossa (more than half)",
          _share("added", FOSSA, 50)),
    *(_said("BIP 9", BIP, method, "involves all brain regions", _lobes(7)) for method in BASE),
    PatientClaim("ADHD 22", ALL, (), "the classifier is right about the patient", _right),
    _said("ADHD 22", ADHD, "CLI", "classified as ADHD; the counterfactual as Typically Developed",
          _classes("ADHD", TYPICAL)),
    PatientClaim("ADHD 22", ADHD, ("TRI", "CLI"),
        "TRI and CLI are quite similar (most removed, and most added, in the same lobe)",
        _alike),
    _said("ADHD 22", ADHD, "TRI", "removes in the Occipital Lobe (alone)",
          _share("removed", OCCIPITAL)),
    _said("ADHD 22", ADHD, "TRI", "adds primarily in the Temporal, also in the Frontal Lobe (the "
          "largest shares, in this order)", _top("added", TEMPORAL, FRONTAL)),
    _said("ADHD 22", ADHD, "CLI", "removes in the Occipital Lobe (alone)",
          _share("removed", OCCIPITAL)),
    _said("ADHD 22", ADHD, "CLI", "adds primarily in the Temporal Lobe (largest share)",
          _top("added", TEMPORAL)),
    _said("ADHD 22", ADHD, "CLI", "its sentence: more in the Posterior Fossa and the Temporal Lobe "
          "(the largest shares)", _among("added", TEMPORAL, FOSSA)),
    _said("ADHD 22", "supplement, second figure", "EDG", "REM 3, ADD 4", _edges(3, 4)),
    _said("ADHD 22", "supplement, second figure", "DAT", "REM 379, ADD 379", _edges(379, 379)),
    _said("ADHD 22", "supplement, second figure", "RCLI", "REM 36, ADD 33", _edges(36, 33)),
)  # fmt: skip


def patient_claims(
    stories: Mapping[str, Mapping[str, Story]], truth: Mapping[str, str] | None = None
) -> Table:
    """Check every claim about patients of the figures: patient → method → story, and true class."""
    body: list[tuple[str, str, str, str, bool, str]] = []
    known = {
        name: Patient({m: Lobes.of(s) for m, s in told.items()}, (truth or {}).get(name))
        for name, told in stories.items()
    }
    for claim in PATIENT_CLAIMS:
        patient = known.get(claim.patient)
        if patient is None or not set(claim.methods) <= set(patient.methods):
            continue
        if not claim.methods and patient.truth is None:
            continue
        who = ", ".join(claim.methods) if len(claim.methods) < len(NEEDED) else "all"
        missed = [m for m in claim.methods if not patient.methods[m].story.result.found]
        if missed:
            holds, words = False, f"no counterfactual found: {', '.join(missed)}"
        else:
            holds, words = claim.check(patient)
        body.append((claim.patient, who or "–", claim.text, claim.where, holds, words))
    held = sum(row[4] for row in body)
    return Table(
        "patient-claims",
        "The paper's claims about its patients, and whether they hold; shares are of changed ends, "
        "divided by the number of regions of interest in a lobe, as in its bars",
        ("patient", "method", "claim", "where", "holds", "ours"),
        tuple(body),
        (f"{held} of {len(body)} hold.",) if body else (),
    )
