"""``python -m timelike.reproduce``: the same as ``timelike reproduce``."""

from timelike.reproduce.command import reproduce

if __name__ == "__main__":
    reproduce()
