"""Matplotlib's SVG for a page: the same drawing in about half the characters."""

from __future__ import annotations

import re
from collections import Counter

_NOISE = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<!--.*?-->", re.S)
_AUTOMATIC = re.compile(r' id="[A-Za-z0-9.]+_\d+"')  # of groups, which nothing refers to
_STYLE = re.compile(r' style="([^"]*)"')
_MOVED = re.compile(r"translate\([^)]*\)")
# Both find only what is left out: an empty replacement takes a fifth of the time of a group.
_FINE = re.compile(r"(?<=\d\.\d)\d+")  # a tenth of a point is fine enough for a path
_FINER = re.compile(r"(?<=\d\.\d\d)\d+")
_COMMANDS = "MmLlHhVvCcSsQqTtAaZz"
_AGAIN = re.compile(r"(?<![\d.,-])(-?[\d.]+,-?[\d.]+)M\1(?=[CLQ])")  # a move to where the pen is
_REFERENCE = re.compile(r"""(href="#|url\(#)([^")]+)""")
_SIGNS = tuple((sign, f"%{ord(sign):02X}") for sign in "% #<>&\"'")  # the first is in all others


def small_svg(text: str) -> str:
    """A drawing of Matplotlib without metadata, with short names and each style written once.

    Coordinates keep one decimal. Lines that end where the next begins are joined.

    >>> small_svg('<svg> <!-- 1 --><g id="text_1"><path d="M 0 12.04 L 8.66 3 z "/></g></svg>')
    '<svg><g><path d="M0,12L8.6,3z"/></g></svg>'
    """
    text = _AUTOMATIC.sub("", _NOISE.sub("", text))
    text = re.sub(r">\s+<", "><", text).strip().replace("xlink:href", "href")
    text = _short_paths(text)
    text = re.sub(  # a filled drawing needs its parts apart
        r'<path d="[^"]*"[^>]*fill: none', lambda path: _AGAIN.sub(r"\1", path[0]), text
    )
    text = _MOVED.sub(lambda moved: _FINER.sub("", moved[0]), text)
    return _short_styles(_short_names(text))


def svg_uri(text: str) -> str:
    """A drawing as a ``data:`` URL for ``src`` and ``srcset``; shorter than base64."""
    text = re.sub(r"\s", " ", text)
    for sign, code in _SIGNS:
        text = text.replace(sign, code)
    return f"data:image/svg+xml,{text}"


def _short_paths(text: str) -> str:
    """A drawing with short numbers in its paths, all shortened in one go."""
    head, *parts = text.split(' d="')
    if not parts:
        return text
    paths, rest = [], []
    for part in parts:
        path, _, after = part.partition('"')
        paths.append(path)
        rest.append(after)
    # Numbers have one decimal once they are cut, so a zero is all of it.
    data = ",".join(_FINE.sub("", '"'.join(paths)).replace(".0", "").split())
    for sign in f'"{_COMMANDS}':
        if sign in data:
            data = data.replace(f"{sign},", sign).replace(f",{sign}", sign)
    short = zip(data.split('"'), rest, strict=True)
    return head + "".join(f' d="{path}"{after}' for path, after in short)


def _short_names(text: str) -> str:
    """Names that the drawing refers to, as short as possible."""
    used = sorted({m[2] for m in _REFERENCE.finditer(text)})
    short = {name: f"i{n:x}" for n, name in enumerate(used)}
    text = re.sub(r' id="([^"]+)"', lambda m: f' id="{short.get(m[1], m[1])}"', text)
    return _REFERENCE.sub(lambda m: m[1] + short[m[2]], text)


def _short_styles(text: str) -> str:
    """Styles that occur more than once, as classes."""
    often = [style for style, n in Counter(_STYLE.findall(text)).most_common() if n > 1]
    named = {style: f"c{n:x}" for n, style in enumerate(often)}
    text = _STYLE.sub(lambda m: f' class="{named[m[1]]}"' if m[1] in named else m[0], text)
    rules = "".join(f".{name}{{{style}}}" for style, name in named.items())
    rules = rules.replace(": ", ":").replace("; ", ";")
    return text.replace("</style>", f"{rules}</style>", 1)
