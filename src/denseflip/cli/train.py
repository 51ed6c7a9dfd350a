"""``denseflip train`` and ``denseflip evaluate``: classifiers and how good they are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denseflip.cli.common import err_console, out_console, print_json, progress
from denseflip.cli.experiments import split_words
from denseflip.cli.options import documented

if TYPE_CHECKING:
    from denseflip.classifiers.evaluation import Evaluation
    from denseflip.classifiers.tellability import Tellability
    from denseflip.datasets import Dataset
    from denseflip.runs.sources import Trainer

_TOLD = ("described", "places", "edits", "language, reading")  # columns for --tell


@documented()
def train(
    dataset: Annotated[str, typer.Argument(metavar="DATASET")],
    preset: Annotated[str | None, typer.Option("--preset", "-p")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o")] = None,
    regions: str | None = None,
    folds: int = 5,
    repeats: int = 10,
    permutations: int = 200,
    seed: int = 0,
    confounds: Annotated[str | None, typer.Option(metavar="COLUMNS")] = None,
    site: Annotated[str | None, typer.Option(metavar="COLUMN")] = None,
    skip_evaluation: bool = False,
    tell: Annotated[int, typer.Option(metavar="N", min=0)] = 0,
    refits: Annotated[int, typer.Option(metavar="N", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    force: bool = False,
) -> None:
    """Train a classifier, evaluate it on held-out graphs, and save it with its evaluation.

    Arguments
    ---------
    dataset : A name from `denseflip data list`, or a file written by `denseflip data import`.

    Data and classifier
    -------------------
    preset : sf-knn (as the paper describes it), edges-svm, edges-logistic, regions-logistic, or
        published (as used for the numbers printed in the paper). Default, as in `denseflip
        explain`: regions-logistic for data with regions or node types, else sf-knn.
    regions : Taxonomy for regions-logistic and for sentences. Default: the first.

    Evaluation
    ----------
    folds : Folds of the cross-validation.
    repeats : Repeats with new folds.
    permutations : Label permutations for the p-value; 0 turns it off.
    seed : Seed of folds and permutations.
    confounds : Columns of the subject table, e.g. age,sex,site,motion. They are regressed out
        inside each fold, and also evaluated alone, for comparison.
    site : Column of the site, for leave-site-out evaluation and permutation within sites. Default:
        the confound named after sites.
    skip_evaluation : Train only. The card of the classifier records this.
    tell : Explain this many decisions about held-out graphs, and report in how many places they can
        be described by sentences that are true as read; 0 turns it off.

    Output
    ------
    out : File for the classifier. Default: DATASET-PRESET.dfo.
    refits : Also train the classifier this many times on resampled data, and save these refits in a
        folder beside the file (x-refits for x.dfo). `denseflip explain --oracle x.dfo` uses them.
    as_json : Print JSON instead of tables.
    force : Overwrite an existing file.
    """
    from denseflip.checks import check_new_file
    from denseflip.classifiers.persist import SUFFIX
    from denseflip.classifiers.presets import default_preset, fit_oracle
    from denseflip.cli.data import open_dataset

    if skip_evaluation and (confounds or site):
        msg = "Confounds are used by the evaluation only, which --skip-evaluation turns off."
        raise typer.BadParameter(msg, param_hint="--confounds")
    if preset is not None:
        _trainer(preset)
    data = open_dataset(dataset)
    preset = preset or default_preset(data)
    trainer = _trainer(preset)
    target = check_new_file(out or Path(_file_name(data.name, preset) + SUFFIX), force=force)
    _check_refits(refits, target, force=force)
    evaluation = None
    if not skip_evaluation:
        how: dict[str, Any] = {"folds": folds, "repeats": repeats, "seed": seed}
        how |= {"permutations": permutations, "confounds": confounds, "site": site}
        evaluation = _evaluate(data, preset, regions, how)
    told = _tell(data, preset, regions, folds, tell, seed) if tell else None
    _say(f"Training {preset} on all {len(data)} graphs of {data.name} …")
    if trainer is not None:
        oracle: Any = trainer.fit(data)
    else:
        oracle = fit_oracle(data, preset=preset, regions=regions, seed=seed)
    oracle = oracle.with_card(evaluation=evaluation.to_dict() if evaluation else None)
    if told:
        oracle = oracle.with_card(tellability=told.to_dict())
    oracle.save(target, force=force)
    folder = _refit(data, oracle, refits, target) if refits else None
    if as_json:
        beside = {"refits": str(folder)} if folder else {}
        print_json({"file": str(target), **beside, "card": dict(oracle.card)})
        return
    console = out_console()
    if evaluation:
        _print(evaluation)
    if told:
        console.print(told.verdict, markup=False)
    chosen = ", ".join(f"{k} = {v}" for k, v in oracle.card["chosen"].items())
    console.print(
        f"Trained on all {len(data)} graphs{f' ({chosen})' if chosen else ''}, saved: {target}",
        markup=False,
    )
    if folder:
        console.print(f"Trained again {_times(refits)}, saved: {folder}", markup=False)
    if not evaluation:
        err_console().print("Not evaluated: its accuracy on new graphs is unknown.")


@documented(train)
def evaluate(
    dataset: Annotated[str, typer.Argument(metavar="DATASET")],
    preset: Annotated[str | None, typer.Option("--preset", "-p")] = None,
    regions: str | None = None,
    folds: int = 5,
    repeats: int = 10,
    permutations: int = 200,
    seed: int = 0,
    confounds: Annotated[str | None, typer.Option(metavar="COLUMNS")] = None,
    site: Annotated[str | None, typer.Option(metavar="COLUMN")] = None,
    oracle: str | None = None,
    input: str = "auto",
    tell: Annotated[int, typer.Option(metavar="N", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o")] = None,
    force: bool = False,
) -> None:
    """Evaluate a classifier on held-out graphs, and by the paper's protocol.

    With --tell, also report in how many places its decisions can be described by sentences that
    are true as read. With --confounds, also compare it with age, sex, site, motion and so on. With
    --oracle, evaluate any classifier that can be explained.

    Data and classifier
    -------------------
    preset : As in `denseflip train`; several, separated by commas, are compared.
    oracle : Evaluate this classifier instead: module:function, or a file written by `denseflip
        train`, as in `denseflip explain`. One that cannot be retrained is evaluated on graphs that
        it may have seen; the result says so.
    input : What module:function takes: adjacency, networkx, sparse or graph; auto detects it.

    Output
    ------
    out : Also write the results to a JSON file.
    """
    from denseflip.checks import check_new_file
    from denseflip.classifiers.presets import default_preset
    from denseflip.cli.data import open_dataset

    if oracle is not None and (tell or regions):
        msg = "--tell and --regions apply to presets only, not to --oracle. Leave them out."
        raise typer.BadParameter(msg, param_hint="--oracle")
    target = check_new_file(out, force=force) if out else None
    if preset is not None:
        for name in _listed(preset) or [preset]:
            _trainer(name)
    data = open_dataset(dataset)
    names = _listed(preset or default_preset(data))
    evaluated: list[tuple[Evaluation, Tellability | None]] = []
    how: dict[str, Any] = {"folds": folds, "repeats": repeats, "seed": seed}
    how |= {"permutations": permutations, "confounds": confounds, "site": site}
    opened = None
    if oracle is not None:
        from denseflip.oracles.open import open_oracle

        names, opened = [oracle], open_oracle(oracle, dataset=data, input=input)
    for name in names:
        evaluation = _evaluate(data, name, regions, how, opened)
        told = _tell(data, name, regions, folds, tell, seed) if tell else None
        evaluated.append((evaluation, told))
    figures = _figures(evaluated)
    if target:
        text = json.dumps(figures, indent=2, ensure_ascii=False)
        from denseflip.files import write_whole

        write_whole(target, text + "\n")
    if as_json:
        print_json(figures)
        return
    for evaluation, told in evaluated:
        _print(evaluation)
        if told:
            out_console().print(told.verdict, markup=False)
    if len(evaluated) > 1:
        _print_side_by_side(evaluated)
    if target:
        out_console().print(f"Written: {target}", markup=False)


def _check_refits(n: int, target: Path, *, force: bool) -> None:
    """Refuse a folder of refits that belongs to another classifier, unless it may be replaced."""
    from denseflip.classifiers.refits import refits_folder

    folder = refits_folder(target)
    if n and folder.exists() and not folder.is_dir():
        msg = f"{folder} is a file, and refits are saved in a folder of that name."
        raise typer.BadParameter(msg, param_hint="--refits")
    if folder.is_dir() and any(folder.iterdir()) and not (n and force):
        remedy = "--force replaces them" if n else "delete the folder, or pass --refits and --force"
        msg = f"{folder} has refits of an earlier classifier: {remedy}."
        raise typer.BadParameter(msg, param_hint="--refits")


def _refit(data: Dataset, oracle: Any, n: int, target: Path) -> Path:
    from denseflip.classifiers.refits import make_refits, save_refits

    _say(f"Training it again {_times(n)} on resampled data …")
    return save_refits(make_refits(data, oracle, n), target)


def _trainer(preset: str) -> Trainer | None:
    """Return the trainer of a classifier that is not a preset, else None; refuse unknown names."""
    from denseflip.runs.sources import TRAINERS, preset_oracle

    preset_oracle(preset)  # raises if the name is unknown
    return TRAINERS.get(preset)


def _evaluate(
    data: Dataset, preset: str, regions: str | None, settings: dict[str, Any], oracle: Any = None
) -> Evaluation:
    """Evaluate a preset, or an oracle; ``preset`` is then its name."""
    from denseflip.classifiers.crossval import evaluate as cross_validate

    what, given = f"{preset} on {data.name}", oracle is not None
    trainer = None if given else _trainer(preset)
    with _bar(what, settings["repeats"], settings["permutations"], oracle=given) as report:
        settings = {**settings, "progress": report}
        if trainer is not None:
            known = {name: value for name, value in settings.items() if value is not None}
            return trainer.evaluate(data, **known)
        if given:
            return cross_validate(data, oracle=oracle, preset=None, regions=regions, **settings)
        return cross_validate(data, preset=preset, regions=regions, **settings)


def _tell(
    data: Dataset, preset: str, regions: str | None, folds: int, graphs: int, seed: int
) -> Tellability:
    from denseflip.classifiers.tellability import tellability

    trainer = _trainer(preset)
    text = f"Describing decisions of {preset} on {data.name}"
    with progress() as bar:
        task = bar.add_task(text, total=graphs, visible=False)

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=True)
            if done == 0:
                _say(f"{text}: {total} held-out graphs …")

        return tellability(
            data,
            preset,
            regions=regions,
            graphs=graphs,
            folds=folds,
            seed=seed,
            fit=None if trainer is None else trainer.fit,
            progress=report,
        )


def _figures(judged: list[tuple[Evaluation, Tellability | None]]) -> dict[str, Any]:
    """The evaluation of one classifier; of several, all of them and the preferred one."""
    listed = [
        {**e.to_dict(), **({"tellability": told.to_dict()} if told else {})} for e, told in judged
    ]
    if len(listed) == 1:
        return listed[0]
    name, reason = _preferred(judged)
    return {"presets": listed, "preferred": name, "reason": reason}


def _preferred(judged: list[tuple[Evaluation, Tellability | None]]) -> tuple[str | None, str]:
    from denseflip.classifiers.tellability import prefer

    both = [(e, told) for e, told in judged if told is not None]
    return prefer(both) if both else (None, "")


def _print_side_by_side(judged: list[tuple[Evaluation, Tellability | None]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(pad_edge=False)
    tell = any(told for _, told in judged)
    for name in ("classifier", "held-out", "95 % interval", "better", *_TOLD * tell):
        table.add_column(name, no_wrap=name != _TOLD[-1])
    for e, told in judged:
        row = [
            escape(e.preset or e.features),
            f"{e.accuracy:.3f}",
            f"{e.interval[0]:.2f} – {e.interval[1]:.2f}",
            {"better": "yes", "unclear": "unclear", "chance": "no", "seen": "not known"}[e.level],
        ]
        if told:
            cells = "–" if told.median_cells is None else f"{told.median_cells:g}"
            edits = "–" if told.median_edits is None else f"{100 * told.median_edits:.0f} %"
            spoken = ", ".join((*told.languages, *told.readings))
            row += [f"{len(told.told)} of {told.n_graphs}", cells, edits, escape(spoken)]
        table.add_row(*row)
    console = out_console()
    console.print(table)
    if reason := _preferred(judged)[1]:
        console.print(f"[bold]{escape(reason)}[/]")


@contextmanager
def _bar(
    what: str, repeats: int, permutations: int, *, oracle: bool = False
) -> Iterator[Callable[[int, int], None]]:
    """A bar in a terminal, otherwise a line per stage; nothing until the input is checked.

    An oracle gets one line: whether it can be retrained is known only during its evaluation.
    """
    with progress() as bar:
        total = max(repeats, 0) + max(permutations, 0)
        task = bar.add_task(f"Evaluating {what}", total=total, visible=False)

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=True)
            if oracle:
                if done == 0:
                    _say(f"Evaluating {what} …")
                return
            if done == 0:
                _say(f"Evaluating {what}: cross-validation, {_times(repeats)} …")
            if done == repeats and permutations:
                _say(f"Evaluating {what}: permuted labels, {_times(permutations)} …")

        yield report


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _say(text: str) -> None:
    """Print to standard error if no progress bar can be drawn."""
    console = err_console()
    if not console.is_terminal:
        console.print(text, markup=False, soft_wrap=True)


def _print(e: Evaluation) -> None:
    from rich.markup import escape
    from rich.table import Table

    from denseflip.errors import counted

    console = out_console()
    classes = ", ".join(f"{name} {count}" for name, count in e.class_counts.items())
    console.print(
        f"[bold]{escape(e.preset or e.features)}[/] on [bold]{escape(e.dataset)}[/]: "
        f"{e.n_graphs} graphs ({escape(classes)})"
    )
    table = Table("protocol", "accuracy", "95 % interval", "F1", "balanced accuracy")
    for column in table.columns[1:]:
        column.justify = "right"
    seen = e.protocol == "as given"
    times = counted(e.repeats, "repeat", "repeats")
    table.add_row(
        "all graphs (it may have seen them)"
        if seen
        else f"held-out graphs (nested {e.folds}-fold CV, {times})",
        f"{e.accuracy:.3f}",
        f"{e.interval[0]:.3f} – {e.interval[1]:.3f}",
        f"{e.f1:.3f}",
        f"{e.balanced_accuracy:.3f}",
    )
    if not seen:
        what = "the paper's protocol (all graphs, including training graphs)"
        table.add_row(what, f"{e.training_accuracy:.3f}", "", f"{e.training_f1:.3f}")
    table.add_row("always the largest class", f"{e.majority_rate:.3f}")
    _add_permuted(table, e, "permuted labels", e.p_value, e.null_mean)
    _add_confounds(table, e)
    console.print(table)
    names = [escape(name) for name in e.class_counts]
    counts = Table("true class", *(f"predicted {name}" for name in names))
    for column in counts.columns[1:]:
        column.justify = "right"
    for name, row in zip(names, e.confusion, strict=True):
        counts.add_row(name, *(f"{x / e.repeats:.1f}" for x in row))
    console.print("All graphs (it may have seen them):" if seen else "Held-out graphs per repeat:")
    console.print(counts)
    console.print(f"[bold]{escape(e.verdict)}[/]")
    if e.warning:
        console.print(f"[bold yellow]Warning:[/] {escape(e.warning)}")


def _add_confounds(table: Any, e: Evaluation) -> None:
    """Add the rows of the confounds, if any."""
    from rich.markup import escape

    found = e.confounds
    if found is None:
        return
    names = escape(", ".join(found.columns))
    rows: list[tuple[str, float | None, tuple[float, float] | None]] = [
        ("confounds alone", found.alone, found.alone_interval),
        (
            f"leave-site-out ({found.n_sites} sites)",
            found.leave_site_out,
            found.leave_site_out_interval,
        ),
    ]
    if found.regressed:
        what = f"held-out graphs, {names} regressed out"
        rows.insert(0, (what, found.accuracy, found.interval))
    for what, share, interval in rows:
        if share is not None and interval is not None:
            table.add_row(what, f"{share:.3f}", f"{interval[0]:.3f} – {interval[1]:.3f}")
    within = " within sites" if found.site else ""
    _add_permuted(table, e, f"permuted labels{within}", found.p_value, found.null_mean)


def _add_permuted(
    table: Any, e: Evaluation, what: str, p_value: float | None, mean: float | None
) -> None:
    """Add the row of a permutation test, if there was one."""
    if p_value is not None and mean is not None:
        said = f"p = {p_value:.3g}" if e.enough_shuffles else "too few to test"
        table.add_row(f"{what} ({_times(e.permutations)})", f"{mean:.3f}", said)


def _listed(presets: str) -> list[str]:
    """The names in a list with commas, each once."""
    return list(dict.fromkeys(split_words(presets)))


def _file_name(name: str, preset: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name).strip('-.') or 'data'}-{preset}"
