"""Remarks on the tests of a sentence, for its footnotes."""

from __future__ import annotations

CUT_SHORT = (
    "The budget of queries was spent before it was clear whether a shorter sentence is enough."
)
SPENT = "Not tested: the session's budget of queries was spent."
SPENT_AS_READ = "Not fully tested as read: the session's budget of queries was spent."
NO_DRAWS = "Whether it is true as read was not tested (draws=0)."


def too_few_left(left: int, needed: int, *, begun: bool) -> str:
    """The remark that the budget is too small for a test as read, or for another one."""
    return (
        f"{'Not fully' if begun else 'Not'} tested as read: {left:,} queries of the "
        f"budget were left, and a test takes {needed:,}."
    )
