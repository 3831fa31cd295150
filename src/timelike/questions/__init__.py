"""Questions about courses: which change, which differ between conditions; each answer with a probability."""
