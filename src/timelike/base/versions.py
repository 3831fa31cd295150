"""Which software this is: versions of packages, and what the last digits of a result depend on."""

from __future__ import annotations

from functools import cache
from typing import Any

from timelike.base.blas import libraries


def version(package: str, otherwise: str = "absent") -> str:
    """The version of a package, or what to say where it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return otherwise


def installed(*packages: str) -> dict[str, str]:
    """The versions of those packages that are installed."""
    return {package: found for package in packages if (found := version(package, ""))}


@cache
def software() -> str:
    """What the last digits of a result depend on: versions, and the processor that the linear algebra is made for."""
    packages = ", ".join(f"{package} {version(package)}" for package in ("timelike", "numpy", "scipy", "numba"))
    kinds = sorted({str(library.get("architecture")) for library in libraries().info() if _decides(library)})
    return f"{packages}, processor {' '.join(kinds)}"


def _decides(library: dict[str, Any]) -> bool:
    """Whether digits pass through a library: FAISS brings one of its own, and no number of ours is from there."""
    return library["user_api"] == "blas" and "faiss" not in library["filepath"]
