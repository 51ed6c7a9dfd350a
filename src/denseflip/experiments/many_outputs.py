"""Write many explanations into a folder: an index, a page per graph, and tables.

The same explanations give the same bytes, except for the times on the pages. A page that is up to
date is not written again, so a run that was interrupted while writing continues.
"""

from __future__ import annotations

import gc
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from denseflip._version import __version__
from denseflip.errors import DenseflipError, UnknownNameError
from denseflip.experiments.explain_many import Explained, Explanations
from denseflip.experiments.spec import StorySpec
from denseflip.experiments.worker import get_context
from denseflip.files import clear_torn, write_whole
from denseflip.report.many_page import make_index
from denseflip.report.page import write_page
from denseflip.report.page_assets import write_assets
from denseflip.runs.engines import Engine, SerialEngine
from denseflip.runs.identity import content_id
from denseflip.runs.result_store import Record
from denseflip.runs.sources import DataSpec, OracleSpec
from denseflip.runs.spec_base import Listener, Spec
from denseflip.workflow.explain_and_describe import json_record

INDEX, PAGES, ASSETS = "index.html", "pages", "assets"
TABLE, EDITS = "explanations", "edits"
KINDS = ("full", "still", "none")
_MANIFEST = "pages.json"
_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
_EVERY = 1.0  # seconds between two saves of the list of written pages


def write_many(
    many: Explanations,
    specs: Sequence[StorySpec],
    folder: str | Path,
    *,
    pages: str = "full",
    command: str = "",
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Path]:
    """Write the index, the pages and the tables.

    Parameters
    ----------
    many : the result of `gather`.
    specs : the specs given to `gather`.
    folder : where to write; created if missing.
    pages : ``"full"`` for pages with everything (about half a MB each), ``"still"`` without the
        interactive picture, ``"none"`` for the index and the tables only.
    command : the command line that reproduces the folder.
    engine : where to draw the pages, on this machine; by default in this process.
    progress : called with (written, total) after every page.

    Returns
    -------
    The files, the index first; pages and results of single graphs are not among them.
    """
    check_pages(pages)
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    clear_torn(out)
    job = specs[0].job
    card, dataset = _card(specs), many.dataset.card
    names = file_names([one.id for one in many])
    links: dict[str, str] = {}
    if pages != "none":
        (out / PAGES).mkdir(exist_ok=True)
        write_assets(out / ASSETS)
        clear_torn(out / PAGES)
        links = {one.id: f"{PAGES}/{names[one.id]}.html" for one in many if one.story is not None}
        plain = json.dumps(card, sort_keys=True, default=str)
        said = content_id([__version__, dict(job.versions), pages, command, plain])
        with closing(_Written(out)) as written:
            due = []
            for one, spec in zip(many, specs, strict=True):
                key, name = content_id([said, spec.id]), names[one.id]
                if one.story is not None and not written.holds(name, key):
                    place = out.absolute() / PAGES / name
                    due.append(_PageSpec(spec, key, one, place, pages, card, dataset, command))
            _write_pages(due, written, engine or SerialEngine(), len(many), progress)
    many.table().write(out, ("csv", "json"))
    for table in (many.edit_table(), many.region_table(), many.reference_table()):
        table.write(out, ("csv",))
    files = {
        f"{TABLE}.csv": "one row per graph",
        f"{TABLE}.json": "the same as JSON",
        f"{EDITS}.csv": "one row per edit of each graph, with names, regions and coordinates",
        "regions.csv": "one row per pair of regions with edits, of each graph",
        "reference.csv": "one row per named place, with what real graphs have there",
    }
    text = make_index(
        many,
        name=many.dataset.name,
        links=links,
        files=files,
        oracle=job.oracle.name,
        method=job.method.name,
        card=card,
        dataset=dataset,
        command=command,
    )
    write_whole(out / INDEX, text)
    return [out / INDEX, *(out / file for file in files)]


def check_pages(pages: str) -> None:
    """Raise an error if this is not a kind of pages."""
    if pages not in KINDS:
        raise UnknownNameError("kind of pages", pages, KINDS, parameter="pages")


def file_names(ids: Sequence[str]) -> dict[str, str]:
    """Map ids to portable file names; ids that are not portable get a number in front.

    >>> file_names(["sub-01", "a/b", "SUB-01"])
    {'sub-01': 'sub-01', 'a/b': '1-a_b', 'SUB-01': '2-SUB-01'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for number, id in enumerate(ids):
        name = id
        if not _SAFE.fullmatch(id) or _RESERVED.match(id) or id.endswith("."):
            name = f"{number}-{re.sub(r'[^A-Za-z0-9_-]+', '_', id)[:60]}"
        while name.lower() in taken:
            name = f"{number}-{name}"
        taken.add(name.lower())
        names[id] = name
    return names


@dataclass(frozen=True)
class _PageSpec(Spec):
    """The page of one graph, and its result, to be written by any process of this machine."""

    spec: StorySpec
    key: str
    one: Explained = field(repr=False)
    target: Path
    pages: str
    card: Any = field(repr=False)
    dataset: Any = field(repr=False)
    command: str

    @property
    def sources(self) -> tuple[DataSpec, OracleSpec]:
        """The data set and the oracle."""
        return self.spec.sources

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The content of the page."""
        return {"kind": "page", "key": self.key, "versions": self.spec.identity["versions"]}

    @property
    def place(self) -> str:
        """The file, for messages."""
        return str(self.target.with_name(f"{self.target.name}.html"))

    def work(self, on_event: Listener | None = None) -> Record:
        """Write the page and the result."""
        story = self.one.story
        assert story is not None
        text = json.dumps(json_record(story), ensure_ascii=False)
        write_whole(self.target.with_name(f"{self.target.name}.json"), text)
        with _collected_once():
            write_page(
                story,
                self.place,
                force=True,
                card=self.card,
                dataset=self.dataset,
                command=self.command or None,
                interactive=self.pages == "full",
                assets=f"../{ASSETS}",
            )
        return {"id": self.id}


def _write_pages(
    due: Sequence[_PageSpec],
    written: _Written,
    engine: Engine,
    total: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Write the pages that are due; an error if one cannot be written."""
    by_id = {page.id: page for page in due}
    done = total - len(due)
    if progress is not None:
        progress(done, total)
    running = engine.run([(page,) for page in due])
    try:
        for records in running if due else ():
            for record in records:
                page = by_id[record["id"]]
                if "failed" in record:
                    msg = f"{page.place} could not be written: {record['failed']}"
                    raise DenseflipError(msg)
                written.note(page.target.name, page.key)
            done += len(records)
            if progress is not None:
                progress(done, total)
    finally:
        running.close()  # type: ignore[attr-defined]


@contextmanager
def _collected_once() -> Iterator[None]:
    """Collect garbage once, at the end, and only among new objects.

    Figures are many small objects in cycles. Collecting while they are drawn takes a quarter of the
    time of a page.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.collect(0)  # all objects created meanwhile
        if enabled:
            gc.enable()


def _card(specs: Sequence[StorySpec]) -> dict[str, Any]:
    """Return the card of the classifier; empty if it cannot be opened, as the table shows."""
    job = specs[0].job
    try:
        oracle = get_context(job.data, job.oracle).oracle
        return dict(getattr(oracle, "card", None) or {})
    except (AttributeError, DenseflipError):
        return {}


# ---- pages already written ------------------------------------------------------------------


class _Written:
    """The pages already written, and their content."""

    def __init__(self, out: Path) -> None:
        self.out, self.last = out, time.monotonic()
        try:
            there = (out / _MANIFEST).is_file()  # reading a pipe would block
            data = json.loads((out / _MANIFEST).read_text(encoding="utf-8")) if there else {}
        except (OSError, ValueError, RecursionError):
            data = {}
        self.keys: dict[str, Any] = data if isinstance(data, dict) else {}

    def holds(self, name: str, key: str) -> bool:
        """Whether the page of this name exists and is up to date."""
        return self.keys.get(name) == key and (self.out / PAGES / f"{name}.html").is_file()

    def note(self, name: str, key: str) -> None:
        """Record a written page."""
        self.keys[name] = key
        if time.monotonic() - self.last >= _EVERY:
            self.close()

    def close(self) -> None:
        """Save the list."""
        self.last = time.monotonic()
        write_whole(self.out / _MANIFEST, json.dumps(self.keys, indent=0, sort_keys=True) + "\n")
