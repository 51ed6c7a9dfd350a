"""Every registered data set passes the same checks: a new one is tested by being registered."""

from pathlib import Path

import numpy as np
import pytest

from denseflip.datasets import Dataset, list_datasets, load_dataset
from denseflip.datasets.brain import BRAINS

NAMES = [
    pytest.param(info.name, marks=[pytest.mark.data] if info.name in BRAINS else [])
    for info in list_datasets()
]


@pytest.fixture(params=NAMES)
def dataset(request: pytest.FixtureRequest) -> Dataset:
    if request.param in BRAINS:
        request.getfixturevalue("brain_data")
    return load_dataset(request.param)


def test_sizes_are_those_of_the_list(dataset: Dataset) -> None:
    info = next(i for i in list_datasets() if i.name == dataset.name)
    assert (len(dataset), dataset.n_nodes) == (info.n_graphs, info.n_nodes)
    assert info.summary
    assert info.offline


def test_two_named_classes_with_graphs(dataset: Dataset) -> None:
    assert len(dataset.class_names) == 2
    assert all(dataset.class_names)
    assert min(dataset.class_counts().values()) >= 2


def test_graphs_share_the_nodes(dataset: Dataset) -> None:
    assert {g.n_nodes for g in dataset.graphs} == {dataset.nodes.n_nodes}
    assert all(g.n_edges > 0 for g in dataset.graphs)


def test_ids_differ_and_find_their_graph(dataset: Dataset) -> None:
    assert len(set(dataset.ids)) == len(dataset)
    for i in (0, len(dataset) // 2, len(dataset) - 1):
        assert dataset.index_of(dataset.ids[i]) == i
        assert dataset[dataset.ids[i]] == dataset[i]


def test_loading_twice_gives_the_same(dataset: Dataset) -> None:
    assert load_dataset(dataset.name) == dataset


def test_saving_and_loading_lose_nothing(dataset: Dataset, tmp_path: Path) -> None:
    again = Dataset.load(dataset.save(tmp_path / "x.dfd"))
    assert again == dataset
    assert again.attributes == dataset.attributes


def test_splits_keep_both_classes(dataset: Dataset) -> None:
    train, test = dataset.split(0.25, seed=1)
    assert len(train) + len(test) == len(dataset)
    assert min(train.class_counts().values()) > 0
    assert min(test.class_counts().values()) > 0


def test_the_card_is_filled_in(dataset: Dataset) -> None:
    card = dataset.card
    assert card.source
    assert card.licence
    assert card.description
    assert card.sizes
    assert card.caveats
    assert card.citation or dataset.name == "synthetic"


def test_every_taxonomy_sorts_every_node(dataset: Dataset) -> None:
    for name in dataset.nodes.taxonomies:
        taxonomy = dataset.nodes.taxonomy(name)
        sizes = np.bincount(taxonomy.array, minlength=len(taxonomy.regions))
        assert sizes.sum() == dataset.n_nodes
        assert sizes.min() > 0


def test_it_is_documented(dataset: Dataset) -> None:
    page = Path(__file__).parents[2] / "docs" / "datasets.md"
    assert f"`{dataset.name}`" in page.read_text(encoding="utf-8")
