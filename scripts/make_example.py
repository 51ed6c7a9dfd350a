"""Make the worked example of the app's first screen.

    python scripts/make_example.py [--out FILE]

The script runs the job in a server of its own and keeps its result, by default as
src/denseflip/web/example.json.gz. Run it again if a test says that the code gives another answer.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from denseflip.web.app import create_app
from denseflip.web.example import ASKED, FILE, kept_of, packed
from denseflip.web.schemas import JobRequest
from denseflip.web.server_config import ServerSettings

TARGET = Path(__file__).resolve().parent.parent / "src" / "denseflip" / "web" / FILE


async def run_example(folder: Path) -> dict[str, Any]:
    """What the file keeps, computed now as a job of a server over a folder."""
    app = create_app(ServerSettings(datasets=("mice",), data=folder))
    state = app.state
    async with app.router.lifespan_context(app):
        asked = JobRequest.model_validate(ASKED).model_dump()
        id = state.runner.submit("explain", asked).id
        while (job := state.store.get(id)).status in {"queued", "running"}:
            await asyncio.sleep(0.1)
        if job.status != "done":
            msg = f"The job of the example is {job.status}: {job.error}"
            raise RuntimeError(msg)
        return kept_of(state.store.result(id))


def main() -> int:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=TARGET, help="the file to write")
    target = parser.parse_args().out
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        target.write_bytes(packed(asyncio.run(run_example(Path(place)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
