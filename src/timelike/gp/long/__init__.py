"""Long courses: likelihoods whose cost grows with the number of values, not with its cube."""
