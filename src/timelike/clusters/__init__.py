"""Who belongs together: from a matrix, from a graph, or as curves."""
