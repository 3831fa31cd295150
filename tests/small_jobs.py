"""Jobs on a route of choice, cut so small that a few dozen courses make many tiles."""

from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process.kernels import Matern

import oracle
from timelike import GP, TimeCourses
from timelike.pairs.job import Cut, Job
from timelike.pairs.on_disk.fingerprint import fingerprint
from timelike.pairs.on_disk.stores import MatrixHeader
from timelike.pairs.on_disk.write import Run, compute
from timelike.pairs.routes import DenseRoute, GridRoute, InformationRoute, route
from timelike.pairs.similarity import in_memory

GIVEN = GP.se(0.4, signal_sd=1.3, noise_sd=0.3, mean=0.2)
ROUGH = GP(Matern(0.1, nu=0.5), signal_sd=1.3, noise_sd=0.3, mean=0.2)
SMALL = Cut(part=7, block=14)
ROUTES = {
    "grid": route,
    "grids": lambda here: GridRoute.of(here.information),
    "information": lambda here: InformationRoute.of(here.information),
    "dense": DenseRoute.of,
}


@dataclass(frozen=True)
class Case:
    """Courses, their model, the route to take and how its job is cut."""

    courses: TimeCourses
    gp: GP = GIVEN
    route: str = "information"
    cut: Cut = SMALL

    def job(self, others=None, kind=Job):
        both = self.courses if others is None else self.courses.joined(others)
        way = ROUTES[self.route](self.gp.at(both))
        assert way.name == self.route
        return kind.of(way, None if others is None else len(self.courses), self.cut)

    def run(self, others=None, client=None, kind=Job):
        job = self.job(others, kind)
        depends_on = fingerprint(self.courses, self.gp, others, job)
        names = self.courses.names, None if others is None else others.names
        return Run(job, MatrixHeader(*names, self.route, depends_on), client=client)

    def values(self, others=None):
        return in_memory(self.job(others))

    def to_file(self, out, others=None, client=None, **choices):
        return np.asarray(compute(self.run(others, client), out, **choices))


CASES = {"grid": ("grid", GIVEN), "grids": ("gaps", GIVEN), "information": ("gaps", GIVEN), "dense": ("own", ROUGH)}


def case_of(name, count=60):
    """Courses for a route; those of "grids" have designs mixed at random, so that the route sorts them."""
    kind, gp = CASES[name]
    courses = TimeCourses.from_arrays(*oracle.example(kind, count=20 if name == "dense" else count)[:2])
    return Case(courses, gp, name)
