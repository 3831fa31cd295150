"""The clock: time that runs ever slower, as dynamics do after an event, so that one length scale fits all of a course.

``c(t) = tau log(1 + (t - start) / tau)`` has slope 1 at the start, where length scales keep the unit of the times, and
becomes plain time as tau grows. Where there are times before an event at zero, ``c(t) = tau asinh(t / tau)``. A kernel
on a clock is again a kernel, so everything that knows a kernel knows the clock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from timelike.base.arrays import Floats
from timelike.exceptions import InputError
from timelike.gp.stationary import blocks, form_of
from timelike.gp.wrapper import Wrapper


class Clocked(Wrapper):
    """A kernel of times on a clock.

    Parameters
    ----------
    kernel
        The kernel, of times on the clock.
    tau
        From about here on, counted from the start, the clock runs slower and slower; in the unit of the times.
    start
        The time from which the clock runs logarithmically; before it, it is plain time. None: asinh about zero.
    tau_bounds
        Where to look for tau, or ``"fixed"``.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> kernel = Clocked(RBF(2.0), tau=5.0, start=0.0)
    >>> kernel
    Clocked(RBF(length_scale=2), tau=5, start=0)
    >>> kernel.time(np.array([0.0, 5.0, 55.0])).round(2)
    array([ 0.  ,  3.47, 12.42])
    """

    parameter, settings = "tau", ("start",)

    def __init__(
        self,
        kernel: Kernel,
        tau: float = 1.0,
        start: float | None = None,
        tau_bounds: tuple[float, float] | str = (1e-5, 1e5),
    ) -> None:
        self.kernel = kernel
        self.tau = tau
        self.start = start
        self.tau_bounds = tau_bounds

    def __repr__(self) -> str:
        start = "" if self.start is None else f", start={self.start:.6g}"
        return f"Clocked({self.kernel}, tau={self.tau:.6g}{start})"

    # -- time ------------------------------------------------------------------------------------------------

    def time(self, times: Floats) -> Floats:
        """Times on the clock, in the shape of `times`.

        Examples
        --------
        >>> Clocked(None, tau=1e9, start=1.0).time(np.array([1.0, 3.0])).round(6)     # plain time, from the start on
        array([0., 2.])
        """
        tau = float(self.tau)
        if self.start is None:
            return tau * np.arcsinh(times / tau)
        since = times - float(self.start)
        return np.where(since > 0, tau * np.log1p(np.maximum(since, 0) / tau), since)

    def plain(self, on_clock: Floats) -> Floats:
        """The times at which the clock shows `on_clock`: what :meth:`time` undoes.

        Examples
        --------
        >>> clock = Clocked(None, tau=5.0, start=1.0)
        >>> clock.plain(clock.time(np.array([0.0, 1.0, 30.0]))).round(9)
        array([ 0.,  1., 30.])
        """
        tau = float(self.tau)
        if self.start is None:
            return tau * np.sinh(on_clock / tau)
        return float(self.start) + np.where(on_clock > 0, tau * np.expm1(np.maximum(on_clock, 0) / tau), on_clock)

    def unit(self, times: Floats) -> Floats:
        """How much plain time passes in a unit of the clock, in the shape of `times`: 1 at the start, ever more later.

        A length scale is so many times as long there.

        Examples
        --------
        >>> Clocked(None, tau=24.0, start=0.0).unit(np.array([0.0, 24.0, 168.0]))
        array([1., 2., 8.])
        """
        if self.start is None:
            return np.hypot(1, times / float(self.tau))
        return 1 + np.maximum(times - float(self.start), 0) / float(self.tau)

    def slope(self, times: Floats) -> Floats:
        """Derivatives of the times on the clock in the logarithm of tau, in the shape of `times`."""
        tau = float(self.tau)
        if self.start is None:
            return self.time(times) - times / np.hypot(1, times / tau)
        since = np.maximum(times - float(self.start), 0)
        return np.where(since > 0, tau * np.log1p(since / tau) - since / (1 + since / tau), 0.0)

    # -- as scikit-learn's kernels do --------------------------------------------------------------------------

    def __call__(self, X: Floats, Y: Floats | None = None, eval_gradient: bool = False) -> Any:
        """Covariance matrix, (n, m), and where asked for its gradient in the logarithms of the parameters."""
        if not eval_gradient:
            return self.kernel(self.time(X), None if Y is None else self.time(Y))
        if Y is not None:
            raise ValueError("the gradient is that of a matrix over one set of points: leave Y out.")
        form = form_of(self)
        if form is not None:
            K, gradient = blocks(self, form, np.atleast_2d(X)[None])
            return K[0], gradient[0]
        if self.tau_bounds != "fixed":
            raise InputError(f"a clock is fitted to kernels of the distance alone, not to {self.kernel}: give its tau.")
        return self.kernel(self.time(X), eval_gradient=True)

    def diag(self, X: Floats) -> Floats:
        """Prior variances, (n,)."""
        return self.kernel.diag(self.time(X))

    def is_stationary(self) -> bool:
        """It is not: the same distance counts less later."""
        return False


def in_words(kernel: Clocked) -> str:
    """What the clock is, as the beginning of a sentence.

    Examples
    --------
    >>> in_words(Clocked(None, tau=24.0, start=0.0))
    'time runs on a logarithmic clock from 0 on (tau 24)'
    """
    if kernel.start is None:
        return f"time runs on a clock that slows down on both sides of 0 (asinh, tau {kernel.tau:.3g})"
    return f"time runs on a logarithmic clock from {kernel.start:g} on (tau {kernel.tau:.3g})"
