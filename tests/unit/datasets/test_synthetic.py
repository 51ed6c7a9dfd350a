import numpy as np
import pytest

from denseflip.datasets import Dataset, make_synthetic
from denseflip.datasets.synthetic import planted_pairs
from denseflip.errors import InvalidParameterError, UnknownNameError


def counts(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Edges in the planted cell, per graph of class 0 and of class 1."""
    truth = data.attributes["planted"]
    cell = planted_pairs(data.nodes, truth["regions"], truth["taxonomy"])
    found = np.asarray([(g.to_adjacency() * cell).sum() / 2 for g in data.graphs])
    labels = data.label_array()
    return found[labels == 0], found[labels == 1]


def test_hyper_and_hypo_are_where_the_card_says() -> None:
    control, case = counts(make_synthetic(effect="hyper", strength=1.0))
    assert control.max() < case.min()
    control, case = counts(make_synthetic(effect="hypo", strength=1.0))
    assert control.min() > case.max()


def test_no_strength_no_difference() -> None:
    control, case = counts(make_synthetic(strength=0.0))
    assert abs(control.mean() - case.mean()) < 3 * control.std() / np.sqrt(len(control))


def test_strength_and_noise_matter() -> None:
    gaps = [np.subtract(*[c.mean() for c in counts(make_synthetic(strength=s))]) for s in (0.5, 2)]
    assert -gaps[1] > -2 * gaps[0] > 0
    quiet, loud = make_synthetic(noise=0.1), make_synthetic(noise=3.0)
    assert quiet.graphs[0].distance(quiet.graphs[1]) < loud.graphs[0].distance(loud.graphs[1])


def test_sizes_and_edge_counts() -> None:
    data = make_synthetic(n_per_class=4, percentile=80)
    assert data.labels == (0,) * 4 + (1,) * 4
    assert {g.n_edges for g in data.graphs} == {1334}


def test_seeded() -> None:
    assert make_synthetic(n_per_class=3, seed=5) == make_synthetic(n_per_class=3, seed=5)
    assert make_synthetic(n_per_class=3, seed=5) != make_synthetic(n_per_class=3, seed=6)


def test_inside_one_region_and_crossed_taxonomies() -> None:
    data = make_synthetic(regions=("Occipital Lobe", "Occipital Lobe"), n_per_class=5)
    assert data.attributes["planted"]["n_pairs"] == 12 * 11 // 2
    data = make_synthetic(
        regions=("Frontal Lobe L", "Frontal Lobe R"), taxonomy="lobe*hemisphere", n_per_class=5
    )
    assert data.attributes["planted"]["n_pairs"] == 15 * 15


@pytest.mark.parametrize(
    "wrong",
    [{"n_per_class": 0}, {"strength": -1}, {"noise": float("nan")}, {"regions": "Frontal Lobe"}],
)
def test_impossible_parameters(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameterError):
        make_synthetic(**wrong)  # type: ignore[arg-type]


def test_unknown_words() -> None:
    with pytest.raises(UnknownNameError, match="effect"):
        make_synthetic(effect="more")
    with pytest.raises(UnknownNameError, match="Did you mean 'Frontal Lobe'"):
        make_synthetic(regions=("Frontal", "Temporal Lobe"))
