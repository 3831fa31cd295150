"""What the tests of the paper's experiments share."""

import pytest
from click.testing import CliRunner

from timelike.reproduce.command import reproduce


@pytest.fixture
def call():
    """The command with some arguments, in one process."""
    return lambda *arguments: CliRunner().invoke(reproduce, [*map(str, arguments), "--processes", "1"])
