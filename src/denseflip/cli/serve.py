"""``denseflip serve``: the web app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from denseflip.cli.common import err_console
from denseflip.cli.options import documented


@documented()
def serve(
    data_sets: Annotated[list[str] | None, typer.Argument(metavar="[DATA]...")] = None,
    oracle: list[str] | None = None,
    host: str = "127.0.0.1",
    port: int = 8765,
    token: Annotated[str | None, typer.Option(envvar="DENSEFLIP_TOKEN")] = None,
    data: Path = Path("denseflip-serve"),
    workers: int = 2,
    max_upload: str = "50MB",
    max_uploads: int = 500,
    max_kept: str = "2GB",
    browser: bool = True,
) -> None:
    """Start the web app: explain graphs and change them by hand, in a browser, offline.

        denseflip serve mice

    The app shows data sets, the held-out accuracy of classifiers, live progress, the sentence and
    the brain, and has sliders to change a graph by hand. Jobs and uploads are kept in a folder and
    survive a restart. Stop the app with Ctrl-C.

    Needs the extra `web`: pip install "denseflip[web]".

    Arguments
    ---------
    data_sets : Names or .dfd files of data sets. Default: all on this machine.

    Data and classifier
    -------------------
    oracle : Your own classifier, in addition to the presets: module:function or a file written by
        `denseflip train`. Repeatable.

    Server
    ------
    host : Address to listen on. Any other than this machine needs --token.
    port : Port; 0 chooses a free one.
    token : Access token of at least 16 characters. Prefer the environment variable
        DENSEFLIP_TOKEN: a command line is visible to others.
    workers : Number of jobs that run at a time.
    browser : Open the page in a browser.

    Storage
    -------
    data : Folder for uploads and jobs; created if missing.
    max_upload : Largest size of one upload.
    max_uploads : Largest number of uploads kept; 0 turns uploads off.
    max_kept : Largest total size of uploads and results. When it is reached, new ones are refused
        until some are deleted.
    """
    import os
    import socket
    from dataclasses import replace
    from urllib.parse import quote

    from denseflip.errors import InvalidParameterError
    from denseflip.web.app import create_app
    from denseflip.web.folder_lock import FolderLock
    from denseflip.web.server_config import ServerSettings, make_server

    settings = ServerSettings(
        datasets=tuple(data_sets or ()),
        oracles=tuple(oracle or ()),
        data=data,
        host=host,
        port=port,
        token=token,
        workers=workers,
        max_upload=_size("max_upload", max_upload),
        max_uploads=max_uploads,
        max_kept=_size("max_kept", max_kept),
    ).check()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    if os.name != "nt":  # on Windows it would let two servers share a port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        FolderLock(data, "").release()  # if it is our own server, raises with its address
        msg = f"Cannot listen on {host}, port {port} ({error.strerror}). Choose another port."
        raise InvalidParameterError(msg, parameter=("host", "port")) from error
    settings = replace(settings, port=listening.getsockname()[1])
    try:
        app = create_app(settings)
    except BaseException:
        listening.close()
        raise
    address = settings.url + (f"?token={quote(token, safe='')}" if token else "")
    err_console().print(f"denseflip is running at {address}  (stop it with Ctrl-C)", soft_wrap=True)
    if browser:
        import threading
        import webbrowser

        threading.Timer(1.0, webbrowser.open, args=(address,)).start()
    make_server(app).run(sockets=[listening])


def _size(name: str, text: str) -> int:
    """Parse a size given on the command line."""
    from denseflip.errors import InvalidParameterError
    from denseflip.limits import parse_size

    try:
        return parse_size(text)
    except InvalidParameterError as error:
        msg = f"{name} must be a size such as 50MB or 2GB; got {text!r:.40}."
        raise InvalidParameterError(msg, parameter=name) from error
