"""A synthetic cohort with a known answer: the classes differ in one planted pair of regions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from denseflip.datasets.atlas import load_aal
from denseflip.datasets.base import Dataset
from denseflip.datasets.cards import SYNTHETIC
from denseflip.datasets.connectome import Keep, upper_triangles
from denseflip.errors import InvalidParameterError, UnknownNameError, shown, whole_number
from denseflip.graph import Graph, Nodes
from denseflip.limits import PER_GRAPH, check_size

EFFECTS = ("hyper", "hypo")
#: The region in which sites differ.
SITE_REGION = "Occipital Lobe"


def make_synthetic(
    *,
    regions: Sequence[str] = ("Frontal Lobe", "Temporal Lobe"),
    effect: str = "hyper",
    strength: float = 1.0,
    noise: float = 1.0,
    n_per_class: int = 30,
    percentile: float = 90.0,
    taxonomy: str = "lobe",
    sites: int = 0,
    site_strength: float = 1.0,
    site_share: float = 0.5,
    weights: bool = False,
    seed: int = 0,
) -> Dataset:
    """Generate a cohort over the AAL-116 atlas with a planted difference between two classes.

    Parameters
    ----------
    regions : the two regions whose connections differ; the same name twice means inside it.
    effect : ``hyper`` (class 1 has more edges there) or ``hypo`` (fewer).
    strength : shift of class 1 there, in standard deviations of the shared pattern; 0 plants
        nothing.
    noise : standard deviation of each subject's own noise, in the same unit.
    n_per_class : subjects per class.
    percentile : percentage of pairs that are not edges; 90 gives 667 edges.
    taxonomy : the taxonomy of the AAL table that ``regions`` belong to; two may be crossed.
    sites : number of sites of the subjects, as the column ``site`` of the subject table (with
        ``age``, ``sex`` and ``motion``, which differ only by chance); 0 for no such table.
    site_strength : how much the connections inside ``SITE_REGION`` differ between sites.
    site_share : the share of the cases at the second half of the sites, and of the controls at the
        first half: 0.5 is balanced; with 1 the site determines the class.
    weights : whether to keep the matrices that the graphs were made of (`Dataset.weights`).
    seed : the same seed gives the same cohort.

    Returns
    -------
    A data set whose ``attributes["planted"]`` holds the planted regions and settings.

    Examples
    --------
    >>> data = make_synthetic(n_per_class=5, seed=1)
    >>> data
    Dataset('synthetic', 10 graphs, 116 nodes, classes: control 5, case 5)
    >>> data.attributes["planted"]["regions"]
    ['Frontal Lobe', 'Temporal Lobe']
    """
    if effect not in EFFECTS:
        raise UnknownNameError("effect", effect, EFFECTS)
    n_per_class = whole_number("n_per_class", n_per_class, minimum=1)
    seed = whole_number("seed", seed)
    sites = whole_number("sites", sites)
    if isinstance(site_share, bool) or not 0 <= site_share <= 1:
        msg = f"site_share must be a share between 0 and 1; got {shown(site_share)}."
        raise InvalidParameterError(msg)
    numbers = (("strength", strength), ("noise", noise), ("site_strength", site_strength))
    for name, value in numbers:
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not number or not 0 <= value < math.inf:
            msg = f"{name} must be a number of at least 0; got {shown(value)}."
            raise InvalidParameterError(msg)
    needed = 2 * n_per_class * (PER_GRAPH + 8 * (667 + 6670 * bool(weights)))
    check_size(needed, f"A cohort of {shown(n_per_class)} per class")
    nodes = load_aal()
    planted = planted_pairs(nodes, regions, taxonomy)
    rng = np.random.default_rng(seed)
    pattern = shared_pattern(nodes, rng)
    shift = strength * (1.0 if effect == "hyper" else -1.0)
    keep = Keep(percentile=percentile)
    n = int(n_per_class)
    # Subjects use a separate generator, so that a cohort without sites does not change.
    subjects, at = _subjects(n, sites, site_share, np.random.default_rng([seed, 3]))
    shared = site_strength * planted_pairs(nodes, (SITE_REGION, SITE_REGION), "lobe")
    graphs: list[Graph] = []
    kept: list[npt.NDArray[np.float64]] = []
    for i in range(2 * n):
        matrix = pattern + noise * _symmetric(rng.standard_normal(pattern.shape))
        matrix += (i >= n) * shift * planted
        if sites:
            matrix += at[i] * shared
        graphs.append(keep.apply(matrix, source="synthetic"))
        if weights:
            kept.append(matrix)
    return Dataset(
        name="synthetic",
        graphs=tuple(graphs),
        labels=(0,) * n + (1,) * n,
        class_names=("control", "case"),
        nodes=nodes,
        ids=tuple(f"{kind}-{i:03d}" for kind in ("control", "case") for i in range(n)),
        card=replace(
            SYNTHETIC, sizes=f"{2 * n} graphs, {n} per class; 116 nodes; {graphs[0].n_edges} edges."
        ),
        attributes={
            "planted": {
                "taxonomy": taxonomy,
                "regions": list(regions),
                "effect": effect,
                "class": "case",
                "n_pairs": int(planted.sum()) // 2,
            },
            "parameters": {
                "strength": strength,
                "noise": noise,
                "n_per_class": n,
                "percentile": percentile,
                "seed": seed,
            }
            | (
                {"sites": sites, "site_strength": site_strength, "site_share": site_share}
                if sites
                else {}
            ),
        },
        subjects=subjects,
        weights=upper_triangles(kept) if weights else None,
    )


def _subjects(
    n: int, sites: int, share: float, rng: np.random.Generator
) -> tuple[dict[str, tuple[float | str | None, ...]], npt.NDArray[np.int64]]:
    """The subject table of n controls and n cases, and the number of each subject's site."""
    if not sites:
        return {}, np.zeros(2 * n, dtype=np.int64)
    first = max(1, sites // 2)
    late = np.zeros(2 * n, dtype=bool)
    late[rng.permutation(n)[: n - round(share * n)]] = True  # controls at the later sites
    late[n + rng.permutation(n)[: round(share * n)]] = True
    at = np.zeros(2 * n, dtype=np.int64)
    for half, low, high in ((~late, 0, first), (late, min(first, sites - 1), sites)):
        at[half] = low + rng.permutation(int(half.sum())) % max(high - low, 1)
    table: dict[str, tuple[float | str | None, ...]] = {
        "site": tuple(f"site {k + 1}" for k in at),
        "age": tuple(np.round(rng.uniform(18, 60, 2 * n), 1).tolist()),
        "sex": tuple("FM"[x] for x in rng.integers(0, 2, 2 * n)),
        "motion": tuple(np.round(rng.gamma(2.0, 0.08, 2 * n), 3).tolist()),
    }
    return table, at


def planted_pairs(nodes: Nodes, regions: Sequence[str], taxonomy: str) -> npt.NDArray[np.float64]:
    """A symmetric 0/1 matrix of the pairs between two regions (or inside one)."""
    if isinstance(regions, str) or len(regions) != 2:
        msg = f"regions must be two names (the same twice means inside it); got {regions!r}."
        raise InvalidParameterError(msg)
    table = nodes.taxonomy(taxonomy)
    members = []
    for region in regions:
        if region not in table.regions:
            raise UnknownNameError(f"region of the taxonomy {taxonomy!r}", region, table.regions)
        members.append(table.array == table.regions.index(region))
    block = np.outer(members[0], members[1])
    planted = (block | block.T).astype(np.float64)
    np.fill_diagonal(planted, 0.0)
    return planted


def shared_pattern(nodes: Nodes, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """The pattern shared by all subjects: mean 0 and standard deviation 1 over the pairs."""
    places = np.asarray(nodes.coordinates)
    far = np.linalg.norm(places[:, None] - places[None, :], axis=-1)
    mirrored = np.linalg.norm(places[:, None] * (-1, 1, 1) - places[None, :], axis=-1)
    lobe = nodes.taxonomy("lobe").array
    pattern = (
        np.exp(-far / 40)
        + 0.6 * np.exp(-mirrored / 15)
        + 0.2 * (lobe[:, None] == lobe[None, :])
        + 0.15 * _symmetric(rng.standard_normal(far.shape))
    )
    upper = pattern[np.triu_indices(len(pattern), k=1)]
    out: npt.NDArray[np.float64] = (pattern - upper.mean()) / upper.std()
    return (out + out.T) / 2


def _symmetric(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    upper = np.triu(values, k=1)
    return upper + upper.T
