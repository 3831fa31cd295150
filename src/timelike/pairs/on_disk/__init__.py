"""All pairs in a file: tiles that are written, recorded and resumed."""
