"""Charts by method: what is drawn, what is written beside it, on a screen and on a phone."""

from __future__ import annotations

import pytest

from denseflip.report.measure_panels import Panel, Spread, plot_measured

pytest.importorskip("matplotlib")

NAMES = ["tri", "dat (a rather long list of parameters, too long to be shown)"]
RATE = Panel("flip rate", (Spread(0.5, 0.2, 0.8), None), share=True)
CALLS = Panel("questions", (Spread(20, 10, 40), Spread(300, 200, 1000)), log=True)


def texts(axes):
    return [t.get_text() for t in axes.texts]


def test_one_panel_per_measure_with_its_figures():
    figure = plot_measured(NAMES, [RATE, CALLS])
    rate, calls = figure.axes
    assert texts(rate) == ["50 %", "–"]
    assert texts(calls) == ["20", "300"]
    assert (rate.get_xscale(), calls.get_xscale()) == ("linear", "log")
    assert len(rate.patches) == 1  # one bar: the other method has no rate
    ends = [line.get_xdata()[-1] for line in rate.lines]
    assert ends == [0.8]
    names = [t.get_text() for t in rate.get_yticklabels()]
    assert names[0] == "tri"
    assert len(names[1]) <= 31
    assert [t.get_text() for t in calls.get_yticklabels()] == ["", ""]
    assert rate.get_title(loc="left") == "flip rate"


def test_the_figures_never_lie_under_the_marks():
    for axes, most in zip(plot_measured(NAMES, [RATE, CALLS]).axes, (1, 1000), strict=True):
        right = axes.transAxes.inverted().transform(axes.transData.transform((most, 0)))[0]
        assert axes.texts[0].get_position()[0] > right == pytest.approx(0.66)


def test_a_phone_has_them_one_below_the_other_with_names():
    wide, narrow = (plot_measured(NAMES, [RATE, CALLS], narrow=n) for n in (False, True))
    assert narrow.get_figwidth() < 4 < wide.get_figwidth()
    top, below = narrow.axes
    assert top.get_position().y0 > below.get_position().y1
    assert next(t.get_text() for t in below.get_yticklabels()) == "tri"


def test_nothing_is_logarithmic_below_zero():
    panel = Panel("questions", (Spread(0, 0, 5),), log=True)
    assert plot_measured(["tri"], [panel]).axes[0].get_xscale() == "linear"
    assert plot_measured(["tri"], [Panel("d%", (None,))]).axes[0].texts[0].get_text() == "–"
