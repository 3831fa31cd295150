"""The terms that clusters were asked about: the files they are from, as the record keeps them, and read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from timelike.base.files import checksum
from timelike.exceptions import InputError
from timelike.ontology import Ontology, read, read_sets
from timelike.ontology.files import RELATIONS

KINDS = ("gmt", "obo", "gaf")
NEEDS = "give gene sets alone (--gmt), or an ontology in two files: --obo (its terms) and --gaf (which gene has which)."


@dataclass(frozen=True)
class Terms:
    """Where terms came from.

    Attributes
    ----------
    files
        ``gmt``, or ``obo`` and ``gaf`` -> the path.
    sha256
        The same -> its checksum.
    aspect, drop, relations
        How an ontology was read, see :func:`timelike.ontology.read`.
    """

    files: dict[str, str]
    sha256: dict[str, str]
    aspect: str | None = "P"
    drop: tuple[str, ...] = ("IEA",)
    relations: tuple[str, ...] = field(default=RELATIONS)

    @classmethod
    def of(cls, ontology: Ontology | None) -> Terms | None:
        """What a record keeps of an ontology; None where it is not known from which files it is."""
        if ontology is None or not ontology.origin:
            return None
        known = ontology.origin
        files = {kind: str(known[kind]) for kind in KINDS if kind in known}
        how: dict[str, Any] = {name: known[name] for name in ("aspect", "drop", "relations") if name in known}
        return cls(files, {kind: checksum(path) for kind, path in files.items()}, **how)

    def read(self, files: Mapping[str, Path]) -> Ontology:
        """The terms from files, read as they were."""
        if "gmt" in files:
            return read_sets(files["gmt"])
        return read(files["obo"], files["gaf"], self.aspect, self.drop, relations=self.relations)


def terms_from(
    obo: Path | None, gaf: Path | None, gmt: Path | None, aspect: str = "P", drop: tuple[str, ...] = ("IEA",)
) -> Ontology | None:
    """The terms of some files; None where there are none, an error where they do not go together."""
    if gmt is not None:
        if obo is not None or gaf is not None:
            raise InputError(f"gene sets and an ontology cannot be taken together: {NEEDS}")
        return read_sets(gmt)
    if obo is None and gaf is None:
        return None
    if obo is None or gaf is None:
        alone = gaf is not None and ".gmt" in gaf.name.lower()
        raise InputError(f"gene sets need no ontology: give --gmt {gaf}." if alone else f"one file is missing: {NEEDS}")
    return read(obo, gaf, aspect, drop)
