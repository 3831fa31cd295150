"""Data of other people, fetched from their own place, checked, and kept for the next time."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timelike.base.files import atomic_write
from timelike.courses import TimeCourses
from timelike.exceptions import InputError
from timelike.reading.wide import numbered

AUTHORS = (
    "https://raw.githubusercontent.com/barahona-research-group/BayesFactorSimilarity/"
    "52eed2d4d2c2cac3badaee67636d1588750fbce5"
)
"""The paper's repository, at a fixed commit."""


@dataclass(frozen=True)
class Remote:
    """A file somewhere else, by its place in the cache, its address and the SHA-256 of its content."""

    name: str
    url: str
    sha256: str


VALUES = Remote(
    "reprogramming/gene_data.mat",
    f"{AUTHORS}/gene_data.mat",
    "cf7100d581e41cb8ebdb70622f15073bd50c06a6fea8db237d1f519c6bbee2d4",
)
SYMBOLS = Remote(
    "reprogramming/gene1931.txt",
    f"{AUTHORS}/R/gene1931.txt",
    "10f83ac92213ddbf185c099382b129cce12dadd20b1960471e9d72165a24bcac",
)


def reprogramming() -> TimeCourses:
    """The paper's gene expression data: 1931 genes while B cells are made into stem cells.

    Log expression at 0, 48, 96, 144 and 192 hours, two replicates each (Di Stefano et al., 2014). Courses are
    named by gene symbol. Probes without a symbol are called ``unnamed-1``, ``unnamed-2``, ...; the second probe
    of a gene has ``-2`` after its symbol, and so on.

    The first call downloads 144 kB from the authors' repository; later ones read the copy, see :func:`folder`.
    The authors state no licence, so timelike does not redistribute the data.

    Returns
    -------
    TimeCourses
    """
    from scipy.io import loadmat

    table = loadmat(fetch(VALUES))
    return TimeCourses.from_arrays(table["t"].ravel(), table["data_s"], names=numbered(symbols()))


def symbols() -> list[str]:
    """Gene symbols of :func:`reprogramming`, course by course, as the authors give them: some empty, some twice."""
    return [line.strip() for line in fetch(SYMBOLS).read_text(encoding="utf-8").splitlines()]


def gene_ontology() -> tuple[Path, Path]:
    """Paths of a Gene Ontology graph and of annotations of the mouse, which you have put into :func:`folder`.

    Any release will do, but scores depend on it. The project's own figures use the graph of 2019-01-27 and
    UniProt-GOA's annotations of 2019-01-14, which are about what the paper's authors had.
    """
    place = folder() / "go"
    graphs, annotations = (sorted(place.glob(pattern)) for pattern in ("*.obo*", "*.gaf*"))
    if not graphs or not annotations:
        raise InputError(
            f"there is no Gene Ontology in {place}. Put a graph (go-basic.obo, from the Gene Ontology's archive) and "
            "annotations of the mouse (.gaf or .gaf.gz, from UniProt-GOA's archive) there, or set TIMELIKE_DATA to a "
            "folder that has them in its subfolder go."
        )
    return graphs[-1], annotations[-1]


def fission() -> tuple[Path, Path]:
    """Paths of raw RNA-seq counts and of their sample sheet, which you have put into :func:`folder`.

    Oxidative stress in fission yeast, wild type and a deletion of atf21, at 0 to 180 minutes (Leong et al., 2014). They
    are in the Bioconductor package fission (LGPL), from which R writes them::

        library(fission); data(fission)
        write.csv(assay(fission), "counts.csv"); write.csv(as.data.frame(colData(fission)), "samples.csv")
    """
    return _put_there(
        "fission",
        ("counts.csv*", "samples.csv*"),
        "the counts of the Bioconductor package fission (counts.csv) and its sample sheet (samples.csv)",
    )


def mouse_flu() -> tuple[Path, Path, Path]:
    """Paths of expression, sample sheet and terms of genes, which you have put into :func:`folder`.

    The lung of mice after two influenza viruses and mock, 500 genes on arrays in log2, 14 times from 0 to 168 hours
    (Shoemaker et al., 2015), with terms of the Gene Ontology. They are the example data of the Bioconductor package
    moanin (BSD-3): its samples' values, their description, and its table of genes and terms.
    """
    return _put_there(
        "mouse_flu",
        ("expression.csv*", "samples.csv*", "gene_terms.csv*"),
        "the example data of the Bioconductor package moanin (expression.csv, samples.csv, gene_terms.csv)",
    )


def _put_there(place: str, patterns: tuple[str, ...], what: str) -> Any:
    """The files of a data set that users put into the folder themselves."""
    found = [sorted((folder() / place).glob(pattern)) for pattern in patterns]
    if not all(found):
        raise InputError(
            f"there are no data in {folder() / place}. Put {what} there, or set TIMELIKE_DATA to a folder that has "
            f"them in its subfolder {place}."
        )
    return tuple(files[-1] for files in found)


def folder() -> Path:
    """Where data are kept: ``TIMELIKE_DATA`` if it is set, otherwise the user's folder for caches."""
    chosen = os.environ.get("TIMELIKE_DATA")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "timelike"


def fetch(remote: Remote) -> Path:
    """The path of a file that has the expected content: the copy that is there, or a new one."""
    path = folder() / remote.name
    if not path.exists():
        content = _download(remote)
        _check(content, remote, remote.url)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, "wb") as file:
            file.write(content)
        return path
    _check(path.read_bytes(), remote, str(path))
    return path


def _download(remote: Remote) -> bytes:
    from urllib.error import URLError
    from urllib.request import urlopen

    try:
        with urlopen(remote.url, timeout=60) as answer:  # noqa: S310 - the address is a constant above
            return bytes(answer.read())
    except (URLError, TimeoutError) as problem:
        raise InputError(
            f"cannot download {remote.url}: {problem}. If this machine has no network, fetch the file on another "
            f"one, save it as {remote.name} in a folder, and set TIMELIKE_DATA to that folder."
        ) from None


def _check(content: bytes, remote: Remote, source: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != remote.sha256:
        raise InputError(
            f"{source} is not the expected file: its SHA-256 is {found[:12]}..., expected {remote.sha256[:12]}.... "
            "Delete the copy, if there is one, and try again."
        )


NAMED: dict[str, tuple[Callable[[], TimeCourses], str]] = {"reprogramming": (reprogramming, "h")}
"""Name of a data set that stands where a file is expected -> how to load it, and the unit of its times."""
