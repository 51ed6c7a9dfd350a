"""The paper's verbal claims about its comparison, each checked against our results.

If a claim is not numeric ("comparable", "slightly"), the table states our interpretation. Claims
about the patients of its figures are in `patients`.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from denseflip.experiments.results import Row
from denseflip.experiments.table import Table
from denseflip.paper.network_facts import Networks
from denseflip.paper.printed import DATASETS

SPARSE = ("ohsu", "pek", "kki")
CALLS, NEAR, CLIQUES, RATES = (f"§5.5, paragraph {i}" for i in (2, 3, 4, 5))
CUSTOM = "§4.2, on customising"
Held = tuple[bool, str]


@dataclass(frozen=True)
class Figures:
    """Results for the checks: medians over found counterfactuals, flip rates, and networks."""

    rows: Sequence[Row]
    networks: Mapping[str, Networks] = field(default_factory=dict)

    def has(self, *methods: str) -> bool:
        """Whether there are results of all these methods."""
        there = {r["method"] for r in self.rows}
        return there.issuperset(methods)

    def run(self, methods: Sequence[str]) -> list[str]:
        """The methods that have results."""
        return [m for m in methods if self.has(m)]

    def found(self, methods: Sequence[str], column: str = "found") -> list[str]:
        """The methods that found a counterfactual and have a value in the column."""
        there = {r["method"] for r in self.rows if r["found"] and r[column] is not None}
        return [m for m in methods if m in there]

    def median(self, method: str, column: str) -> float:
        """The median of a column over found counterfactuals; infinite if there are none.

        The column ``step`` is the number of edges changed per iteration.
        """
        values = [
            _value(r, column)
            for r in self.rows
            if r["method"] == method and r["found"] and _known(r, column)
        ]
        return statistics.median(values) if values else float("inf")

    def mean(self, method: str, column: str) -> float:
        """The mean of a share over found counterfactuals, in percent."""
        values = [r[column] for r in self.rows if r["method"] == method and r["found"]]
        return 100 * statistics.fmean(v for v in values if v is not None)

    def taken(self, method: str) -> float:
        """By how many percent the backward search reduces a method's median d%."""
        return 100 * (1 - self.median(f"{method}+bw", "d") / self.median(method, "d"))

    def rate(self, method: str) -> float:
        """Flip rate in percent, over both classes."""
        found = [bool(r["found"]) for r in self.rows if r["method"] == method]
        return 100 * sum(found) / len(found)


def _known(row: Row, column: str) -> bool:
    return bool(row["iterations"]) if column == "step" else row[column] is not None


def _value(row: Row, column: str) -> float:
    return row["distance"] / row["iterations"] if column == "step" else float(row[column])


@dataclass(frozen=True)
class Claim:
    """One claim of the paper's comparison.

    Attributes
    ----------
    text : the claim and our interpretation.
    where : its section in the paper.
    methods : methods whose results it needs; unless it concerns rates, they must have found
        counterfactuals. Empty for claims about the networks.
    check : returns whether it holds, and our numbers in words.
    only : the data sets that it concerns; all if empty.
    but : the data sets that it excludes.
    whole : whether it concerns all data sets together.
    rate : whether it concerns flip rates, which exist even for methods that found nothing.
    column : a measure that it needs, which may be missing.
    """

    text: str
    where: str
    methods: tuple[str, ...]
    check: Callable[[Figures], Held]
    only: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    whole: bool = False
    rate: bool = False
    column: str = "found"


def _listed(figures: Figures, methods: Sequence[str], column: str, digits: str) -> str:
    return ", ".join(f"{m.upper()} {figures.median(m, column):{digits}}" for m in methods)


def _order(
    column: str, digits: str, low: Sequence[str], high: Sequence[str]
) -> Callable[[Figures], Held]:
    """Check that every median of some methods is at most every median of others."""

    def check(figures: Figures) -> Held:
        less, more = figures.found(low), figures.found(high)
        held = max(figures.median(m, column) for m in less) <= min(
            figures.median(m, column) for m in more
        )
        return held, _listed(figures, (*less, *more), column, digits)

    return check


def _near(column: str, a: str, b: str, factor: float) -> Callable[[Figures], Held]:
    """Check that two medians differ by at most a factor."""

    def check(figures: Figures) -> Held:
        x, y = figures.median(a, column), figures.median(b, column)
        held = max(x, y) <= factor * min(x, y)
        return held, _listed(figures, (a, b), column, ".3f")

    return check


def _within(column: str, methods: Sequence[str], by: float) -> Callable[[Figures], Held]:
    """Check that medians are one, up to a share."""

    def check(figures: Figures) -> Held:
        ran = figures.found(methods)
        held = all(abs(figures.median(m, column) - 1) <= by for m in ran)
        return held, _listed(figures, ran, column, ".2f")

    return check


def _rates(
    methods: Sequence[str], held: Callable[[dict[str, float]], bool]
) -> Callable[[Figures], Held]:
    """Check a condition on the flip rates of the methods that were run."""

    def check(figures: Figures) -> Held:
        rates = {m: figures.rate(m) for m in figures.run(methods)}
        words = (f"{m.upper()} {percent(r)} %" for m, r in rates.items())
        return held(rates), ", ".join(words)

    return check


def _shares(
    figure: Callable[[Figures, str], float], less: str, more: str
) -> Callable[[Figures], Held]:
    """Check that a share of one method is below that of another."""

    def check(figures: Figures) -> Held:
        a, b = figure(figures, less), figure(figures, more)
        return a < b, f"{less.upper()} {percent(a)} %, {more.upper()} {percent(b)} %"

    return check


def _less_seen(column: str) -> Callable[[Figures], Held]:
    """Check that a share is lower in the sparsest networks than in all others."""

    def check(figures: Figures) -> Held:
        every = {name: getattr(of, column) for name, of in figures.networks.items()}
        low = max(every[name] for name in SPARSE)
        held = low < min(x for name, x in every.items() if name not in SPARSE)
        return held, ", ".join(f"{name.upper()} {percent(x)} %" for name, x in every.items())

    return check


def _just_edges(figures: Figures) -> Held:
    (share,) = (of.edges for of in figures.networks.values())
    return share > 50, f"{percent(share)} % of the maximal cliques"


def percent(rate: float) -> str:
    """A rate with one decimal, if it is not 0."""
    return f"{rate:.1f}".removesuffix(".0")


def _between(rates: dict[str, float]) -> bool:
    low, high = sorted((rates["edg"], rates["tri"]))
    return low - 1e-9 <= rates["cli"] <= high + 1e-9


def _same_refined(rates: dict[str, float]) -> bool:
    return all(rates[m] == rates[m.split("+")[0]] for m in rates if m.split("+")[0] in rates)


CLAIMS = (
    Claim(
        "DAT and DAT+BW query the oracle most often (median C)",
        CALLS,
        ("edg", "tri", "cli", "dat", "dat+bw"),
        _order("C", ".4g", ("edg", "tri", "cli", "rcli", "rcli+bw"), ("dat", "dat+bw")),
    ),
    Claim(
        "DAT+BW makes slightly more queries than DAT (median C, at most twice)",
        CALLS,
        ("dat", "dat+bw"),
        lambda f: (
            f.median("dat", "C") <= f.median("dat+bw", "C") <= 2 * f.median("dat", "C"),
            _listed(f, ("dat", "dat+bw"), "C", ".4g"),
        ),
    ),
    Claim(
        "CLI tends to find solutions more quickly than the other methods (median C)",
        CALLS,
        ("edg", "tri", "cli"),
        _order("C", ".4g", ("cli",), ("edg", "tri", "rcli", "rcli+bw", "dat", "dat+bw")),
    ),
    Claim(
        "CLI makes larger changes at each iteration than EDG and TRI (median edits by iterations)",
        f"{CALLS}; {CLIQUES.removeprefix('§5.5, ')}",
        ("edg", "tri", "cli"),
        _order("step", ".3g", ("edg", "tri"), ("cli",)),
    ),
    Claim(
        "RCLI makes larger changes at each iteration than EDG and TRI (median edits by iterations)",
        CLIQUES,
        ("edg", "tri", "rcli"),
        _order("step", ".3g", ("edg", "tri"), ("rcli",)),
    ),
    Claim(
        "DAT's counterfactuals differ significantly from the input (median d% larger than those of "
        "EDG and TRI)",
        NEAR,
        ("edg", "tri", "dat"),
        _order("d", ".3f", ("edg", "tri"), ("dat",)),
    ),
    Claim(
        "DAT+BW comes much closer to the input than the other methods (smallest median d%)",
        NEAR,
        ("edg", "tri", "cli", "dat", "dat+bw"),
        _order("d", ".3f", ("dat+bw",), ("edg", "tri", "cli", "rcli", "rcli+bw", "dat")),
    ),
    Claim(
        "A backward search after RCLI alters little (median d%, at most a tenth less)",
        NEAR,
        ("rcli", "rcli+bw"),
        _near("d", "rcli", "rcli+bw", 1 / 0.9),
    ),
    Claim(
        "RCLI's counterfactuals are more robust than DAT's (the backward search removes a smaller "
        "share of their median d%)",
        NEAR,
        ("rcli", "rcli+bw", "dat", "dat+bw"),
        _shares(Figures.taken, less="rcli", more="dat"),
    ),
    Claim(
        "RCLI's counterfactuals are more robust than DAT's, in the sense of §6 (random flips of "
        "1 % of the pairs keep the class more often, mean)",
        NEAR,
        ("rcli", "dat"),
        _shares(lambda f, m: f.mean(m, "robustness_1"), less="dat", more="rcli"),
        column="robustness_1",
    ),
    Claim(
        "The distances of TRI and EDG are comparable (median d%, within a factor of two)",
        NEAR,
        ("edg", "tri"),
        _near("d", "edg", "tri", 2.0),
    ),
    *(
        Claim(
            f"{name.upper()}'s counterfactuals are more distant than those of EDG and TRI (median "
            "d%)",
            CLIQUES,
            ("edg", "tri", name),
            _order("d", ".3f", ("edg", "tri"), (name,)),
        )
        for name in ("cli", "rcli")
    ),
    Claim(
        "The changes of CLI and RCLI are concentrated in regions (median entropy of the edits "
        "over the regions lower than those of EDG and TRI)",
        CLIQUES,
        ("edg", "tri", "cli"),
        _order("region_entropy", ".2f", ("cli", "rcli"), ("edg", "tri")),
        column="region_entropy",
    ),
    Claim(
        "The baselines reflect the brain's organisation less (median entropy of the "
        "edits over the regions higher for EDG, DAT and DAT+BW than for TRI and CLI)",
        "§5.4, BIP Dataset",
        ("edg", "tri", "cli", "dat", "dat+bw"),
        _order("region_entropy", ".2f", ("tri", "cli"), ("edg", "dat", "dat+bw")),
        column="region_entropy",
    ),
    Claim(
        "RCLI changes edges in fewer regions than CLI (median regions touched)",
        CUSTOM,
        ("cli", "rcli"),
        lambda f: (
            f.median("rcli", "regions_touched") < f.median("cli", "regions_touched"),
            _listed(f, ("cli", "rcli"), "regions_touched", "g"),
        ),
    ),
    Claim(
        "The size of CLI's and RCLI's counterfactuals is similar to that of the input "
        "(median |E'|/|E| within a tenth of one)",
        "§4.2, on DensifyCLI",
        ("cli",),
        _within("density_drift", ("cli", "rcli"), 0.1),
    ),
    Claim(
        "DAT always flips",
        RATES,
        ("dat",),
        _rates(("dat",), lambda r: r["dat"] == 100),
        rate=True,
    ),
    Claim(
        "The other methods do not reach a perfect score (each misses some graph of some data set)",
        RATES,
        ("edg", "tri", "cli", "rcli"),
        _rates(("edg", "tri", "cli", "rcli"), lambda r: max(r.values()) < 100),
        whole=True,
        rate=True,
    ),
    Claim(
        "TRI flips more often than the other searches (or as often)",
        RATES,
        ("edg", "tri", "cli"),
        _rates(("edg", "tri", "cli", "rcli"), lambda r: r["tri"] == max(r.values())),
        but=SPARSE,
        rate=True,
    ),
    Claim(
        "In the sparsest networks TRI flips less often than EDG",
        RATES,
        ("edg", "tri"),
        _rates(("edg", "tri"), lambda r: r["tri"] < r["edg"]),
        only=SPARSE,
        rate=True,
    ),
    *(
        Claim(
            f"In the sparsest networks triadic closure is less observable (share of {what}, below "
            "all others)",
            RATES,
            (),
            _less_seen(column),
            whole=True,
        )
        for column, what in (
            ("in_triangles", "nodes in a triangle"),
            ("closed", "paths of two edges that are closed, as in §1"),
        )
    ),
    Claim(
        "In the sparsest networks CLI strikes a balance between EDG and TRI (flip rate)",
        RATES,
        ("edg", "tri", "cli"),
        _rates(("edg", "tri", "cli"), _between),
        only=SPARSE,
        rate=True,
    ),
    Claim(
        "In the sparsest networks cliques are just edges (more than half of the maximal ones)",
        RATES,
        (),
        _just_edges,
        only=SPARSE,
    ),
    Claim(
        "DAT+BW and RCLI+BW flip as often as DAT and RCLI",
        "caption of Table 2",
        ("dat", "dat+bw"),
        _rates(("rcli", "rcli+bw", "dat", "dat+bw"), _same_refined),
        rate=True,
    ),
)


@dataclass(frozen=True)
class Judged:
    """One claim, checked on one data set (or on all together)."""

    claim: Claim
    data: str
    holds: bool
    words: str


def judge_claims(
    rows: Sequence[Row],
    datasets: Sequence[str],
    networks: Mapping[str, Networks] | None = None,
) -> list[Judged]:
    """Check every claim on every data set for which its methods were run.

    A method that found nothing has no median, so only claims about flip rates can be checked.
    Claims about the networks are checked if networks are given.
    """
    judged = []
    known = networks or {}
    for claim in CLAIMS:
        if claim.whole:
            scopes = [("all", list(rows))] if set(DATASETS) <= set(datasets) else []
        else:
            scopes = [
                (name, [r for r in rows if r["data"] == name])
                for name in claim.only or datasets
                if name in datasets and name not in claim.but
            ]
        for name, members in scopes:
            figures = Figures(members, {k: v for k, v in known.items() if name in (k, "all")})
            if claim.rate:
                there = figures.run(claim.methods)
            else:
                there = figures.found(claim.methods, claim.column)
            if len(there) == len(claim.methods) and (claim.methods or figures.networks):
                judged.append(Judged(claim, name.upper(), *claim.check(figures)))
    return judged


def claims_tables(
    rows: Sequence[Row],
    datasets: Sequence[str],
    networks: Mapping[str, Networks] | None = None,
) -> list[Table]:
    """The claims of the comparison: one line each, and by data set with our numbers."""
    judged = judge_claims(rows, datasets, networks)
    if not judged:
        return []
    by_claim: dict[Claim, list[Judged]] = {}
    for one in judged:
        by_claim.setdefault(one.claim, []).append(one)
    short = []
    for claim, members in by_claim.items():
        failed = "; ".join(f"{j.data}: {j.words}" for j in members if not j.holds)
        held = sum(j.holds for j in members)
        short.append((claim.text, claim.where, f"{held} of {len(members)}", failed or None))
    everywhere = sum(all(j.holds for j in members) for members in by_claim.values())
    note = (
        f"{everywhere} of {len(by_claim)} claims hold on every data set on which they can be "
        f"checked; counted by data set, {sum(j.holds for j in judged)} of {len(judged)} hold."
    )
    listed = tuple((j.claim.text, j.claim.where, j.data, j.holds, j.words) for j in judged)
    return [
        Table(
            "claims",
            "The paper's claims about its comparison, and on how many data sets they hold for our "
            "results",
            ("claim", "where", "holds", "our numbers where it does not"),
            tuple(short),
            (note,),
        ),
        Table(
            "claims-by-data",
            "The paper's claims about its comparison, by data set, with our numbers",
            ("claim", "where", "data", "holds", "ours"),
            listed,
        ),
    ]
