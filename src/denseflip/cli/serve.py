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
    from denseflip.errors import InvalidParameterError, MissingExtraError
    from denseflip.web.app import create_app
    from denseflip.web.config import Settings

    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtraError("uvicorn", "web") from error
    import socket
    from dataclasses import replace
    from urllib.parse import quote

    settings = Settings(
        datasets=tuple(data_sets or ()),
        oracles=tuple(oracle or ()),
        data=data,
        host=host,
        port=port,
        token=token,
        workers=workers,
    ).check()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        msg = f"Cannot listen on {host}, port {port} ({error.strerror}). Give another port."
        raise InvalidParameterError(msg, parameter=("host", "port")) from error
    settings = replace(settings, port=listening.getsockname()[1])
    app = create_app(settings)
    address = settings.url + (f"?token={quote(token, safe='')}" if token else "")
    err_console().print(f"denseflip serves at {address}  (Ctrl-C ends it)", soft_wrap=True)
    if browser:
        import threading
        import webbrowser

        threading.Timer(1.0, webbrowser.open, args=(address,)).start()
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=3)
    )
    server.run(sockets=[listening])
