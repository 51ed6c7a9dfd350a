"""Write docs/reference/cli.md from the commands, and docs/reference/options.md from `Request`.

Run it after changing a command or an option; a test fails while a page is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "cli.md"
OPTIONS_PAGE = PAGE.with_name("options.md")
OPTIONS_HEAD = """\
# Options of an explanation

<!-- Written by scripts/make_cli_reference.py: change denseflip.request, then run that. -->

Python functions take these options as keywords, the command line as flags, and
[bench files](../experiments.md) and the web API by their Python names. The same options give the
same answer everywhere.
"""
HEAD = """\
# Command line

<!-- Written by scripts/make_cli_reference.py: change the command, then run that. -->

Every command shows this with `--help`. Results go to standard output, progress and messages to
standard error. `--debug` shows the traceback of an error. Exit codes: 0 for success, 1 for a
failure, 2 for a usage error, 130 for an interruption.
"""


def commands(command: Any, path: tuple[str, ...] = ("denseflip",)) -> Iterator[tuple[str, Any]]:
    """Every command of the tree with the words that call it, groups before their members."""
    yield " ".join(path), command
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from commands(inner, (*path, name))


def render() -> str:
    """The whole page."""
    from typer.main import get_command

    from denseflip.cli.command_tree import app

    tree = list(commands(get_command(app)))
    index = "\n".join(
        f"| [`{words}`](#{words.replace(' ', '-')}) | {_summary(command)} |"
        for words, command in tree[1:]
    )
    parts = [f"{HEAD}\n| command | what it does |\n|---|---|\n{index}\n"]
    parts += [_section(words, command) for words, command in tree]
    return "\n".join(parts)


def render_options() -> str:
    """The page of all options."""
    from denseflip.cli.options import flag_of
    from denseflip.request import default_of, list_options

    parts = [OPTIONS_HEAD]
    group = ""
    for name, option in list_options(python=True).items():
        if option.group != group:
            group = option.group
            parts.append(f"\n## {group}\n\n| in Python | command line | default | what it does |")
            parts.append("|---|---|---|---|")
        python = f"`{name}`" if group != "Constraints" else f'`constraints={{"{name}": …}}`'
        flag = "" if option.kind == "object" else f"`{flag_of(name)}`"
        default = default_of(name)
        shown = "" if default in (None, (), {}) else f"`{default}`"
        text = option.text() + (f" One of: {', '.join(option.choices)}." if option.choices else "")
        bounds = f" A number{option.bounds}." if option.bounds else ""
        parts.append(f"| {python} | {flag} | {shown} | {_literal(text)}{bounds} |")
    return "\n".join(parts) + "\n"


def _literal(text: str) -> str:
    """Text as it is: options as code, since "--out" would become a dash, and no emphasis.

    >>> _literal("Add --out, or `--all`; files are *.csv.")
    'Add `--out`, or `--all`; files are \\\\*.csv.'
    """
    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        plain = parts[i].replace("*", "\\*")
        parts[i] = re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", plain)
    return "".join(parts)


def _summary(command: Any) -> str:
    return _literal(" ".join((command.help or "").strip().split("\n\n")[0].split()))


def _section(words: str, command: Any) -> str:
    shown = [p for p in command.params if not getattr(p, "hidden", False)]
    arguments = [p for p in shown if p.param_type_name == "argument"]
    options = [p for p in shown if p.param_type_name != "argument"]
    usage = [words, *(["[OPTIONS]"] if options else []), *(_metavar(p) for p in arguments)]
    if getattr(command, "commands", None):
        usage.append("COMMAND …")
    out = [f"## {words}\n", f"```text\n{' '.join(usage)}\n```\n"]
    out += [f"{_paragraph(p)}\n" for p in (command.help or "").strip().split("\n\n") if p]
    for title, params in (("argument", arguments), ("option", options)):
        if params:
            rows = "\n".join(f"| {_names(p)} | {_help(p)} |" for p in params)
            out.append(f"| {title} | |\n|---|---|\n{rows}\n")
    return "\n".join(out)


def _paragraph(text: str) -> str:
    """A paragraph of a command's help; an indented one is an example to type."""
    text = text.replace("\b\n", "")
    if all(line.startswith("  ") for line in text.splitlines()):
        return "```console\n" + "\n".join(f"$ {x.strip()}" for x in text.splitlines()) + "\n```"
    return _literal(text)


def _metavar(param: Any) -> str:
    name = param.metavar or param.name.upper()
    if not param.required and not name.startswith("["):
        name = f"[{name}]"
    return f"{name}…" if param.nargs == -1 and "…" not in name else name


def _names(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{_metavar(param)}`"
    return ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))


def _help(param: Any) -> str:
    text = " ".join((getattr(param, "help", None) or "").split()).replace("|", "\\|")
    text = _literal(text)
    notes = []
    if param.required and param.param_type_name != "argument":
        notes.append("required")
    default = param.default
    if default is not None and not isinstance(default, bool) and not callable(default):
        notes.append(f"default: `{default}`")
    return f"{text} ({', '.join(notes)})" if notes else text


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    OPTIONS_PAGE.write_text(render_options(), encoding="utf-8")
