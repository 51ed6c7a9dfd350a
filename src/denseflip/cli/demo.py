"""``denseflip demo``: a complete example on the bundled mouse brains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from denseflip.cli.common import out_console, plain_table, this_command
from denseflip.cli.newcomers import write_tutorial
from denseflip.cli.options import documented
from denseflip.cli.progress import ProgressLine

if TYPE_CHECKING:
    from denseflip.story.story import Story
    from denseflip.workflow.choose_classifier import Choice, RatedClassifier

CANDIDATES = ("regions-logistic", "edges-svm", "sf-knn")
BUDGET = 1000  # queries per method of the comparison; keeps the demo short


@documented()
def demo(out: Path = Path("denseflip-demo"), force: bool = False, notebook: bool = False) -> None:
    """Explain one mouse brain under three classifiers, from data to page; works offline.

    Loads 16 mouse connectomes (B6 and BTBR; BTBR mice are born without a corpus callosum), trains
    three classifiers, evaluates them on held-out mice, and finds for each what would turn a BTBR
    mouse into a B6. Then compares all methods on the most accurate classifier.

    Options
    -------
    out : Folder for the page.
    force : Overwrite what is in --out.
    notebook : Write the first tutorial as a Jupyter notebook into --out instead.
    """
    from denseflip.checks import check_new_folder
    from denseflip.cli.compare import comparison_table
    from denseflip.datasets.cards import KNOWN_OF_MICE
    from denseflip.datasets.registry import load_dataset
    from denseflip.workflow.choose_classifier import choose_classifier
    from denseflip.workflow.compare import COMPARED, Compared, compare
    from denseflip.workflow.explain_and_describe import explain_and_describe
    from denseflip.workflow.outputs import write_outputs
    from denseflip.workflow.subject import Subject

    check_new_folder(out, force=force)
    console = out_console()
    if notebook:
        written = write_tutorial(out)
        console.print(f"Wrote {written}. Open it with Jupyter or VS Code.", soft_wrap=True)
        return
    mice = load_dataset("mice")
    console.print(
        f"[bold]Data[/]  {len(mice)} mouse brains, {mice.nodes.n_nodes} nodes in "
        f"{len(mice.nodes.taxonomy().regions)} regions, "
        f"{' and '.join(mice.class_names)}. {KNOWN_OF_MICE}",
        soft_wrap=True,
    )
    mouse = mice[mice.labels.index(1)]
    subject = Subject(mouse.graph, f"Mouse {mouse.id}", mice.nodes, mice, mice.name)
    with ProgressLine("auto") as watch:
        watch.say("Training three classifiers and evaluating them on held-out mice …")
        choice = choose_classifier(mice, CANDIDATES)
        console.print("[bold]Classifiers[/]")
        console.print(_accuracies(choice))
        console.print(f"{choice.reason}\n", soft_wrap=True)
        stories: dict[str, Story] = {}
        for rated in choice.rated:
            watch.rename(f"{rated.preset}: auto")
            stories[rated.preset] = explain_and_describe(
                subject,
                rated.oracle,
                "auto",
                evaluation=rated.evaluation,
                on_event=watch.listener,
            )
            _print_story(console, rated, stories[rated.preset])
        rows = [Compared("auto", stories[choice.chosen.preset])]
        rows += compare(
            subject,
            choice.oracle,
            [name for name in COMPARED if name != "auto"],
            budget=BUDGET,
            evaluation=choice.evaluation,
            progress=watch.rename,
            on_event=watch.listener,
        )
        limit = f"at most {BUDGET} queries each, except auto"
        console.print(f"[bold]All methods, explaining {choice.chosen.preset}[/]  ({limit})")
        console.print(comparison_table(rows))
        watch.say("Writing the page …")
        paths = write_outputs(
            rows,
            out,
            choice.oracle,
            classifiers=stories,
            dataset=mice,
            command=this_command(),
            force=force,
        )
    console.print(f"\n[bold]Page[/]  {paths[0]} (open it in a browser)", soft_wrap=True)


def _accuracies(choice: Choice) -> Any:
    numbers = ("held-out accuracy", "95 % interval", "p")
    table = plain_table("classifier", *numbers, right=numbers)
    for row in choice.rated:
        e = row.evaluation
        table.add_row(
            row.preset,
            f"{e.accuracy:.2f}",
            f"{e.interval[0]:.2f}–{e.interval[1]:.2f}",
            "–" if e.p_value is None else f"{e.p_value:.3f}",
        )
    return table


def _print_story(console: Any, rated: RatedClassifier, story: Story) -> None:
    """Print the sentence of one classifier, its language, and whether it is true."""
    from rich.markup import escape

    from denseflip.report.front import beside, language_words, told

    sentence = told(story)
    how = f"{story.badge.text}; {language_words(story)}" if story.result.found else ""
    console.print(f"[bold]{rated.preset}[/]  {escape(how)}", soft_wrap=True)
    console.print(escape(sentence.lead), soft_wrap=True)
    for item in sentence.items:
        console.print(f"  - {escape(item)}", soft_wrap=True)
    for note in filter(None, (beside(story)[0], *story.result.notes)):
        console.print(f"  * {escape(note)}", style="dim", soft_wrap=True)
    console.print()
