"""Atlases by name."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from denseflip.datasets import import_folder
from denseflip.datasets.atlas import ATLASES, load_aal, load_atlas, read_nodes
from denseflip.datasets.folder import import_report, import_warnings
from denseflip.datasets.region_names import with_regions, with_sides
from denseflip.errors import InvalidNodesError, InvalidParameterError, MissingExtraError
from denseflip.graph import Nodes

SIZES = {"aal": 116, "dosenbach": 160, "power": 264, "seitzman": 300}


@pytest.mark.parametrize("name", ATLASES)
def test_every_atlas_has_names_sides_and_places(name):
    if name != "aal":
        pytest.importorskip("nilearn")
    nodes = load_atlas(name)
    assert nodes.n_nodes == SIZES[name.removesuffix("-nilearn")]
    assert nodes.coordinates is not None
    sides = nodes.regions["hemisphere"]
    left = [x for (x, _, _), side in zip(nodes.coordinates, sides, strict=True) if side == "L"]
    assert max(left) < 0
    if name != "power":
        assert 6 <= len(nodes.taxonomy().regions) <= 14


@pytest.mark.parametrize("name", ["dosenbach", "seitzman"])
def test_the_two_orders_hold_the_same_regions(name):
    pytest.importorskip("nilearn")
    published, sorted_ = load_atlas(name), load_atlas(f"{name}-nilearn")
    assert published.names != sorted_.names
    assert published.ordered(sorted_.names) == sorted_
    networks = sorted_.regions["network"]
    changes = sum(a != b for a, b in itertools.pairwise(networks))
    assert changes == len(set(networks)) - 1  # each network in one piece


def test_codes_of_aal():
    aal = load_atlas("aal")
    assert aal.names == load_aal().names
    codes = aal.ids["code"]
    assert aal.names_of(("2001", "4201", "9170"))[0] == ("Precentral_L", "Amygdala_L", "Vermis_10")
    for name, code in zip(aal.names, codes, strict=True):  # odd codes are left, even ones right
        if not name.startswith("Vermis"):
            assert name.endswith("L" if int(code) % 2 else "R")


def test_other_names_are_refused_with_where_their_table_is():
    with pytest.raises(InvalidNodesError, match=r"7Networks_LH_Vis_1.*Atlases: aal, dosenbach"):
        read_nodes("Schaefer2018")
    with pytest.raises(InvalidNodesError, match=r"fetch_atlas_harvard_oxford"):
        read_nodes("harvard_oxford")
    with pytest.raises(InvalidNodesError, match=r"nodes.csv: there is no such node table"):
        read_nodes("nodes.csv")
    with pytest.raises(InvalidParameterError, match=r"name_column applies to a table in a file"):
        read_nodes("aal", name_column="x")


def test_without_nilearn_the_extra_is_named(monkeypatch):
    load_atlas.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "nilearn", None)
    with pytest.raises(MissingExtraError, match=r"denseflip\[brain\]"):
        load_atlas("power")


def test_a_matching_number_of_nodes_is_told_and_not_assumed(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(4):
        np.savetxt(tmp_path / f"s{i}.csv", np.corrcoef(rng.normal(size=(116, 130))), delimiter=",")
    labels = {f"s{i}": "ab"[i % 2] for i in range(4)}
    plain = import_folder(tmp_path, labels)
    assert not plain.nodes.regions
    hint = "The nodes have no regions. The atlas aal has 116 nodes, too."
    assert any(line.startswith(hint) for line in import_report(plain))
    named = import_folder(tmp_path, labels, nodes="aal")
    assert named.graphs == plain.graphs
    assert named.nodes.regions == load_aal().regions
    said = import_report(named)
    (warning,) = import_warnings(named)
    assert warning.startswith("The files name no nodes; columns are read in the order of the node ")
    assert f"Warning: {warning}" in said
    assert warning in named.card.caveats
    assert import_warnings(plain) == []
    assert any("atlas aal: 116 regions" in line for line in said)


def test_regions_of_harvard_oxford_come_from_its_names():
    names = ("Left Frontal Pole", "Right Frontal Pole", "Left Precuneous Cortex",
             "Right Lateral Occipital Cortex, superior division", "Left Hippocampus",
             "Left Parahippocampal Gyrus, anterior division", "Brain-Stem",
             "Right Cingulate Gyrus, posterior division",
             "Right Central Opercular Cortex")  # fmt: skip
    nodes, said = with_regions(Nodes(names))
    assert nodes.regions["lobe"] == (
        *("Frontal Lobe", "Frontal Lobe", "Parietal Lobe", "Occipital Lobe"),
        *("Subcortical Structures", "Temporal Lobe", "Cerebellum & Brain Stem"),
        *("Cingulate Cortex", "Frontal Lobe"),
    )
    assert nodes.regions["hemisphere"] == ("L", "R", "L", "R", "L", "L", "M", "R", "R")
    assert said == "Regions are read from the names of the nodes: 'lobe' (7) and 'hemisphere' (3)."
    conn = Nodes(("FP r (Frontal Pole Right)", "FP l (Frontal Pole Left)", "Thalamus r"))
    assert with_regions(conn)[0].regions["hemisphere"] == ("R", "L", "R")
    assert with_regions(Nodes(("TP53", "MDM2")))[1] == ""


def test_names_of_aal_bring_its_regions(tmp_path):
    names = load_aal().names[10:20]
    labels = {}
    for i in range(4):
        values = np.corrcoef(np.random.default_rng(i).normal(size=(10, 30)))
        rows = [",".join(["", *names])]
        rows += [",".join([n, *map(str, row)]) for n, row in zip(names, values, strict=True)]
        (tmp_path / f"s{i}.csv").write_text("\n".join(rows))
        labels[f"s{i}"] = "ab"[i % 2]
    study = import_folder(tmp_path, labels)
    assert study.nodes == load_aal().ordered(names)
    assert any("names of the atlas aal" in line for line in import_report(study))


def test_a_column_of_sides_is_not_added_again_in_lower_case():
    names = ("L-ACC", "R-ACC", "L-PCC", "R-PCC")
    nodes = Nodes(names, {"Lobe": ("a", "a", "b", "b"), "Hemisphere": ("L", "R", "L", "R")})
    assert with_sides(nodes).taxonomies == ("Lobe", "Hemisphere")
    assert with_sides(Nodes(names)).taxonomies == ("hemisphere",)


def test_a_list_of_parcels_gives_networks_and_hemispheres(tmp_path):
    names = [f"7Networks_{side}H_{x}_{i}" for side in "LR" for x in ("Vis", "Cont") for i in (1, 2)]
    path = tmp_path / "labels.txt"
    path.write_text("\n".join(names))
    nodes, notes = read_nodes(path)
    assert nodes.names == tuple(names)
    assert nodes.taxonomies == ("network", "hemisphere")
    assert (
        notes[-1]
        == "Regions are read from the names of the nodes: 'network' (2) and 'hemisphere' (2)."
    )


def test_both_spellings_of_the_cerebellum_are_matched() -> None:
    aal = load_atlas("aal")
    written = tuple(x.replace("Cerebelum", "Cerebellum") for x in aal.names)
    assert written != aal.names
    assert aal.names_of(written) == (aal.names, "spelling")
