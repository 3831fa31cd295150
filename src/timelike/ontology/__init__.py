"""Gene ontology: what is known about genes, and how alike two genes are by it.

Conventions are those of GOSemSim, which the paper used: the information content of a term is minus the log of
the share of annotations (distinct gene, term, evidence) at the term or below it, whatever their evidence;
``drop`` only removes terms from a gene's own list; ancestors follow is_a, part_of and the three regulates
relations inside one aspect; similarities use information content divided by its largest value. Two things
differ: scores are not rounded, and the best-match average is an average also for a gene with a single term,
where GOSemSim takes the maximum.
"""

from timelike.ontology.files import Reading
from timelike.ontology.terms import Mapped, Ontology, example, read, read_sets

__all__ = ["Mapped", "Ontology", "Reading", "example", "read", "read_sets"]
