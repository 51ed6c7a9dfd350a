"""Styles and scripts of a page: inside it, or in a folder that the pages of many graphs share."""

from __future__ import annotations

import json
from pathlib import Path

from denseflip.files import write_whole
from denseflip.report.brain import packed_surface
from denseflip.report.html import SCRIPTS, STYLES, asset
from denseflip.report.palette import css_variables

STYLE, SCRIPT = "denseflip.css", "denseflip.js"


def write_assets(folder: Path) -> None:
    """Write what pages with ``assets`` load: styles, scripts and the surface of the brain."""
    folder.mkdir(exist_ok=True)
    styles = [css_variables(), *map(str, map(asset, STYLES))]
    write_whole(folder / STYLE, "\n".join(styles))
    surface = f"window.denseflipBrain = {json.dumps(packed_surface(), separators=(',', ':'))};"
    scripts = [*map(str, map(asset, SCRIPTS)), surface]
    write_whole(folder / SCRIPT, "\n".join(scripts))
