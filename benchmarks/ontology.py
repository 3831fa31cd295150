"""Times the gene matrix of the reprogramming genes and the relabellings of one clustering.

Run ``python benchmarks/ontology.py [data folder]``; the data are described in the shared data's README. Set
OPENBLAS_NUM_THREADS=1 to be sure of one core (nothing here uses more).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import numpy as np

from timelike import ontology
from timelike.ontology.bhi import bhi
from timelike.ontology.enrichment import enrichment

Result = TypeVar("Result")
DATA = Path(__file__).parents[2] / "shared" / "data"


def timed(what: str, job: Callable[[], Result], limit: float | None = None) -> Result:
    start = perf_counter()
    result = job()
    seconds = perf_counter() - start
    target = "" if limit is None else f"  (target {limit:g} s: {'met' if seconds < limit else 'MISSED'})"
    print(f"{what:58s} {seconds:8.2f} s{target}")
    return result


def main(data: Path) -> None:
    obo, gaf = data / "go" / "go_2019-01-27.obo.gz", data / "go" / "goa_mouse_2019-01-14.gaf.gz"
    symbols = (data / "reprogramming" / "gene1931.txt").read_text().splitlines()
    genes = sorted({symbol.strip() for symbol in symbols} - {""})
    onto = timed("read ontology and annotation", lambda: ontology.read(obo, gaf))
    print(f"{onto.mapped(genes)}")
    shape = f"{len(genes)} x {len(genes)}"
    similarity = timed(f"Resnik, max, {shape}", lambda: onto.similarity(genes), 10)
    timed(f"Resnik, best-match average, {shape}", lambda: onto.similarity(genes, "resnik", "bma"))
    timed(f"Lin, max, {shape}", lambda: onto.similarity(genes, "lin"))
    labels = np.random.default_rng(0).integers(0, 16, len(genes))
    timed("BHI, 16 clusters, 1000 relabellings", lambda: bhi(labels, similarity), 5)
    lopsided = np.where(np.arange(len(genes)) < 100, labels, 16)
    timed("BHI, one cluster with nearly all, 1000 relabellings", lambda: bhi(lopsided, similarity), 5)
    halves = np.arange(len(genes)) % 2
    timed("BHI, two halves, 1000 relabellings", lambda: bhi(halves, similarity), 5)
    timed("enrichment, 16 clusters", lambda: enrichment(labels, genes, onto))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
