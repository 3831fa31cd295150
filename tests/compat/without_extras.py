"""A pytest plugin for an environment without some of the extras: a test that wants one of these is skipped.

``make core`` and ``make newest`` load it (``pytest -p compat.without_extras``) and say in ``TIMELIKE_WITHOUT`` what is
missing there, ``all`` or names; other runs never do, so that with everything installed a missing package is a failure.
The files in `NUMERICAL` are the core: there, nothing may be skipped but what tests the
compiled engine, which is an extra; the same tests run on the others.
"""

import os
import re
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

EXTRAS = (
    *(
        "matplotlib",
        "numba",
        "dtaidistance",
        "openpyxl",
        "pyarrow",
        "anndata",
        "zarr",
        "dask",
        "distributed",
        "uvicorn",
        "starlette",
    ),
    *("faiss", "igraph", "h5py", "playwright"),
)
NUMERICAL = {
    f"tests/{place}.py"
    for place in (
        *(
            "test_contract",
            "test_laws",
            "test_precision",
            "test_simulate",
            "base/test_files",
            "courses/test_time_courses",
        ),
        *(
            "gp/test_basis",
            "gp/test_fit",
            "gp/test_information",
            "gp/test_kernels",
            "gp/test_likelihood",
            "gp/test_model",
        ),
        *("pairs/test_explain", "pairs/test_routes", "pairs/test_similarity", "pairs/test_similarity_pairwise_fit"),
        *("clusters/test_evidence_linkage", "clusters/test_mixture"),
    )
}
MISSING = [name for name in EXTRAS if find_spec(name) is None]
_WANTED = re.compile(
    rf"No module named '({'|'.join(MISSING)})[.']|(pip install 'timelike\[\w+\])" if MISSING else "(?!)"
)


_LEFT_OUT: list[str] = []


def pytest_report_header() -> str:
    return f"without {', '.join(MISSING)}"


def _said(report: pytest.CollectReport | pytest.TestReport) -> str:
    """What the exception said, without the source around it; all there is of an error while tests are collected."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return report.longreprtext if crash is None else crash.message


def _skip(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Turn a failure for want of an extra into a skip."""
    wanted = _WANTED.search(_said(report)) if report.failed else None
    if wanted and report.nodeid.partition("::")[0] not in NUMERICAL:
        report.outcome = "skipped"
        report.longrepr = (report.nodeid.partition("::")[0], 0, f"needs {wanted[1] or wanted[2]}")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    report = yield
    _skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    report = yield
    _skip(report)
    return report


def pytest_sessionstart(session: pytest.Session) -> None:
    """An environment with more would prove nothing, one with less would skip too much."""
    said = os.environ["TIMELIKE_WITHOUT"]
    expected = EXTRAS if said == "all" else said.split(",")
    if set(MISSING) != set(expected):
        raise pytest.UsageError(f"expected to be without {', '.join(expected)}; without {', '.join(MISSING)}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and report.nodeid.partition("::")[0] in NUMERICAL and "'numba'" not in report.longreprtext:
        _LEFT_OUT.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _LEFT_OUT and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for nodeid in _LEFT_OUT:
        terminalreporter.write_line(f"FAILED (skipped, but part of the numerical core): {nodeid}", red=True)
