"""What all tests share: the data of others, reproducible hypothesis, and no silent skips in CI."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from scipy.io import loadmat

from timelike import TimeCourses

collect_ignore_glob = ["*/conftest.py"]  # pytest would look for doctests in them, under one name for all

settings.register_profile(
    "reproducible",
    derandomize="TIMELIKE_FUZZ" not in os.environ,  # the same examples in every run, here and in CI
    database=None,
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("reproducible")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with other people's data, beside the project."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"{folder} is missing: these tests must run in CI.")
        pytest.skip(f"{folder} is missing")
    return folder


@pytest.fixture(scope="session")
def genes(shared_data) -> TimeCourses:
    """The paper's gene expression data: 1931 courses, 5 times x 2 replicates, in hours."""
    folder = shared_data / "reprogramming"
    data = loadmat(folder / "gene_data.mat")
    symbols = [line.strip() for line in (folder / "gene1931.txt").read_text().splitlines()]
    seen: set[str] = set()
    names = []
    for row, symbol in enumerate(symbols):
        fresh = symbol and symbol not in seen
        names.append(symbol if fresh else f"row {row}")
        seen.add(symbol)
    return TimeCourses.from_arrays(data["t"].ravel().astype(float), data["data_s"], names=names)


@pytest.fixture(scope="session")
def reference(shared_data):
    """Reads an output of the authors' own programs."""
    return lambda name: np.loadtxt(shared_data / "reference" / name, delimiter=",")


@pytest.fixture(scope="session")
def matrix_of():
    """All similarities by one route of `timelike.pairs.routes`, in the order of the courses."""

    def matrix(way):
        order = way.order
        sorted_values, values = np.empty((len(order), len(order))), np.empty((len(order), len(order)))
        way.tile(order, order, sorted_values)
        values[np.ix_(order, order)] = sorted_values
        return values

    return matrix


@pytest.fixture(scope="session")
def client():
    """A Dask cluster of two processes of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as made,
    ):
        yield made


# -- in CI, a test that did not run is a failure ------------------------------------------------------------


def _skipped(config: pytest.Config) -> list:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return reporter.stats.get("skipped", []) if os.environ.get("CI") and reporter else []


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _skipped(session.config) and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    for report in _skipped(config):
        terminalreporter.write_line(f"FAILED (skipped, which CI does not allow): {report.nodeid}", red=True)
