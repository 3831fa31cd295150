"""Kernels: names for scikit-learn's kernel objects, and their plain-text form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats
from timelike.exceptions import DataWarning, InputError, warn

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel


NAMED: dict[str, tuple[str, dict[str, float]]] = {
    "se": ("RBF", {}),
    "matern12": ("Matern", {"nu": 0.5}),
    "matern32": ("Matern", {"nu": 1.5}),
    "matern52": ("Matern", {"nu": 2.5}),
    "periodic": ("ExpSineSquared", {}),
    "linear": ("DotProduct", {}),
}
"""Our name -> scikit-learn class and its fixed arguments. One table for errors, command line and tests."""

CLOCKED = "Clocked"
"""The class of kernels on a clock; it is imported where one is made, because scikit-learn comes with it."""

SAVED = (
    CLOCKED,
    "ConstantKernel",
    "DotProduct",
    "ExpSineSquared",
    "Exponentiation",
    "Matern",
    "Product",
    "RBF",
    "RationalQuadratic",
    "Sum",
)
"""The classes that a model file may name; nothing else is ever built from a file."""


def resolve(kernel: str | Kernel) -> Kernel:
    """The scikit-learn kernel object for a name, or the given object if it can describe a curve.

    Examples
    --------
    >>> resolve("matern32")
    Matern(length_scale=1, nu=1.5)
    """
    from sklearn.gaussian_process import kernels as sk

    if isinstance(kernel, str):
        if kernel not in NAMED:
            raise InputError(f"there is no kernel {kernel!r}: choose from {', '.join(NAMED)}, or give an object.")
        name, fixed = NAMED[kernel]
        return getattr(sk, name)(**fixed)
    if not isinstance(kernel, sk.Kernel):
        raise InputError(f"a kernel is a name ({', '.join(NAMED)}) or a scikit-learn kernel, not {kernel!r}.")
    if isinstance(kernel, sk.CompoundKernel):
        raise InputError("a CompoundKernel is several kernels in one object: give one kernel, for instance their sum.")
    if any(isinstance(leaf, sk.WhiteKernel) for leaf in leaves(kernel).values()):
        raise InputError("the kernel describes the curve; leave WhiteKernel out, timelike adds its own noise.")
    _check_parameters(kernel)
    return kernel


def _check_parameters(kernel: Kernel) -> None:
    """Raise if a parameter is not a finite number above zero; only the offset of a line may be zero."""
    parameters = kernel.get_params()
    exponents = [name for name in parameters if name.endswith("exponent")]
    for name in [parameter.name for parameter in kernel.hyperparameters] + exponents:
        value = parameters[name]
        try:
            numbers = np.asarray(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            numbers = np.array(np.nan)
        least = -np.finfo(float).tiny if name.endswith("sigma_0") else 0.0
        if value is None or numbers.size == 0 or not (np.isfinite(numbers) & (numbers > least)).all():
            raise InputError(f"{name} of the kernel is {value}: expected a finite number above zero.")


def check_coordinates(kernel: Kernel, count: int) -> None:
    """Raise if the kernel has length scales for another number of coordinates than points have."""
    for name, value in kernel.get_params().items():
        if name.endswith("length_scale") and np.ndim(value) == 1 and len(value) not in (1, count):
            raise InputError(f"the kernel has {len(value)} length scales, but points have {count} coordinate(s).")
    if count > 1 and CLOCKED in {type(leaf).__name__ for leaf in leaves(kernel).values()}:
        raise InputError(f"a clock runs in time, but points have {count} coordinates: leave the clock out.")


def without_rough_part(kernel: Kernel) -> Kernel:
    """The kernel inside a :class:`timelike.gp.roughened.Roughened`; a kernel without a rough part itself."""
    return kernel.kernel if type(kernel).__name__ == "Roughened" else kernel


def unclocked(kernel: Kernel) -> Kernel:
    """The kernel inside a clock, see :class:`timelike.gp.clock.Clocked`; a kernel of plain time itself."""
    return kernel.kernel if type(kernel).__name__ == CLOCKED else kernel


def on_clock(kernel: Kernel, times: Floats) -> Floats:
    """Times on the clock of a kernel; the times themselves where it has none."""
    return times if unclocked(kernel) is kernel else kernel.time(times)


def plain(kernel: Kernel, shown: Floats) -> Floats:
    """The times at which the clock of a kernel shows `shown`; these themselves where it has none."""
    return shown if unclocked(kernel) is kernel else kernel.plain(shown)


def evenly(kernel: Kernel, low: float, high: float, count: int) -> Floats:
    """So many times from `low` to `high`, evenly spaced on the clock of a kernel, or on plain time where it has none.

    Examples
    --------
    >>> evenly(resolve("se"), 0, 8, 5)
    array([0., 2., 4., 6., 8.])
    >>> from timelike.gp.clock import Clocked
    >>> evenly(Clocked(resolve("se"), tau=1.0, start=0.0), 0, 8, 5).round(2)     # dense where curves change fast
    array([0.  , 0.73, 2.  , 4.2 , 8.  ])
    """
    first, last = on_clock(kernel, np.array([low, high]))
    times = np.clip(plain(kernel, np.linspace(first, last, count)), low, high)
    times[[0, -1]] = low, high
    return times


def note_early(kernel: Kernel, points: Floats, known: Floats | None = None) -> None:
    """Warn of points before the start of a kernel's clock, where it runs as plain time; not where `known` are too."""
    start = kernel.start if unclocked(kernel) is not kernel else None
    if start is None or points.shape[1] > 1 or points.min() >= start or (known is not None and known.min() < start):
        return
    warn(
        f"there are times before the start of the model's clock ({start:g}), from {points.min():g} on: it runs as "
        "plain time there, where the fit saw nothing. Are they in the same unit, from the same zero?",
        DataWarning,
    )


def name_of(kernel: Kernel) -> str:
    """Our name of a kernel, on a clock or not, or scikit-learn's description of one that has none."""
    kernel = unclocked(without_rough_part(kernel))
    for name, (cls, fixed) in NAMED.items():
        if type(kernel).__name__ == cls and all(getattr(kernel, k) == v for k, v in fixed.items()):
            return name
    return str(kernel)


def leaves(kernel: Kernel) -> dict[str, Kernel]:
    """Every kernel inside `kernel`, under the prefix that its parameters have ('' for itself)."""
    inner = {k: v for k, v in kernel.get_params().items() if hasattr(v, "hyperparameters")}
    return {"": kernel} | inner


# -- plain text ----------------------------------------------------------------------------------------


def to_dict(kernel: Kernel) -> dict[str, Any]:
    """The kernel as plain data: its class and parameters, kernels within kernels likewise."""
    cls = type(kernel).__name__
    if cls not in SAVED:
        raise InputError(f"a {cls} kernel cannot be saved as text. These can: {', '.join(SAVED)}.")
    known = kernel.get_params(deep=False).items()
    parameters = {k: v for k, v in known if v is not None and (not k.endswith("_bounds") or _is_fixed(v))}
    return {"class": cls} | {k: _plain(v) for k, v in parameters.items()}


def _is_fixed(value: object) -> bool:
    return isinstance(value, str) and value == "fixed"


def _plain(value: Any) -> Any:
    if _is_fixed(value):
        return value
    if hasattr(value, "get_params"):
        return to_dict(value)
    return np.asarray(value, dtype=float).tolist()


DEEPEST = 50
"""Kernels within each other in a model file, at most; scikit-learn's time grows with the square."""


def from_dict(data: object) -> Kernel:
    """The kernel that :func:`to_dict` described; only scikit-learn's own kernels are ever built."""
    kernel = _built(data, DEEPEST)
    try:
        scales = [value for name, value in resolve(kernel).get_params().items() if name.endswith("length_scale")]
        point = np.zeros((1, max(map(np.size, scales), default=1)))
        if not np.isfinite(kernel(point, point + 1)).all():
            raise ValueError("they give no number")
    except (TypeError, ValueError, AttributeError, ZeroDivisionError) as problem:
        raise InputError(f"the parameters of the kernel {type(kernel).__name__} are not valid: {problem}.") from None
    return kernel


def _built(data: object, depth: int) -> Kernel:
    """A kernel that is not yet checked, of at most so many more within each other."""
    if depth < 0:
        raise InputError(f"the kernel has more than {DEEPEST} kernels within each other. Simplify it.")
    if not isinstance(data, dict) or data.get("class") not in SAVED:
        raise InputError(f"expected a kernel of class {', '.join(SAVED)}; found {str(data)[:80]!r}.")
    name = data["class"]
    parameters = {
        k: v if _is_fixed(v) and k.endswith("_bounds") else _part(k, v, name, depth)
        for k, v in data.items()
        if k != "class"
    }
    try:
        return _class(name)(**parameters)
    except (TypeError, ValueError, AttributeError) as problem:
        raise InputError(f"the parameters of the kernel {name} are not valid: {problem}.") from None


def _part(parameter: str, value: object, name: str, depth: int) -> Any:
    """A parameter of a kernel: a kernel again, or numbers."""
    return _built(value, depth - 1) if isinstance(value, dict) else _numbers(f"{parameter} of the kernel {name}", value)


def _class(name: str) -> type[Kernel]:
    from sklearn.gaussian_process import kernels as sk

    from timelike.gp.clock import Clocked

    return Clocked if name == CLOCKED else getattr(sk, name)


def _numbers(what: str, value: object) -> Any:
    """A number of a model file, or a list of them."""
    entries = value if isinstance(value, list) else [value]
    if not all(checks.is_number(entry) for entry in entries):
        raise InputError(f"{what} is {str(value)[:40]!r}: expected a finite number.")
    return _plain(value)
