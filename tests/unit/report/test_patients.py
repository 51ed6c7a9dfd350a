"""The paper's own patients, drawn: what its figures show, these pictures must show."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
pytest.importorskip("nilearn", reason="the glass brain needs the extra 'brain'")

from denseflip import describe, explain, load_dataset, plot_connectome, plot_regions
from denseflip.paper.published_classifier import published_oracle
from denseflip.paper.published_methods import published_method
from denseflip.report.scene import make_scene

pytestmark = [pytest.mark.data, pytest.mark.slow]


def story_of(name: str, patient: int, method: str):
    dataset = load_dataset(name)
    oracle = published_oracle(dataset)
    result = explain(dataset.graphs[patient], oracle, published_method(method), nodes=dataset.nodes)
    return describe(result, dataset.nodes, oracle, subject=patient)


def shares(story, kind: str) -> dict[str, float]:
    scene = make_scene(story)
    ends = scene.cells.ends(getattr(scene, kind))
    return {
        region: float(count / ends.sum())
        for region, count in zip(scene.taxonomy.regions, ends, strict=True)
    }


@pytest.mark.usefixtures("brain_data")
def test_bip_patient_9_by_tri():
    story = story_of("bip", 9, "tri")
    removed, added = shares(story, "removed"), shares(story, "added")
    order = sorted(removed, key=lambda region: -removed[region])
    assert order[:2] == ["Parietal Lobe", "Insula & Cingulate Gyri"]
    assert added["Posterior Fossa"] == 1
    said = [t.get_text() for t in plot_regions(story).findobj() if hasattr(t, "get_text")]
    assert any(t.startswith(" 100 %") for t in said)


@pytest.mark.usefixtures("brain_data")
def test_adhd_patient_22_by_tri():
    story = story_of("adhd", 22, "tri")
    assert shares(story, "removed")["Occipital Lobe"] == 1
    figure = plot_connectome(story)
    names = {t.get_text() for t in figure.findobj() if hasattr(t, "get_text")}
    assert {"Calcarine L", "Cuneus R"} <= names
    assert {"REM 4", "ADD 4"} <= names
