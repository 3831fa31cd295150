"""Families: sets of courses that share a curve, drawn from what the courses say about them."""
