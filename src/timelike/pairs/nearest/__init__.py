"""The most similar courses of each, without the matrix of all pairs."""
