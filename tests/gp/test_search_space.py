import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as sk

import oracle
from timelike import TimeCourses
from timelike.gp.search_space import STARTS, Extent, extent, kernel_axes, starting_points

HOURS, DAYS = Extent(gap=2.0, span=48.0), Extent(gap=2.0 / 24, span=2.0)


def axis(kernel, name):
    return next(axis for axis in kernel_axes(kernel, HOURS) if axis.name == name)


# -- extents ----------------------------------------------------------------------------------------------------------


def test_extent_is_the_typical_smallest_gap_and_the_span():
    found = extent(TimeCourses.from_arrays([[0, 3, 4], [10, 12], [7]], [[1, 2, 3], [4, 5], [6]]))
    assert (found.gap, found.span) == (1.5, 12.0)


def test_extent_without_gaps():
    assert extent(TimeCourses.from_arrays([[0], [4]], [[1], [2]])).gap == 4.0
    one = extent(TimeCourses.from_arrays([3, 3], [[1, 2]]))
    assert (one.gap, one.span) == (1.0, 1.0)


# -- bounds and starts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", oracle.KERNELS)
def test_the_search_has_no_units(name):
    """Bounds and starts in hours are those in days, except that what is measured in time is 24 times as large."""
    kernel, _ = oracle.KERNELS[name]
    without_unit = ("constant_value", "alpha")
    if name in ("periodic", "product"):
        without_unit += ("k2__length_scale",) if name == "product" else ("length_scale",)
    for hours, days in zip(kernel_axes(kernel, HOURS), kernel_axes(kernel, DAYS), strict=True):
        shift = 0.0 if hours.name.endswith(without_unit) else np.log(24)
        assert hours.in_time == (shift > 0)
        assert_allclose(hours.low - days.low, shift, atol=1e-12)
        assert_allclose(hours.high - days.high, shift, atol=1e-12)
        assert_allclose(hours.starts - days.starts, shift, atol=1e-12)


def test_axes_are_in_the_order_of_theta():
    kernel = sk.RBF(3.0) * sk.RationalQuadratic(2.0, 5.0) + sk.Matern(1.0, "fixed") * sk.ExpSineSquared(7.0, 11.0)
    assert [kernel.get_params()[axis.name] for axis in kernel_axes(kernel, HOURS)] == pytest.approx(
        np.exp(kernel.theta)
    )


def test_periods_that_are_aliases_are_not_looked_at():
    """At times 2 h apart, waves of 3 h and of 6 h are the same values."""
    assert_allclose(np.exp(axis(sk.ExpSineSquared(), "periodicity").low), 2 * HOURS.gap)
    given = axis(sk.ExpSineSquared(periodicity_bounds=(1.0, 5.0)), "periodicity")
    assert_allclose(np.exp(given.low), 1.0)


def test_starts_go_from_the_gap_to_the_span():
    starts = starting_points(kernel_axes(sk.RBF(), HOURS))
    assert starts.shape == (STARTS, 1)
    assert_allclose(np.exp([starts.min(), starts.max()]), [2.0, 48.0])


def test_the_value_of_the_given_object_plays_no_part():
    far, near = (starting_points(kernel_axes(sk.RBF(scale), HOURS)) for scale in (1e4, 1e-4))
    assert_array_equal(far, near)


def test_bounds_of_the_caller_are_kept_and_starts_lie_within():
    axes = kernel_axes(sk.RBF(1.0, (3.0, 5.0)), HOURS)
    assert axes[0].given
    assert_allclose(np.exp([axes[0].low, axes[0].high]), [3.0, 5.0])
    starts = starting_points(axes)
    assert (starts >= axes[0].low).all()
    assert (starts <= axes[0].high).all()


def test_fixed_parameters_are_not_searched():
    (only,) = kernel_axes(sk.RBF(1.0, "fixed") * sk.RationalQuadratic(1.0, 1.0, alpha_bounds="fixed"), HOURS)
    assert only.name == "k2__length_scale"
    assert starting_points(kernel_axes(sk.RBF(1.0, "fixed"), HOURS)).shape == (1, 0)


def test_two_equal_kernels_of_a_sum_start_apart():
    starts = starting_points(kernel_axes(sk.RBF() + sk.RBF(), HOURS))
    assert (np.abs(starts[:, 0] - starts[:, 1]) > 0.5).all()


def test_a_length_scale_for_each_coordinate_is_searched():
    axes = kernel_axes(sk.RBF([1.0, 1.0]), HOURS)
    assert [axis.name for axis in axes] == ["length_scale", "length_scale"]
    assert starting_points(axes).shape[1] == 2
