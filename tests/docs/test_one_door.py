"""Only a session talks to an oracle: nobody else calls ``predict``, whatever it is called on."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "denseflip"
QUESTIONS = {"predict", "predict_proba", "predict_edits"}
ROOMS = {"oracles", "classifiers"}  # where oracles are made, wrapped, trained and asked
ALLOWED = {  # file → why it may call one
    "experiments/work.py": "an oracle with a clock passes questions on",
    "paper/classifier.py": "the published classifier is judged as one, not explained",
}


def questions(path: Path) -> list[int]:
    """Lines on which a file asks an oracle directly, or hands its way of asking on."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in QUESTIONS
    ]


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(SOURCE.rglob("*.py")) if p.relative_to(SOURCE).parts[0] not in ROOMS],
    ids=lambda path: path.relative_to(SOURCE).as_posix(),
)
def test_only_a_session_asks(path: Path) -> None:
    if path.relative_to(SOURCE).as_posix() not in ALLOWED:
        assert not questions(path), "query through a Session (query, query_all, first)"


@pytest.mark.parametrize("name", ALLOWED)
def test_nobody_is_allowed_what_he_no_longer_does(name: str) -> None:
    assert questions(SOURCE / name), f"take {name} from the list"


def test_a_question_is_seen(tmp_path: Path) -> None:
    asking = tmp_path / "asking.py"
    asking.write_text("def f(box):\n    map(box.predict, [])\n    return box.oracle.predict([1])\n")
    assert questions(asking) == [2, 3]
