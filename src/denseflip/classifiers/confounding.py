"""`Confounding`: what an evaluation found about age, sex, site …, in figures and words."""

from __future__ import annotations

from dataclasses import dataclass

from denseflip.serialise import Serialisable


@dataclass(frozen=True)
class Confounding(Serialisable, named="the confounds of an evaluation"):
    """How a classifier compares with its confounds; a result of `evaluate` with ``confounds``.

    Attributes
    ----------
    columns : the confounds, columns of the data set's subject table.
    site : the confound that is the site; None if there is none.
    n_sites, n_coded : number of sites; number of columns that code the confounds.
    regressed : whether the confounds were regressed out of the features inside each fold, with
        coefficients from the training part alone. A classifier without features, or one that
        cannot be retrained, is evaluated without regression.
    plain : accuracy without regard to confounds.
    accuracy, interval : accuracy with regard to them, and its 95 % interval (Wilson's, by graphs).
    p_value, null_mean : from label shuffles *within sites* (among all graphs if there is no site).
    alone, alone_interval : accuracy from the confounds alone, on the same folds.
    leave_site_out, leave_site_out_interval : accuracy on each site after training on the others,
        with the other confounds regressed out; None if that was not possible.
    remark : the reason, or which sites were left out.
    """

    columns: tuple[str, ...]
    site: str | None
    n_sites: int
    n_coded: int
    regressed: bool
    plain: float
    accuracy: float
    interval: tuple[float, float]
    p_value: float | None
    null_mean: float | None
    alone: float
    alone_interval: tuple[float, float]
    leave_site_out: float | None = None
    leave_site_out_interval: tuple[float, float] | None = None
    remark: str = ""

    def beats(self, level: str) -> bool:
        """Whether the classifier beats its confounds, given the level of `accuracy`."""
        return level == "better" and self.plain > self.alone + 1e-12

    def verdict(self, level: str, *, seen: bool = False) -> str:
        """The figures in words.

        Parameters
        ----------
        level : of `accuracy`: ``better``, ``unclear`` or ``chance``.
        seen : whether the classifier may have been trained on the graphs it is evaluated on.
        """
        names = _listed(self.columns)
        within = "" if self.site is None else " within sites"
        figures = _percent(self.accuracy)
        if self.regressed:
            figures = (
                f"with {names} regressed out inside each fold, {figures} of held-out graphs are "
                "classified correctly"
            )
        else:
            figures = f"{names} could not be regressed out, so the {figures} are unadjusted"
        if self.p_value is not None:
            figures += f" (labels shuffled{within}: p = {self.p_value:.3g})"
        figures += f"; the confounds alone give {_percent(self.alone)}"
        if self.leave_site_out is not None:
            figures += f"; on sites not used for training, {_percent(self.leave_site_out)}"
        if seen and level != "chance":
            opening = "Whether it beats its confounds is unknown, as it may have seen the graphs"
        elif self.beats(level):
            opening = "It beats its confounds"
        elif level == "better":
            opening = "It does not beat its confounds, which alone do as well"
        elif level == "unclear":
            opening = "It does not clearly beat its confounds"
        else:
            opening = "It does not beat its confounds"
        remark = f" {self.remark}" if self.remark else ""
        return f"{opening}: {figures}.{remark}"

    def _check(self) -> None:
        self.verdict("better")  # refuses an empty list of columns


def _listed(names: tuple[str, ...]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
