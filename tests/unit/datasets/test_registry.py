from pathlib import Path

import pytest

from denseflip.datasets import list_datasets, load_dataset
from denseflip.datasets.cards import KNOWN_OF_MICE, known_words
from denseflip.datasets.registry import fetch_dataset
from denseflip.errors import DatasetError, InvalidParameterError, UnknownNameError


def test_names_and_variants() -> None:
    infos = {info.name: info for info in list_datasets()}
    assert " ".join(infos) == "mice synthetic aut bip adhd adhdm ohsu pek kki"
    assert infos["mice"].origin == "embedded"
    assert infos["synthetic"].origin == "generated"
    for name in ("mice", "synthetic"):
        for variant in infos[name].variants:
            assert len(load_dataset(variant)) > 0


def test_mice_tasks() -> None:
    assert load_dataset("mice").class_counts() == {"B6": 8, "BTBR": 8}
    assert load_dataset("mice", task="strain").n_classes == 4
    assert load_dataset("mice:sex").class_counts() == {"female": 16, "male": 16}
    pair = load_dataset("mice", classes=("DBA2", "CAST"))
    assert (pair.name, pair.class_names) == ("mice:DBA2-CAST", ("DBA2", "CAST"))
    assert load_dataset(pair.name) == pair
    assert load_dataset("mice:b6-btbr") == load_dataset("mice")


@pytest.mark.parametrize(
    ("name", "known"),
    [("mice", True), ("mice:strain", True), ("mice:sex", False), ("mice:CAST-DBA2", False)],
)
def test_what_is_known_is_said_of_tasks_with_the_strain(name: str, known: bool) -> None:
    data = load_dataset(name)
    for card in (data.card, data.card.to_dict()):
        assert known_words(card, data.class_names) == (KNOWN_OF_MICE if known else "")
    assert KNOWN_OF_MICE in data.card.description
    assert known_words(load_dataset("synthetic").card, ("BTBR", "B6")) == ""
    assert known_words(None, ("BTBR", "B6")) == ""


@pytest.mark.parametrize("task", ["B6", "B6-B6", "B6-", ""])
def test_mice_refuses_other_tasks(task: str) -> None:
    with pytest.raises((InvalidParameterError, UnknownNameError)):
        load_dataset("mice", task=task)
    with pytest.raises(InvalidParameterError, match="not both"):
        load_dataset("mice", task="sex", classes=("B6", "BTBR"))


def test_unknown_names_and_options(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'mice'"):
        load_dataset("mise")
    with pytest.raises(UnknownNameError, match="option of the data set 'mice'"):
        load_dataset("mice", tsk="sex")
    with pytest.raises(InvalidParameterError, match="no variants"):
        load_dataset("aut:x")
    with pytest.raises(DatasetError, match="no such file"):
        load_dataset(tmp_path / "x.dfd")
    with pytest.raises(UnknownNameError, match="data set"):
        fetch_dataset("abide")


def test_files_load_by_path(tmp_path: Path) -> None:
    data = load_dataset("synthetic", n_per_class=2)
    path = data.save(tmp_path / "s.dfd")
    assert load_dataset(path) == load_dataset(str(path)) == data
    with pytest.raises(InvalidParameterError, match="takes no options"):
        load_dataset(path, seed=1)


def test_embedded_data_is_fetched_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENSEFLIP_OFFLINE", "1")
    assert fetch_dataset("mice") == load_dataset("mice")
