"""The whole job in a browser, on this machine alone."""
