"""Send a server what Schemathesis makes of its OpenAPI description; no answer may be a 5xx.

Every operation gets so many cases, right and wrong ones, with real keys mixed in. Prints how many
were sent and which statuses came back.
"""

from __future__ import annotations

import argparse
import collections
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from web_kill import ask, first_subject, start


def main() -> None:
    """Send, count, and fail on a 5xx."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", type=int, default=140, help="cases of each operation")
    parser.add_argument("--study", default="mice", help="a data set, by name or file")
    told = parser.parse_args()
    warnings.simplefilter("ignore")
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    statuses: collections.Counter[str] = collections.Counter()
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        server, url = start(Path(name), told.study)
        schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
        known = first_subject(url) | {"classifier": "sf-knn"}
        job = ask(f"{url}/api/jobs", known | {"method": "con"})["id"]
        known["key"] = known["dataset"]

        def real(case: Any, mix: int) -> None:
            """Some cases with keys that exist, so that they get past the first check."""
            if mix % 2 == 0:
                return
            for place in (case.path_parameters, case.query):
                for key in list(place or {}):
                    if key == "id":
                        place[key] = job
                    elif key in known:
                        place[key] = known[key]
            if mix % 4 == 1 and isinstance(case.body, dict):
                case.body.update({k: v for k, v in known.items() if k != "key"})

        def run(strategy: Any) -> None:
            @given(case=strategy, mix=st.integers(0, 7))
            @settings(
                max_examples=told.cases,
                deadline=None,
                derandomize=True,
                database=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            def send(case: Any, mix: int) -> None:
                if case.method == "DELETE" and mix % 2:
                    return  # not to lose what the others need
                real(case, mix)
                try:
                    answer = case.call(timeout=60)
                except Exception as error:
                    statuses[f"not sent: {type(error).__name__}"] += 1
                    return
                statuses[str(answer.status_code)] += 1
                if answer.status_code >= 500:
                    failures.append(f"{case.method} {case.formatted_path} {answer.text[:300]}")

            send()

        for result in schema.get_all_operations():
            operation = result.ok()
            for mode in (
                schemathesis.GenerationMode.POSITIVE,
                schemathesis.GenerationMode.NEGATIVE,
            ):
                try:
                    run(operation.as_strategy(generation_mode=mode))
                except Exception as error:  # nothing to send of this kind, e.g. no parameters
                    if "Unsatisfiable" not in type(error).__name__:
                        statuses[f"not made: {type(error).__name__}"] += 1
        server.terminate()
        server.wait()
    sent = sum(n for status, n in statuses.items() if status.isdecimal())
    listed = ", ".join(f"{status}: {n}" for status, n in sorted(statuses.items()))
    sys.stdout.write(f"{sent} cases sent, {len(failures)} answers of 5xx ({listed})\n")
    for failure in failures[:5]:
        sys.stdout.write(f"  {failure}\n")
    if failures:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
