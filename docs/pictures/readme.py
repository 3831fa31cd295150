"""Draws docs/pictures/readme.png: python docs/pictures/readme.py."""

from pathlib import Path

import timelike as tl

courses, _ = tl.simulate.profiles(noise=0.08, sampling="asynchronous", seed=1)
gp = tl.fit(courses)
axes = tl.plot.panels(3, columns=3)
tl.plot.pair(courses, gp, "A03", "A05", axes[0])
tl.plot.pair(courses, gp, "A01", "C01", axes[1])
tl.plot.explanation(tl.explain(courses, gp, "A01", "C01"), axes[2])
tl.plot.save(axes[0], Path(__file__).with_suffix(".png"))
