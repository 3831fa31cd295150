"""A kernel around another one, with one more parameter: what a clock and a rough part have in common."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.gaussian_process.kernels import Hyperparameter, Kernel


class Wrapper(Kernel):  # type: ignore[misc]  # scikit-learn has no types
    """A kernel that holds another one, ``kernel``, and has a parameter of its own with bounds."""

    kernel: Kernel
    parameter: ClassVar[str]
    """The name of its own parameter; its bounds have the same with ``_bounds``."""
    settings: ClassVar[tuple[str, ...]] = ()
    """The names of what is never fitted."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by their names; those of the kernel inside as ``kernel__...``."""
        names = ("kernel", self.parameter, *self.settings, f"{self.parameter}_bounds")
        inside = self.kernel.get_params().items() if deep else ()
        return {name: getattr(self, name) for name in names} | {f"kernel__{name}": value for name, value in inside}

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """Those of the kernel inside, then its own."""
        inside = [
            Hyperparameter(f"kernel__{h.name}", h.value_type, h.bounds, h.n_elements)
            for h in self.kernel.hyperparameters
        ]
        return [*inside, Hyperparameter(self.parameter, "numeric", getattr(self, f"{self.parameter}_bounds"))]
