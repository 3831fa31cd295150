"""Two courses, one curve or two: all pairs, pairs above a bound, the nearest, one pair explained."""
