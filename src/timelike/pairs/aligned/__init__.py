"""Two courses that are alike up to level, gain and delay: summed over the nodes of how they may differ."""
