"""Clusters that have curves: the mixture, in memory or from chunks, and the tree of evidence."""
