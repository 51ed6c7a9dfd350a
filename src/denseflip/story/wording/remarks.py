"""Remarks on the tests of a sentence, for its footnotes."""

from __future__ import annotations

CUT_SHORT = (
    "The budget of questions was spent before it was clear whether a shorter sentence would do."
)
SPENT = "Not tested: the session's budget of questions was spent."
SPENT_AS_READ = "Not fully tested as read: the session's budget of questions was spent."
NO_DRAWS = "Whether it is true as read was not tested (draws=0)."


def too_few_left(left: int, needed: int, *, begun: bool) -> str:
    """The remark that the budget is too small for a test as read, or for another one."""
    return (
        f"{'Not fully' if begun else 'Not'} tested as read: of the budget of questions {left:,} "
        f"were left, and a test takes {needed:,}."
    )
