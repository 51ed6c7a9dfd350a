import json
from pathlib import Path

import numpy as np
import pytest

from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.datasets import load_dataset


@pytest.fixture(autouse=True)
def _no_network(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if "brain_data" not in request.fixturenames:
        monkeypatch.delenv("DENSEFLIP_DATA", raising=False)
    monkeypatch.setenv("DENSEFLIP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DENSEFLIP_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


Captured = pytest.CaptureFixture[str]


def ok(capsys: Captured, *words: object) -> str:
    assert run(app, [str(w) for w in words]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def fails(capsys: Captured, *words: object, code: int = 1) -> str:
    assert run(app, [str(w) for w in words]) == code
    err = capsys.readouterr().err
    assert "Traceback" not in err
    return err


@pytest.fixture
def cohort(tmp_path: Path) -> Path:
    folder = tmp_path / "lab"
    folder.mkdir()
    rng = np.random.default_rng(0)
    rows = ["file,group"]
    for i in range(6):
        matrix = np.corrcoef(rng.standard_normal((20, 50)))
        np.savetxt(folder / f"p{i}.csv", matrix, delimiter=",")
        rows.append(f"p{i}.csv,{'patient' if i % 2 else 'control'}")
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    return folder


def test_list(capsys: Captured) -> None:
    out = ok(capsys, "data", "list")
    for name in ("mice", "synthetic", "aut", "adhdm", "ohsu", "kki", "mice:sex"):
        assert name in out
    assert "not downloaded" in out


def test_list_json(capsys: Captured) -> None:
    found = {d["name"]: d for d in json.loads(ok(capsys, "data", "list", "--json"))}
    assert found["mice"]["offline"] is True
    assert found["aut"]["offline"] is False
    assert found["bip"]["n_graphs"] == 118


def test_show(capsys: Captured) -> None:
    out = ok(capsys, "data", "show", "mice")
    for part in ("332", "8 (50%)  BTBR", "5495 in every graph", "0.1000", "33.1 ± 30.2",
                 "left isocortex", "MIT", "10.1016/j.neuroimage.2020.117274"):  # fmt: skip
        assert part in out


def test_show_json_and_ids(capsys: Captured) -> None:
    found = json.loads(ok(capsys, "data", "show", "synthetic", "--json"))
    assert found["graphs_per_class"] == {"control": 30, "case": 30}
    assert found["attributes"]["planted"]["regions"] == ["Frontal Lobe", "Temporal Lobe"]
    assert len(found["ids"]) == 60
    lines = ok(capsys, "data", "show", "mice", "--ids").splitlines()
    assert lines[0] == "sub-54790\tB6"
    assert len(lines) == 16


def test_show_without_network_says_what_to_do(capsys: Captured) -> None:
    err = fails(capsys, "data", "show", "aut")
    assert "Download it manually" in err
    assert "autism_graphs.pkl" in err
    assert "Did you mean 'mice'" in fails(capsys, "data", "show", "mise")


def test_fetch(capsys: Captured) -> None:
    assert run(app, ["data", "fetch", "mice"]) == 0
    assert "already on this machine" in capsys.readouterr().err
    assert "Unknown data set 'abide'" in fails(capsys, "data", "fetch", "mice", "abide")
    assert "Name the data sets" in fails(capsys, "data", "fetch", code=2)
    assert "Download it manually" in fails(capsys, "data", "fetch", "kki")


@pytest.mark.data
def test_fetch_from_the_folder_of_the_user(capsys: Captured, brain_data: Path) -> None:
    assert run(app, ["data", "fetch", "kki"]) == 0
    assert "83 graphs" in capsys.readouterr().err


def test_fetch_shows_the_card_once(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import denseflip.datasets.registry as registry

    here = [False]
    entry = registry._ENTRIES["kki"]

    def fetch(progress: object = None) -> object:
        here[0] = True
        return load_dataset("mice")

    from dataclasses import replace

    monkeypatch.setitem(
        registry._ENTRIES, "kki", replace(entry, fetch=fetch, local=lambda: here[0])
    )
    assert run(app, ["data", "fetch", "kki"]) == 0
    err = capsys.readouterr().err
    assert "fetched" in err
    assert "cite" in err
    assert run(app, ["data", "fetch", "kki"]) == 0
    assert "cite" not in capsys.readouterr().err


def test_import_show_and_keep(capsys: Captured, cohort: Path, tmp_path: Path) -> None:
    out = ok(capsys, "data", "import", cohort, "--labels", "labels.csv")
    assert "19 in every graph" in out
    assert "Written to lab.dfd" in out
    data = load_dataset(tmp_path / "lab.dfd")
    assert data.class_counts() == {"control": 3, "patient": 3}
    assert "19 in every graph" in ok(capsys, "data", "show", "lab.dfd")
    before = (tmp_path / "lab.dfd").read_bytes()
    err = fails(capsys, "data", "import", cohort, "--labels", "labels.csv", "--edges", 5)
    assert "exists already" in err
    assert (tmp_path / "lab.dfd").read_bytes() == before
    ok(capsys, "data", "import", cohort, "--labels", "labels.csv", "--edges", 5, "--force")
    assert {g.n_edges for g in load_dataset(tmp_path / "lab.dfd").graphs} == {5}


def test_import_options(capsys: Captured, cohort: Path, tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("name,lobe\n" + "\n".join(f"r{i},L{i % 3}" for i in range(20)))
    ok(capsys, "data", "import", cohort, "--labels", "labels.csv", "--nodes", nodes,
       "--classes", "patient,control", "--name", "mine", "--percentile", 80,
       "--out", "x.dfd")  # fmt: skip
    data = load_dataset(tmp_path / "x.dfd")
    assert (data.name, data.class_names) == ("mine", ("patient", "control"))
    assert {g.n_edges for g in data.graphs} == {38}
    assert data.nodes.taxonomy().regions == ("L0", "L1", "L2")


def test_import_tells_every_problem(capsys: Captured, cohort: Path, tmp_path: Path) -> None:
    (cohort / "p0.csv").write_text("0,1\n1,x\n")
    (cohort / "p9.csv").write_text("0,1\n1,0\n")
    (tmp_path / "labels.csv").write_text((tmp_path / "labels.csv").read_text() + "\nghost,control")
    err = fails(capsys, "data", "import", cohort, "--labels", "labels.csv")
    for part in ("problems found: 3", "p0.csv: line 2, column 2", "p9.csv", "ghost"):
        assert part in err
    assert not (tmp_path / "lab.dfd").exists()


def test_import_warns_of_graphs_without_edges(capsys: Captured, cohort: Path) -> None:
    np.savetxt(cohort / "p3.csv", np.zeros((20, 20)), delimiter=",")
    assert run(app, ["data", "import", str(cohort), "--labels", "labels.csv"]) == 0
    assert capsys.readouterr().err == "Warning: 1 graph has no edge: p3.\n"
    assert "1 graph has no edge: p3." in ok(capsys, "data", "show", "lab.dfd")


def test_import_bad_words(capsys: Captured, cohort: Path) -> None:
    base = ("data", "import", cohort, "--labels", "labels.csv")
    assert "one of" in fails(capsys, *base, "--percentile", 90, "--edges", 3)
    assert "did you mean 90?" in fails(capsys, *base, "--percentile", 0.9)
    assert "between 0 and 100" in fails(capsys, *base, "--percentile", 120)
    assert "Unknown kind" in fails(capsys, *base, "--kind", "excel")
    assert "Unknown measure" in fails(capsys, *base, "--measure", "spearman")
    assert "labels" in fails(capsys, "data", "import", cohort)
    assert "no such folder" in fails(capsys, "data", "import", "nowhere", "--labels", "labels.csv")
    assert "does not exist" in fails(capsys, *base, "--out", "no/where.dfd")
    fails(capsys, *base, "--edges", "many", code=2)


def test_import_names_the_option_that_settles_a_doubt(capsys: Captured, tmp_path: Path) -> None:
    folder = tmp_path / "lists"
    folder.mkdir()
    for i in range(4):
        (folder / f"s{i}.edgelist").write_text("1 2\n2 3\n")
    rows = [f"s{i},{'ab'[i % 2]}" for i in range(4)]
    (tmp_path / "labels.csv").write_text("\n".join(["id,label", *rows]))
    base = ("data", "import", folder, "--labels", tmp_path / "labels.csv")
    assert "--first-node 0|1" in fails(capsys, *base)
    ok(capsys, *base, "--first-node", 1, "--out", "one.dfd")
    assert load_dataset(tmp_path / "one.dfd").graphs[0].edges() == [(0, 1), (1, 2)]
    assert "Unknown header" in fails(capsys, *base, "--header", "top")
    assert "Unknown decimal" in fails(capsys, *base, "--decimal", "dot")


def test_import_says_that_triangles_were_mirrored(capsys: Captured, tmp_path: Path) -> None:
    folder = tmp_path / "counts"
    folder.mkdir()
    for i in range(4):
        upper = np.triu(np.random.default_rng(i).integers(1, 90, size=(6, 6)), 1)
        np.savetxt(folder / f"s{i}.csv", upper, delimiter=",", fmt="%d")
    rows = [f"s{i},{'ab'[i % 2]}" for i in range(4)]
    (tmp_path / "labels.csv").write_text("\n".join(["id,label", *rows]))
    out = ok(capsys, "data", "import", folder, "--labels", tmp_path / "labels.csv")
    assert (
        "Only the upper triangle is filled; it was mirrored to the lower one (all 4 files)" in out
    )


@pytest.mark.parametrize("format", ["csv", "npz", "graphml", "edges"])
def test_export_and_import_again(capsys: Captured, tmp_path: Path, format: str) -> None:
    out = ok(capsys, "data", "export", "synthetic:n_per_class=2", "--format", format, "--out", "o")
    assert "4 graphs" in out
    assert "not empty" in fails(capsys, "data", "export", "mice", "--out", "o")
    ok(capsys, "data", "import", "o/graphs", "--labels", "o/labels.csv", "--nodes", "o/nodes.csv",
       "--out", "back.dfd", "--classes", "control,case")  # fmt: skip
    assert run(app, ["data", "import", "o"]) == 0
    assert capsys.readouterr().err == ""
    assert load_dataset(tmp_path / "o.dfd").class_names == ("control", "case")
    back, data = load_dataset(tmp_path / "back.dfd"), load_dataset("synthetic", n_per_class=2)
    assert {e.id: (e.graph, e.label) for e in back} == {e.id: (e.graph, e.label) for e in data}


def test_export_bad_words(capsys: Captured) -> None:
    assert "Unknown format" in fails(
        capsys, "data", "export", "mice", "--out", "o", "--format", "x"
    )
    fails(capsys, "data", "export", "mice", code=2)


def test_damaged_data_set_file(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "x.dfd").write_bytes(b"nonsense")
    assert "cannot be read as a denseflip data set" in fails(capsys, "data", "show", "x.dfd")


def test_import_of_a_lab_says_what_it_left_out(capsys: Captured, tmp_path: Path) -> None:
    import labs

    data, classes = labs.cohort("xcpd", 6)
    labs.xcpd(tmp_path / "xcp_d", data, labs.NAMES, deep=True)
    people = {**classes, "sub-01": "n/a", "sub-77": "patient"}
    labs.participants(tmp_path / "participants.tsv", people)
    err = fails(capsys, "data", "import", "xcp_d", "--labels", "participants.tsv")
    assert "problems found: 2" in err
    assert "Labels without a graph file (1): sub-77" in err
    assert "('n/a' is not a class) (1): sub-01" in err
    assert "On the command line: --skip-unmatched." in err
    assert not (tmp_path / "xcp_d.dfd").exists()
    out = ok(capsys, "data", "import", "xcp_d", "--labels", "participants.tsv", "--skip-unmatched")
    assert "Imported: 5 graphs (control 2, patient 3), as xcpd." in out
    assert "Left out, labels without a graph file (1): sub-77." in out
    wrong = tmp_path / "nodes.csv"
    wrong.write_text("name\n" + "\n".join(["LH_Viz_1", *labs.NAMES[1:]]))
    labs.participants(tmp_path / "participants.tsv", classes)
    args = ("data", "import", "xcp_d", "--labels", "participants.tsv", "--force", "--nodes", wrong)
    err = fails(capsys, *args)
    assert "only in the node table (1): 'LH_Viz_1'" in err
    assert "--match position" in err
    ok(capsys, *args, "--match", "position")


def test_a_networkx_function_gets_the_names_of_the_data_set(
    capsys: Captured, tmp_path: Path
) -> None:
    import labs

    data, classes = labs.cohort("xcpd", 6)
    labs.xcpd(tmp_path / "xcp_d", data, labs.NAMES)
    labs.participants(tmp_path / "participants.tsv", classes)
    ok(capsys, "data", "import", "xcp_d", "--labels", "participants.tsv", "--percentile", 50)
    name = labs.NAMES[0]
    (tmp_path / "rule_by_name.py").write_text(
        f"def label(g):\n    return 'many' if g.degree[{name!r}] > 3 else 'few'\n"
    )
    out = ok(capsys, "explain", "xcp_d.dfd", "sub-02", "--oracle", "rule_by_name:label",
             "--input", "networkx", "-m", "edg+min")  # fmt: skip
    assert "few" in out
