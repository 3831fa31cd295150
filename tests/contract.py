"""The bound of docs/numerics.md, and every way to the similarity that has to keep it."""

from dataclasses import replace

import numpy as np

from extended import PERIODICITY
from timelike import GP, TimeCourses, similarity
from timelike.pairs import elimination
from timelike.pairs.routes import DenseRoute, GridRoute, InformationRoute

EPS = float(np.finfo(float).eps)
BASIS = 1e-12
"""Error of the basis, in units of the noise variance."""
FACTOR = 8


def matrix(way):
    """All similarities by one route, in the order of the courses."""
    order = way.order
    block, values = np.empty((len(order), len(order))), np.empty((len(order), len(order)))
    way.tile(order, order, block)
    values[np.ix_(order, order)] = block
    return values


def compiled(courses, gp):
    """By the compiled engine, where Numba is installed, however small the job."""
    return matrix(replace(InformationRoute.of(gp.at(courses).information), engine=elimination.engine()))


ROUTES = {
    "as called": lambda courses, gp: similarity(courses, gp).values,
    "grids": lambda courses, gp: matrix(GridRoute.of(gp.at(courses).information)),
    "information": lambda courses, gp: matrix(InformationRoute.of(gp.at(courses).information)),
    "compiled": compiled,
    "dense": lambda courses, gp: matrix(DenseRoute.of(gp.at(courses))),
}


def courses_of(data):
    return TimeCourses.from_arrays(data.times, data.values, errors=data.errors)


def gp_of(case):
    return GP(case.kernel_object, case.signal_sd, case.noise_sd, case.mean)


def bound(case, courses, truth):
    """``8 (1e-12 + eps (1 + T/l) (1 + V/v)) (n + Q + |s|)``, for every pair."""
    return FACTOR * (BASIS + EPS * times_to_scale(case) * signal_to_noise(case, courses)) * size(truth)


def times_to_scale(case):
    """``1 + T/l``: digits of a difference of times, in length scales, that are lost when times are far from zero."""
    unit = {"periodic": PERIODICITY, "linear": 1.0}.get(case.kernel, case.length_scale)
    return 1 + (abs(case.start) + 1) / unit


def signal_to_noise(case, courses):
    """``1 + V/v``: largest variance of the curve, smallest variance of the noise."""
    gp = gp_of(case)
    return 1 + gp.covariance.diag(courses.designs.points).max() / gp.at(courses).noise_variances.min()


def size(truth):
    """``n + Q + |s|``: values of both courses, their squares in units of the prior, and the similarity."""
    return truth.values + truth.squares + np.abs(truth.similarity)
