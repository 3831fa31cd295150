"""The pages of the documentation: their code blocks, run one after the other, and the figures that they leave.

``python docs/pages.py FOLDER`` runs all pages and lays the sources of the site into a folder; the tests run them too.

A page is Markdown. Blocks in ``python`` run in one session, blocks in ``r`` in one of R, blocks in ``console`` are what
a user types after ``$`` and what the program answers, and a block in ``output`` is what the block before it printed or
warned of. What a page shows is compared with what came out; ``...`` stands for anything.
"""

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "benchmarks" / "results"
DATA = DOCS.parents[1] / "shared" / "data"
"""Where data of other people are, which a page on real data needs; TIMELIKE_DATA names another place."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"!\[[^\]]*\]\((figures/[^)]+)\)")
DATA_SET = re.compile(r"\btl\.datasets\.(\w+)\(\)")
PLACES = {"fission": "fission", "mouse_flu": "mouse_flu", "gene_ontology": "go"}
"""Data sets that nobody fetches, and their folders."""
PROMPT = re.compile(r"^\$ (.*)$", re.MULTILINE)
SHOWN_ONLY = ("text", "json", "csv", "js", "snakemake")
"""Languages of blocks that nobody runs."""


NO_R = "a page needs R with the package reticulate: on Debian, apt install r-base-core r-cran-reticulate"


class Block(NamedTuple):
    """A code block: its language, the line where it begins, its code."""

    language: str
    line: int
    code: str


def pages() -> list[Path]:
    """The pages that people read, by name."""
    return sorted(DOCS.glob("*.md"))


def blocks(page: Path) -> list[Block]:
    """The code blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], text[: m.start()].count("\n") + 2, m[2]) for m in BLOCK.finditer(text)]


def figures(page: Path) -> list[str]:
    """Figures that a page shows and its code has to make."""
    return FIGURE.findall(page.read_text(encoding="utf-8"))


# -- running -------------------------------------------------------------------------------------------------------


def run(page: Path, folder: Path) -> None:
    """Run the code of a page inside a folder; raise where it fails, prints something else, or a figure is missing."""
    # Closed at the end, whatever happens, so that the working folder is the old one again.
    with contextlib.closing(answers(page, folder)) as answered:
        for block, printed in answered:
            expected = _expected(block)
            if expected is not None and not _agree(expected, printed):
                where = f"{page.name}, line {block.line}"
                raise ValueError(f"{where}: the page shows\n{expected}\nbut this came out:\n{printed}")
    missing = [name for name in figures(page) if not (folder / name).is_file()]
    if missing:
        raise FileNotFoundError(f"{page.name} shows {', '.join(missing)}, which its code does not make")


def answers(page: Path, folder: Path) -> Generator[tuple[Block, str], None, None]:
    """Every block of a page with what it printed; a block in ``output`` with what the one before it did."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    session, printed = {"__name__": "__main__"}, ""
    found = blocks(page)
    with contextlib.chdir(folder), RSession() as r:
        for block in found:
            if block.language == "python":
                printed = _run_python(block, page, session)
            elif block.language == "r":
                printed = r.run(block, page)
            elif block.language == "console":
                printed = _run_console(block)
            elif block.language not in ("output", *SHOWN_ONLY):
                raise ValueError(f"{page.name}, line {block.line}: nobody runs a block in {block.language!r}")
            yield block, printed


def _run_python(block: Block, page: Path, session: dict[str, Any]) -> str:
    # Padded, so that a traceback names the line of the page.
    code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as out, warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", DeprecationWarning)  # as for any user
        warnings.showwarning = _show_warning
        exec(code, session)  # noqa: S102 - our own pages
    return out.getvalue()


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print a warning as a page shows it: without the line of code, which the reader has just seen."""
    print(f"{category.__name__}: {message}")


class RSession:
    """An R that keeps what it knows from block to block; it starts with the first one."""

    END = "-- end of the block --"

    def __init__(self) -> None:
        self._program: Any = None

    def __enter__(self) -> "RSession":
        return self

    def __exit__(self, *_: object) -> None:
        if self._program is not None:
            self._program.communicate("quit(save = 'no')\n")

    def run(self, block: Block, page: Path) -> str:
        """What the block printed, or said on standard error; raise where R stops."""
        program = self._program = self._program or _started_r()
        program.stdin.write(f"{block.code}\ncat('{self.END}\\n')\n")
        program.stdin.flush()
        lines = []
        for line in program.stdout:
            if line.endswith(f"{self.END}\n"):  # after a line that the block left open
                return "".join(lines) + line.removesuffix(f"{self.END}\n")
            lines.append(line)
        raise RuntimeError(f"{page.name}, line {block.line}: R stopped: {''.join(lines)}")


def _started_r() -> Any:
    if shutil.which("R") is None:
        raise FileNotFoundError(NO_R)
    return subprocess.Popen(
        ["R", "--vanilla", "--no-echo"],  # noqa: S607 - the user's
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _environment() -> dict[str, str]:
    """Ours, with the programs beside this Python first."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def _run_console(block: Block) -> str:
    printed = ""
    for line in PROMPT.findall(block.code):
        answer = subprocess.run(  # noqa: S603 - our own pages
            ["bash", "-ec", line],  # noqa: S607 - the user's
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        printed += answer.stdout
        if answer.returncode:
            raise RuntimeError(f"{line} ended with {answer.returncode}: {printed}")
    return printed


def _expected(block: Block) -> str | None:
    """What the page says was printed, if it says so."""
    if block.language == "output":
        return block.code
    shown = PROMPT.sub("", block.code).strip() if block.language == "console" else ""
    return shown or None


def _agree(expected: str, printed: str) -> bool:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(expected.strip(), printed.strip(), options)


# -- the sources of the site ---------------------------------------------------------------------------------------


def missing() -> list[str]:
    """What the pages need and this machine does not have."""
    used = {name for page in pages() for name in DATA_SET.findall(page.read_text(encoding="utf-8"))}
    data = Path(os.environ["TIMELIKE_DATA"])
    lost = [str(data / place) for name, place in PLACES.items() if name in used and not (data / place).is_dir()]
    needs_r = any(block.language == "r" for page in pages() for block in blocks(page))
    data_line = f"pages on real data need {', '.join(lost)}: timelike.datasets says what is in them"
    return [data_line] * bool(lost) + [NO_R] * (needs_r and shutil.which("R") is None)


def main(target: Path) -> None:
    """Run every page and lay it into a folder, with its figures and what it links to."""
    target.mkdir(parents=True, exist_ok=True)
    for page in pages():
        print(page.name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            run(page, Path(folder))
            _collect(page, Path(folder), target)
        (target / page.name).write_text(relinked(page.read_text(encoding="utf-8")), encoding="utf-8")
    for source, name in ((DOCS / "reproduction", "reproduction"), (RESULTS, "benchmarks/results")):
        shutil.copytree(source, target / name, dirs_exist_ok=True)
    for name in ("conf.py", "site.css"):
        shutil.copy(DOCS / name, target)


def _collect(page: Path, folder: Path, target: Path) -> None:
    """Keep the figures beside the pages, and a report that was left in ``result`` for the root of the site."""
    made = {path: target / "figures" / path.name for path in sorted((folder / "figures").iterdir())}
    report = folder / "result" / "report.html"
    if report.is_file():
        made[report] = target / "extra" / f"{page.stem}_report.html"
    for path, place in made.items():
        if place.exists():
            raise FileExistsError(f"two pages make figures/{path.name}")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)


def relinked(text: str) -> str:
    """A page whose links to measured results lead to the copies inside the site.

    >>> relinked("[clusters](../benchmarks/results/clusters.md)")
    '[clusters](benchmarks/results/clusters.md)'
    """
    return text.replace("](../benchmarks/results/", "](benchmarks/results/")


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    os.environ.setdefault("TIMELIKE_DATA", str(DATA))
    if needed := missing():
        sys.exit("\n".join(needed))
    main(Path(sys.argv[1]).resolve())
