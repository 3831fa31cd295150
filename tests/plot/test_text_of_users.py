"""Text of users in figures: drawn as it is, whatever it is, in every function and in every format."""

import warnings
from types import SimpleNamespace
from xml.parsers.expat import ParserCreate

import numpy as np
import pytest

import timelike as tl

NAMES = ["$x_{", "US$ per $", "a\nb", "_low", "\u202eright to left", "\N{GRINNING FACE} gene", "a\0b\x07", "tab\tbed"]
NAMES += ["\\frac{$1}{", "x" * 300, "^$&<>", "b$|$ wt"]
HOW = {"time": "time ($t_{0}$ \\alpha {\n)", "value": "cost in US$ {_^ " + "very long " * 30}
FREE = {"up_to": ("delay", "gain"), "max_delay": 2.0}


@pytest.fixture(scope="module")
def study():
    """Courses with such names, their model and clusters; what differs between conditions, and what changes."""
    rng = np.random.default_rng(0)
    times = np.arange(8.0)
    values = np.sin(times + np.repeat([0, 2], 6)[:, None]) + 0.1 * rng.standard_normal((12, 8))
    courses = tl.TimeCourses.from_arrays(times, values, NAMES)
    other = tl.TimeCourses.from_arrays(times, values * np.repeat([3, 1], 6)[:, None], NAMES)
    gp = tl.GP.se(1.5, 0.8, 0.1)
    with warnings.catch_warnings(action="ignore"):
        compared = tl.compare({"$wt_{": courses, "mu$t\n": other}, gp)
        found, changing = tl.mixture(courses, gp, k=2), tl.changing(courses, gp)
    return SimpleNamespace(courses=courses, gp=gp, found=found, compared=compared, changing=changing)


def tree(courses, gp):
    return tl.hierarchical(tl.similarity(courses, gp), 2)


DRAWN = {
    "courses": lambda s: tl.plot.courses(s.courses[:5], **HOW),
    "one course": lambda s: tl.plot.courses(s.courses[:1], **HOW),
    "clusters": lambda s: tl.plot.clusters(s.found, **HOW),
    "cluster_panels": lambda s: tl.plot.cluster_panels(s.found, **HOW)[0],
    "pair": lambda s: tl.plot.pair(s.courses, s.gp, 0, 3, **HOW),
    "explanation": lambda s: tl.plot.explanation(tl.explain(s.courses, s.gp, 1, 8), time=HOW["time"]),
    "neighbors": lambda s: tl.plot.neighbors(s.courses, s.gp, 3, tl.neighbors(s.courses, s.gp, 7), **HOW),
    "heatmap": lambda s: tl.plot.heatmap(tl.similarity(s.courses, s.gp)),
    "value_heatmap": lambda s: tl.plot.value_heatmap(s.courses, **HOW),
    "dendrogram": lambda s: tl.plot.dendrogram(tree(s.courses, s.gp)),
    "tree_heatmap": lambda s: tl.plot.tree_heatmap(tree(s.courses, s.gp), s.courses, **HOW),
    "match": lambda s: tl.plot.match(tl.match(s.courses, s.gp, 0, 7, **FREE), **HOW)[0],
    "order": lambda s: tl.plot.order(tl.lags(s.courses, s.gp, max_delay=2.0), time=HOW["time"]),
    "volcano": lambda s: tl.plot.volcano(s.compared, value=HOW["value"]),
    "differences": lambda s: tl.plot.differences(s.compared, [0, 1, 3], **HOW)[0],
    "changes": lambda s: tl.plot.changes(s.changing, [0, 1, 3], **HOW)[0],
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_draws_any_text(study, tmp_path, name):
    with warnings.catch_warnings(action="ignore", category=tl.DataWarning):
        ax = DRAWN[name](study)
    with warnings.catch_warnings(action="error"):
        tl.plot.save(ax, *(tmp_path / f"figure.{ending}" for ending in ("svg", "pdf", "png")))
    texts = ax.figure.findobj(lambda one: hasattr(one, "get_parse_math"))
    users = [text for text in texts if "$" in text.get_text() and "mathdefault" not in text.get_text()]
    assert all(not text.get_parse_math() for text in users)
    parser = ParserCreate()
    assert parser.Parse((tmp_path / "figure.svg").read_bytes(), True)  # whole, with no character that XML forbids


def test_a_dollar_is_a_dollar(study, tmp_path):
    tl.plot.save(tl.plot.courses(study.courses[:4], **HOW), tmp_path / "f.svg")
    text = (tmp_path / "f.svg").read_text("utf-8")
    for words in ("$x_{", "US$ per $", "a b", "_low", "time ($t_{0}$ \\alpha { )", "cost in US$ {_^ very long"):
        assert words in text


def test_long_labels_stay_beside_their_own_panel(study):
    axes = tl.plot.cluster_panels(
        study.found, tl.plot.panels(7, columns=3, width=7), value="log2 counts, normalised, centred"
    )
    axes[0].figure.canvas.draw()
    for ax in axes:
        label, panel = ax.yaxis.label.get_window_extent(), ax.get_window_extent()
        assert not ax.get_ylabel() or label.height <= panel.height
    assert axes[0].get_ylabel() == "log2 counts,\nnormalised,\ncentred"
