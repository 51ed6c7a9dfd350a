"""``denseflip serve``: the web app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from denseflip.cli.common import err_console


def serve(
    data_sets: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names or .dfd files of data sets; default: all on this machine.",
            metavar="[DATA]...",
        ),
    ] = None,
    oracle: Annotated[
        list[str] | None,
        typer.Option(
            help="A classifier of your own beside the presets: module:function or a file written "
            "by `denseflip train`. May be given often."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; any but this machine needs --token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="DENSEFLIP_TOKEN",
            help="What visitors must show, at least 16 characters; better given as "
            "DENSEFLIP_TOKEN in the environment than on the command line.",
        ),
    ] = None,
    data: Annotated[
        Path, typer.Option(help="Folder for uploads and jobs; made if it is not there.")
    ] = Path("denseflip-serve"),
    workers: Annotated[int, typer.Option(help="Jobs that run at a time.")] = 2,
    max_upload: Annotated[str, typer.Option(help="How large one upload may be.")] = "50MB",
    max_uploads: Annotated[
        int, typer.Option(help="How many uploads are kept in the folder; 0 takes none.")
    ] = 500,
    max_kept: Annotated[
        str,
        typer.Option(
            help="How much the uploads and answers in the folder may take; then new ones are "
            "refused until some are deleted."
        ),
    ] = "2GB",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Look at explanations, ask "what if", and take them away, in a browser; needs no network.

        denseflip serve mice

    Data sets, classifiers with their honest accuracy, live progress, the sentence, the brain, and
    sliders to change a graph by hand. Jobs and uploads are kept in a folder and survive a restart.
    Stop it with Ctrl-C. Needs the extra `web`: pip install "denseflip[web]".
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
    if os.name != "nt":  # there it would let two servers have one port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        FolderLock(data, "").release()  # the same server, perhaps: then its address is told
        msg = f"Cannot listen on {host}, port {port} ({error.strerror}). Give another port."
        raise InvalidParameterError(msg, parameter=("host", "port")) from error
    settings = replace(settings, port=listening.getsockname()[1])
    try:
        app = create_app(settings)
    except BaseException:
        listening.close()
        raise
    address = settings.url + (f"?token={quote(token, safe='')}" if token else "")
    err_console().print(f"denseflip serves at {address}  (Ctrl-C ends it)", soft_wrap=True)
    if browser:
        import threading
        import webbrowser

        threading.Timer(1.0, webbrowser.open, args=(address,)).start()
    make_server(app).run(sockets=[listening])


def _size(name: str, text: str) -> int:
    """A size as it is given on the command line."""
    from denseflip.errors import InvalidParameterError
    from denseflip.limits import parse_size

    try:
        return parse_size(text)
    except InvalidParameterError as error:
        msg = f"{name} must be a size such as 50MB or 2GB; got {text!r:.40}."
        raise InvalidParameterError(msg, parameter=name) from error
