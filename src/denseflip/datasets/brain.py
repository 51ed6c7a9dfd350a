"""The paper's seven data sets of human brain networks: downloaded, checked, converted once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from denseflip.datasets import pickles
from denseflip.datasets.atlas import add_groups, load_aal
from denseflip.datasets.base import Dataset
from denseflip.datasets.cache import (
    Progress,
    RemoteFile,
    cache_folder,
    find_file,
    obtain,
    read_checked,
)
from denseflip.datasets.cards import COMMIT, REPOSITORY, brain_card
from denseflip.datasets.dataset_file import SUFFIX, VERSION, read_dataset, write_dataset
from denseflip.errors import DatasetError, FileFormatError, HashMismatchError, UnknownNameError
from denseflip.graph import Nodes

_RAW = REPOSITORY.replace("//github.com/", "//raw.githubusercontent.com/") + f"/{COMMIT}"


@dataclass(frozen=True)
class Brain:
    """One of the seven data sets: its file and expected content."""

    file: RemoteFile
    class_names: tuple[str, str]
    n_graphs: int
    n_class_1: int
    n_nodes: int
    mean_edges: str
    aal: bool


def _brain(
    file: str, sha: str, classes: tuple[str, str], counts: tuple[int, int, int], edges: str
) -> Brain:
    n_graphs, n_class_1, n_nodes = counts
    remote = RemoteFile(file, f"{_RAW}/data/{file}", sha)
    return Brain(remote, classes, n_graphs, n_class_1, n_nodes, edges, n_nodes == 116)


BRAINS: Mapping[str, Brain] = {
    "aut": _brain(
        "autism_graphs.pkl",
        "11308c9005fd64d7a87ad879e50a1e86cb9ba70ea7f9c758de345c1fe57c4cd7",
        ("Typically Developed", "Autism Spectrum Disorder"),
        (101, 49, 116),
        "655.6",
    ),
    "bip": _brain(
        "bip80_graphs.pkl",
        "8b756aa269b48a4f92c56cb9776ac55ba823c8e7a7258a38cd3d9f481eba102d",
        ("Typically Developed", "Bipolar"),
        (118, 54, 116),
        "1334",
    ),
    "adhd": _brain(
        "adhd_90_graphs.pkl",
        "fa42aa7f6317c1fec287c26385022d2725d884742f8d74af862a61e02dca9c23",
        ("Typically Developed", "ADHD"),
        (123, 39, 116),
        "667",
    ),
    "adhdm": _brain(
        "adhdm_90_graphs.pkl",
        "7e12812c6aed8ccf4d1badb794372168f4eea1812544000dd66a063a589a522d",
        ("Marijuana not used", "Marijuana used"),
        (123, 61, 116),
        "667",
    ),
    "ohsu": _brain(
        "OHSU_graphs.pkl",
        "73348172aa58b7c6b0ab8c448f49e88dbee04f9f0f08755e1a27606eecfb37de",
        ("control", "ADHD"),
        (79, 44, 190),
        "199.7",
    ),
    "pek": _brain(
        "Peking_1_graphs.pkl",
        "3d96e56b29faae039f2bd479e2617f2a309e15b6553bffd37152460c145c3d2f",
        ("control", "hyperactive-impulsive"),
        (85, 36, 190),
        "77.4",
    ),
    "kki": _brain(
        "KKI_graphs.pkl",
        "1e6573e856fb2de234cf0423624652dec4a4883fffd8721f0fb945572f0a668c",
        ("female", "male"),
        (83, 46, 190),
        "48.4",
    ),
}

AUTHORS_REGIONS = RemoteFile(
    "aal_regions.pkl",
    f"{_RAW}/aal_regions.pkl",
    "9d9b19bc702dcd6f8298604967065d2f96873ae79d5e58b317a4d375c49f5388",
)


def load_brain(name: str, *, progress: Progress | None = None) -> Dataset:
    """Load one of the paper's seven data sets; download it if it is not on this machine.

    Searches the folder in DENSEFLIP_DATA, then the cache, then downloads it. The hash is checked
    before the file is read. The file is converted once to the safe format, which is cached under
    its hash.
    """
    if name not in BRAINS:
        raise UnknownNameError("brain data set", name, BRAINS)
    brain = BRAINS[name]
    converted = _converted(brain)
    dataset = _read_converted(converted)
    # Report a wrong file even if a converted copy of the right one exists.
    path = find_file(brain.file)
    content = read_checked(path, brain.file) if path else b""
    if dataset is None:
        content = content or obtain(brain.file, progress=progress)
        dataset = _convert(name, brain, content)
        _keep(dataset, converted)
    sizes = f"{brain.n_graphs} graphs, {brain.n_class_1} of class 1; {brain.n_nodes} nodes; "
    sizes += f"{brain.mean_edges} edges on average."
    nodes = _aal_nodes() if brain.aal else Nodes.numbered(brain.n_nodes)
    return replace(dataset, nodes=nodes, card=brain_card(name, sizes))


def fetch_brain(name: str, *, progress: Progress | None = None) -> Dataset:
    """`load_brain`, with the authors' own grouping of the regions if it is available."""
    dataset = load_brain(name, progress=progress)
    if not BRAINS[name].aal:
        return dataset
    try:
        obtain(AUTHORS_REGIONS, progress=progress)
    except HashMismatchError:
        raise
    except DatasetError:  # the graphs are usable without the grouping
        return dataset
    return load_brain(name)


def is_local(name: str) -> bool:
    """Whether the data set can be loaded without the network."""
    brain = BRAINS[name]
    return find_file(brain.file) is not None or _converted(brain).is_file()


def _convert(name: str, brain: Brain, content: bytes) -> Dataset:
    pairs = pickles.read_graphs(content, brain.file.name)
    return Dataset(
        name=name,
        graphs=tuple(graph for graph, _ in pairs),
        labels=tuple(label for _, label in pairs),
        class_names=brain.class_names,
        ids=tuple(f"{name}-{i:03d}" for i in range(len(pairs))),
        attributes={"file": brain.file.name, "sha256": brain.file.sha256},
    )


def _converted(brain: Brain) -> Path:
    return cache_folder() / f"{brain.file.sha256[:16]}-v{VERSION}{SUFFIX}"


def _read_converted(path: Path) -> Dataset | None:
    """The converted file; None if it is missing or damaged (it is then converted again)."""
    try:
        return read_dataset(path)
    except FileFormatError:
        return None


def _keep(dataset: Dataset, path: Path) -> None:
    """Cache the converted file; a cache that cannot be written only costs time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_dataset(dataset, path, force=True)
    except (OSError, DatasetError):
        return


def _aal_nodes() -> Nodes:
    """The AAL table, with the authors' grouping if their file is on this machine."""
    path = find_file(AUTHORS_REGIONS)
    if path is None:
        return load_aal()
    groups = pickles.read_groups(read_checked(path, AUTHORS_REGIONS), path.name)
    return add_groups(load_aal(), "authors", groups)
