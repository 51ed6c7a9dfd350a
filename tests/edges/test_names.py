"""Names that write on terminals, pages and files: seen through every door that shows them."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from benches import write_bench
from cohorts import make_cohort
from denseflip import explain, fit_oracle, load_oracle
from denseflip.checks import check_file_name, visible, visible_tree
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.datasets import Card, Dataset, export_dataset, import_folder, load_dataset
from denseflip.errors import DatasetError, InvalidParameterError
from denseflip.graph import Nodes
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.subject import find_subject

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "[/bold]",
    "[red]x",
    "<script>alert(1)</script>",
    "\u202egnp.exe",
    "nul\0nul",
    "sur\ud800rogate",
    "line\nbreak",
    "</script><img src=x onerror=alert(2)>",
    "{{7*7}}{% raw %}",
    "a|b",
    "$x_$ \\alpha & %",
    "\"quoted\", 'too'",
    "=cmd()",
    "\x9b31m",
    "\u2066isolated",
    "tab\tbed",
    "{task.description}",
    "\x1b]0;title\x07",
    "long" * 500,
    "🧠 עברית é",
)
OBEYED = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff]"
)


def hostile_cohort(turn: int = 0, *, simple_ids: bool = False) -> Dataset:
    """A cohort all of whose names are hostile; they come in turn."""
    data = make_cohort()
    n = data.n_nodes

    def name(i: int) -> str:
        return HOSTILE[(i + turn) % len(HOSTILE)]

    nodes = Nodes(
        tuple(f"{i}{name(i)}" for i in range(n)),
        {f"{name(3)}lobe": tuple(name(i // 2) for i in range(n)), "side": ("L", "R") * (n // 2)},
        data.nodes.coordinates,
    )
    return replace(
        data,
        name=name(0),
        nodes=nodes,
        class_names=(f"A{name(1)}", f"B{name(2)}"),
        ids=data.ids if simple_ids else tuple(f"{name(i)}{i}" for i in range(len(data))),
        card=Card(name(4), name(5), name(6), f"two\nlines {name(7)}", name(8), (name(9), name(10))),
        attributes={name(1): [name(2), {"deep": name(3)}]},
    )


def is_safe(text: str) -> bool:
    text.encode("utf-8")
    return not OBEYED.search(text)


# ---- made visible -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain", "plain"),
        ("é עברית 日本語 🧠 a‌b", "é עברית 日本語 🧠 a‌b"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("\u202eabc", "\\u202eabc"),
        ("a\0\x7f\x9b", "a\\x00\\x7f\\x9b"),
        ("\ud800", "\\ud800"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("fill\u3164ed\u115f\uffa0\u2800", "fill\\u3164ed\\u115f\\uffa0\\u2800"),
        ("joined\u034f\U0001d173", "joined\\u034f\\U0001d173"),
        ("☎️ ㅎ한글 葛\U000e0100", "☎️ ㅎ한글 葛\U000e0100"),
    ],
)
def test_what_is_obeyed_or_unseen_is_written_as_its_code(text, seen):
    assert visible(text) == seen
    assert is_safe(visible(text))
    assert visible(visible(text)) == seen, "once is enough"


def test_lines_may_stay_where_there_are_lines():
    assert visible("a\nb\tc\x1b", lines=True) == "a\nb\tc\\x1b"
    tree = {"k\n": ["\x1b", 1, None, {"x": ("\u202e", True)}]}
    assert visible_tree(tree) == {"k\\n": ["\\x1b", 1, None, {"x": ("\\u202e", True)}]}


@pytest.mark.parametrize("turn", range(0, len(HOSTILE), 4))
def test_every_name_of_a_data_set_is_safe_from_the_start(turn, tmp_path):
    data = hostile_cohort(turn)
    texts = [data.name, *data.class_names, *data.ids, *data.nodes.names, str(data), repr(data)]
    texts += [x for labels in data.nodes.regions.values() for x in labels]
    texts += [*data.nodes.regions, json.dumps(data.attributes, ensure_ascii=False)]
    assert all(is_safe(text) and "\n" not in text for text in texts)
    assert all(is_safe(text) for text in (data.card.description, *data.card.caveats))
    assert Dataset.load(data.save(tmp_path / "a.dfd")) == data


def test_two_names_that_look_alike_when_seen_are_one_name():
    with pytest.raises(ValueError, match="must be unique"):
        Nodes(("a\x1b", "a\\x1b"))


def test_a_saved_classifier_says_no_more_than_a_data_set(tmp_path):
    data = hostile_cohort()
    oracle = load_oracle(fit_oracle(data, "edges-svm").save(tmp_path / "a.dfo"))
    assert all(map(is_safe, oracle.class_names))
    assert is_safe(json.dumps(dict(oracle.card), ensure_ascii=False, default=str))


def test_an_oracle_s_own_labels_are_made_visible():
    data = make_cohort()
    result = explain(data.graphs[0], lambda a: f"\x1b[3{int(a[0, 1])}m", "edg")
    assert result.found
    assert {result.label_before, result.label_after} == {"\\x1b[30m", "\\x1b[31m"}
    again = explain(data.graphs[0], lambda a: f"\x1b[3{int(a[0, 1])}m", "edg", target="\x1b[30m")
    assert again.label_after == "\\x1b[30m"


# ---- on the terminal --------------------------------------------------------------------


class Page(HTMLParser):
    """Every tag of a page with its attributes, and what stands in its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def check_folder(folder: Path) -> int:
    """Every text file that was written is UTF-8 and safe; pages hold no foreign tag."""
    pages = 0
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".html", ".json", ".csv", ".md", ".tex", ".txt"}:
            text = path.read_text(encoding="utf-8")
            assert is_safe(text), path.name
        if path.suffix == ".html":
            pages += 1
            tags = Page(text).tags
            assert not [a for _, a in tags if any(key.startswith("on") for key in a)]
            assert not [a for tag, a in tags if tag == "img" and a.get("src") == "x"]
            assert "<script>alert" not in text
    return pages


COMMANDS = (
    ["data", "show", "FILE"],
    ["data", "show", "FILE", "--ids"],
    ["data", "show", "FILE", "--json"],
    ["train", "FILE", "--out", "OUT/[red]it.dfo", "--skip-evaluation"],
    ["evaluate", "FILE", "--preset", "edges-svm", "--repeats", "1", "--permutations", "0"],
    ["explain", "FILE", "ID", "--oracle", "edges-svm", "--method", "tri+min", "--out", "OUT/[b]p"],
    ["compare", "FILE", "ID", "--oracle", "edges-svm", "--methods", "tri,edg", "--out", "OUT/c"],
    ["explain", "FILE", "no\x1bsuch\u202e"],
    ["explain", "FILE\x1b", "x"],
)


@pytest.mark.parametrize("turn", [0, 7])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda w: " ".join(w[:3])[:30])
def test_commands_show_hostile_names_and_obey_none(words, turn, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    data = hostile_cohort(turn)
    path = data.save(tmp_path / "a.dfd")
    (tmp_path / "out").mkdir()
    put = {"FILE": str(path), "ID": data.ids[5], "OUT": str(tmp_path / "out")}
    words = [re.sub("FILE|ID|OUT", lambda m: put[m[0]], word) for word in words]
    code = run(app, words)
    said = capsys.readouterr()
    assert "Unexpected error" not in said.err, said.err
    assert is_safe(said.out)
    assert is_safe(said.err)
    assert code == (1 if "no\x1bsuch\u202e" in words or words[-1] == "x" else 0), said.err
    if "--out" in words and words[0] != "train":
        assert check_folder(tmp_path / "out") == 1
        assert list((tmp_path / "out").rglob("*.png"))


def test_a_file_s_name_in_a_progress_bar_is_no_markup(tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    from denseflip.cli.common import progress

    with progress() as bars:
        task = bars.add_task("[/nothing] [red]", total=2)
        bars.update(task, description="[/nothing]", advance=1)
        assert bars.get_renderable()


def test_a_configuration_writes_on_no_terminal_and_in_no_file(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = write_bench(tmp_path, methods=["edg"])
    odd = "\\u001b[31m\\u202e<script>alert(1)</script>"
    text = config.read_text().replace('"own"', f'"{odd}"')
    config.write_text(f'title = "{odd}"\n{text}')
    assert run(app, ["bench", "--config", str(config), "--out", "out"]) == 0
    said = capsys.readouterr()
    assert is_safe(said.out)
    assert is_safe(said.err)
    assert "\\x1b[31m\\u202e" in said.out
    assert check_folder(tmp_path / "out") == 1


# ---- in files ---------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csv", "tsv", "npy", "npz", "edges", "graphml", "dfd"])
@pytest.mark.parametrize("turn", [0, 9, 15])
def test_exported_and_imported_again_it_is_the_same(format, turn, tmp_path):
    data = replace(hostile_cohort(turn, simple_ids=True), name="plain")
    folder = export_dataset(data, tmp_path / "out", format=format)
    check_folder(folder)
    if format == "dfd":
        assert load_dataset(folder / "plain.dfd") == data
        return
    again = import_folder(folder, name="plain")
    assert again.nodes == data.nodes
    assert again.class_names == data.class_names
    assert again.graphs == data.graphs
    assert [again.class_names[x] for x in again.labels] == [
        data.class_names[x] for x in data.labels
    ]


NUMBERED = {
    "from 1": lambda i: str(i + 1),
    "backwards": lambda i: str(11 - i),
    "some": lambda i: ("nan", "1e5", "n/a", "0x1", "-1", "+1", "1", "0", "inf", "a", "b", "c")[i],
    "comments": lambda i: f"#{i}",
}


@pytest.mark.parametrize("format", ["csv", "tsv", "npy", "npz", "edges", "graphml"])
@pytest.mark.parametrize("name", NUMBERED)
def test_names_that_are_numbers_or_look_like_comments_come_back_as_they_were(
    name, format, tmp_path
):
    data = make_cohort(2)
    nodes = replace(data.nodes, names=tuple(map(NUMBERED[name], range(12))))
    ids = tuple(f"#{i}" for i in range(len(data))) if name == "comments" else data.ids
    data = replace(data, nodes=nodes, ids=ids)
    again = import_folder(export_dataset(data, tmp_path / "out", format=format), name=data.name)
    assert again.nodes == data.nodes
    assert (again.ids, again.labels, again.graphs) == (data.ids, data.labels, data.graphs)


def test_an_edge_list_that_could_not_be_read_again_is_not_written(tmp_path):
    data = make_cohort(2)
    names = ("1", "two words", *data.nodes.names[2:])
    data = replace(data, nodes=replace(data.nodes, names=names))
    with pytest.raises(DatasetError, match="would be ambiguous"):
        export_dataset(data, tmp_path / "out", format="edges")
    assert not (tmp_path / "out").exists()


NOT_FILES = (
    "../../elsewhere", "/etc/passwd", "..", ".", "", "  ", "a/b", "a\\b", "C:evil", "con", "NUL.x",
    "lpt1", ".hidden", "end.", "end ", "a?b", "a*b", 'a"b', "a<b>", "pipe|", "n\0ul", "x" * 121,
    "\u202eabc", "é" * 61,
)  # fmt: skip


@pytest.mark.parametrize("name", NOT_FILES, ids=lambda x: repr(x)[:20])
def test_what_cannot_be_a_file_s_name_everywhere_is_refused(name):
    with pytest.raises(InvalidParameterError, match="cannot be a file name: "):
        check_file_name(name, "The id")


@pytest.mark.parametrize(
    "name", ["a", "sub-01_run-1", "mice-sex", "é 日本", "a.b", "[x]", "x" * 120]
)
def test_usual_names_may_be_file_names(name):
    assert check_file_name(name, "The id") == name


@pytest.mark.parametrize("name", ["../../elsewhere", "/abs", "..", "a/b", "a\\b"])
def test_an_export_writes_nothing_outside_its_folder(name, tmp_path):
    data = make_cohort()
    home = tmp_path / "deep" / "home"
    home.mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DatasetError, match=r"The data set's name '.*' cannot be a file name"):
        export_dataset(replace(data, name=name), home / "out", format="dfd")
    ids = (name, *data.ids[1:])
    for format in ("csv", "npy", "edges"):
        with pytest.raises(DatasetError, match=r"The id '.*' cannot be a file name"):
            export_dataset(replace(data, ids=ids), home / "out", format=format)
    assert sorted(tmp_path.rglob("*")) == before


def test_ids_that_are_one_file_on_some_systems_are_told(tmp_path):
    data = make_cohort()
    ids = ("Sub", "sub", *data.ids[2:])
    with pytest.raises(DatasetError, match="'Sub' and 'sub' are the same file name on some"):
        export_dataset(replace(data, ids=ids), tmp_path / "out")


def test_a_file_whose_name_is_no_text_is_imported_under_a_visible_one(tmp_path):
    for i, name in enumerate((b"\xff\xfe.edgelist", b"\x1b[31m.edgelist", b"plain.edgelist")):
        raw = str(tmp_path).encode() + b"/" + name
        with open(raw, "w") as out:
            out.write(f"0 {i + 1}\n0 5\n")
    labels = {"\udcff\udcfe": "a", "\x1b[31m": "b", "plain": "b"}
    data = import_folder(tmp_path, labels, name="x", allow_single=True)
    assert set(data.ids) == {"\\udcff\\udcfe", "\\x1b[31m", "plain"}


def test_tables_of_results_keep_hostile_names_in_their_cells():
    from denseflip.experiments.table import FORMS, Table

    names = [visible(x) for x in HOSTILE]
    table = Table("t", "Hostile", ("name", "n"), tuple((x, i) for i, x in enumerate(names)))
    for form in FORMS:
        text = table.to(form)
        assert is_safe(text)
    rows = list(csv.reader(io.StringIO(table.to("csv"))))
    assert [row[0] for row in rows[1:]] == names
    lines = [x for x in table.to("markdown").splitlines() if x.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert "<script>alert" not in table.to("html")
    titled = replace(
        table, title=HOSTILE[3], columns=(HOSTILE[8], "n"), notes=("p < .05 <b>x</b>",)
    )
    marked = titled.to("markdown")
    assert re.findall(r"<\S?", marked) == ["<"]  # of the p
    assert marked.count("&lt;script>alert(1)&lt;/script>") == 2


def test_the_sentence_of_a_notebook_holds_no_markup_of_names():
    data = hostile_cohort()
    story = explain_and_describe(find_subject(data, data.ids[0]), fit_oracle(data))
    said = story._repr_markdown_()
    assert story.lead in said.replace("&lt;", "<")
    assert "&lt;" in said
    assert not re.search(r"<[A-Za-z/!?]", said)
