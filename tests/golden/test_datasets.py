"""Sizes and means of the paper's seven data sets, and facts about the embedded one."""

import numpy as np
import pytest

from denseflip.datasets import load_dataset

# name, graphs, class 1, nodes, mean edges, class names, taxonomies
SEVEN = [
    ("aut", 101, 49, 116, 655.6, ("Typically Developed", "Autism Spectrum Disorder")),
    ("bip", 118, 54, 116, 1334.0, ("Typically Developed", "Bipolar")),
    ("adhd", 123, 39, 116, 667.0, ("Typically Developed", "ADHD")),
    ("adhdm", 123, 61, 116, 667.0, ("Marijuana not used", "Marijuana used")),
    ("ohsu", 79, 44, 190, 199.7, ("control", "ADHD")),
    ("pek", 85, 36, 190, 77.4, ("control", "hyperactive-impulsive")),
    ("kki", 83, 46, 190, 48.4, ("female", "male")),
]


@pytest.mark.data
@pytest.mark.usefixtures("brain_data")
@pytest.mark.parametrize(("name", "graphs", "ones", "nodes", "edges", "classes"), SEVEN)
def test_sizes_and_means(
    name: str, graphs: int, ones: int, nodes: int, edges: float, classes: tuple[str, str]
) -> None:
    data = load_dataset(name)
    summary = data.summary()
    assert (len(data), sum(data.labels), data.n_nodes) == (graphs, ones, nodes)
    assert summary.edges_mean == pytest.approx(edges, abs=0.051)
    assert data.class_names == classes
    assert data.nodes.taxonomies == (("lobe", "hemisphere", "authors") if nodes == 116 else ())


@pytest.mark.data
@pytest.mark.usefixtures("brain_data")
def test_the_authors_regions_keep_the_first_of_two() -> None:
    """D9: their file lists nodes 50 and 51 in two of its nine groups, and 14 nodes in 'Others'."""
    groups = load_dataset("aut").nodes.taxonomy("authors")
    assert len(groups.regions) == 9
    assert groups.region_of(50) == groups.region_of(51) == "Frontal Lobe"
    assert len(groups.members(groups.regions.index("Others"))) == 14


def test_lobes_of_the_atlas() -> None:
    lobes = load_dataset("synthetic").nodes.taxonomy("lobe")
    sizes = {name: len(lobes.members(i)) for i, name in enumerate(lobes.regions)}
    assert sizes == {
        "Frontal Lobe": 30,
        "Posterior Fossa": 26,
        "Temporal Lobe": 20,
        "Occipital Lobe": 12,
        "Parietal Lobe": 12,
        "Insula & Cingulate Gyri": 8,
        "Central Structures": 8,
    }


def test_btbr_mice_lack_the_corpus_callosum() -> None:
    """The known answer: far fewer edges join the two cortices in BTBR than in B6."""
    data = load_dataset("mice")
    assert {g.n_edges for g in data.graphs} == {5495}
    regions = data.nodes.taxonomy()
    left, right = (
        regions.members(regions.regions.index(f"{side} isocortex")) for side in ("left", "right")
    )
    joined = np.asarray([g.to_adjacency()[np.ix_(left, right)].sum() for g in data.graphs])
    labels = data.label_array()
    assert joined[labels == 0].min() > 3 * joined[labels == 1].max()
