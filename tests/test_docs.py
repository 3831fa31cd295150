"""The documentation is true: its code runs and prints what it shows, its figures, names, links and quotations exist."""

import ast
import importlib.util
import re
import shutil
import sys
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import timelike as tl
from timelike.cli import main as program
from timelike.clusters.methods import METHODS
from timelike.gp.kernels import NAMED
from timelike.runs.recipe import SCALES

ROOT = Path(__file__).parents[1]


def _load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


docs = _load("pages")


def _text(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


# -- code ------------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _plain_figures(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.filterwarnings("default")  # pages may show what warnings look like
@pytest.mark.parametrize("page", docs.pages(), ids=lambda page: page.stem)
def test_page_runs_and_prints_what_it_shows(page, tmp_path, request, monkeypatch):
    if "tl.datasets." in page.read_text(encoding="utf-8"):
        monkeypatch.setenv("TIMELIKE_DATA", str(request.getfixturevalue("shared_data")))
    if any(block.language == "r" for block in docs.blocks(page)):
        _need_r()
    docs.run(page, tmp_path)  # raises where code fails, or something else comes out than the page shows
    assert all((tmp_path / name).is_file() for name in docs.figures(page))


def _need_r():
    if shutil.which("R") is None:
        pytest.skip(docs.NO_R)  # which fails in CI


@pytest.fixture
def page(tmp_path):
    def write(text):
        path = tmp_path / "page.md"
        path.write_text(text)
        return path

    return write


def test_a_mistake_in_a_page_is_noticed(page, tmp_path):
    with pytest.raises(AttributeError):
        docs.run(page("# Page\n\n```python\nimport timelike\ntimelike.nothing\n```\n"), tmp_path / "run")


def test_a_command_that_fails_is_noticed(page, tmp_path):
    with pytest.raises(RuntimeError, match="ended with 3: last words"):
        docs.run(page("```console\n$ echo last words; exit 3\n```\n"), tmp_path / "run")


def test_blocks_of_r_share_a_session_and_show_what_they_print(page, tmp_path):
    _need_r()
    first = "```r\nx <- 1:3\nwriteLines('from R', 'note')\n```\n\n"
    shown = first + "```r\nx\ncat('open')\n```\n\n```output\n[1] 1 2 {last}\nopen\n```\n"
    docs.run(page(shown.format(last=3)), tmp_path / "run")
    assert (tmp_path / "run" / "note").read_text() == "from R\n"
    with pytest.raises(ValueError, match="but this came out"):
        docs.run(page(shown.format(last=4)), tmp_path / "again")


def test_an_error_in_r_is_noticed(page, tmp_path):
    _need_r()
    with pytest.raises(RuntimeError, match=r"page\.md, line 2: R stopped: Error: last words"):
        docs.run(page("```r\nstop('last words', call. = FALSE)\n```\n"), tmp_path / "run")


def test_what_the_build_needs_is_said_before_it_begins(page, tmp_path, monkeypatch):
    monkeypatch.setenv("TIMELIKE_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(docs, "pages", lambda: [page("tl.datasets.fission()\n\n```r\n1\n```\n")])
    data, r = docs.missing()
    assert str(tmp_path / "fission") in data
    assert "r-cran-reticulate" in r


def test_the_rule_of_the_workflow_page_makes_what_it_promises(tmp_path):
    """Snakemake itself is too large to come along: its part, filling in the braces, is done here."""
    (rule,) = [block.code for block in docs.blocks(ROOT / "docs" / "workflow.md") if block.language == "snakemake"]
    asked, made = re.findall(r'input:\s+"(.+?)"', rule), re.findall(r'\w+="(.+?)"', rule)
    command = re.search(r'shell:\s+"(.+)"', rule)[1].format(input=asked[0], log="cluster.log")
    tl.simulate.profiles(per_group=10, seed=1)[0].to_frame().to_csv(tmp_path / asked[0], index=False)
    for _ in range(2):  # a rule runs again when its input is newer
        page = docs.Block("console", 1, f"$ cd {tmp_path} && {command}\n")
        docs._run_console(page)
        assert all((tmp_path / name).is_file() for name in made)
        assert len(made) == 3


def test_a_figure_that_nobody_makes_is_noticed(page, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"page\.md shows figures/nothing\.svg"):
        docs.run(page("![nothing](figures/nothing.svg)\n"), tmp_path / "run")


def test_a_block_that_nobody_runs_is_noticed(page, tmp_path):
    with pytest.raises(ValueError, match="nobody runs a block in 'pyhton'"):
        docs.run(page("```pyhton\n1\n```\n"), tmp_path / "run")


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n\n```output\n2\n```\n",
        "```python\nimport warnings\nwarnings.warn('a')\n```\n\n```output\nUserWarning: b\n```\n",
        "```console\n$ echo 1\n2\n```\n",
    ],
)
def test_other_output_than_shown_is_noticed(text, page, tmp_path):
    before = Path.cwd()
    with pytest.raises(ValueError, match="but this came out"):
        docs.run(page(text), tmp_path / "run")
    assert Path.cwd() == before


def test_output_as_shown_passes(page, tmp_path):
    text = (
        "```python\nprint(1.25)\n```\n\n```output\n1.2...\n```\n\n```console\n$ echo 1 | tee ran\n1\n$ echo 2\n2\n```\n"
    )
    docs.run(page(text), tmp_path / "run")
    assert (tmp_path / "run" / "ran").read_text() == "1\n"


def test_pages_do_not_take_each_others_figures(tmp_path, monkeypatch):
    pages = [tmp_path / "a.md", tmp_path / "b.md"]
    for path in pages:
        path.write_text("```python\nopen('figures/same.svg', 'w').close()\n```\n")
    monkeypatch.setattr(docs, "pages", lambda: pages)
    with pytest.raises(FileExistsError, match=r"two pages make figures/same\.svg"):
        docs.main(tmp_path / "site")


# -- links -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*docs.pages(), *ROOT.glob("*.md")], ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(path):
    prose = docs.BLOCK.sub("", path.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose)
    lost = [t for t in targets if not t.startswith("figures/") and not (path.parent / t).exists()]
    assert not lost, f"{path.name} links to {lost}"


def test_links_to_results_stay_inside_the_site():
    assert docs.relinked("[a](../benchmarks/results/a.md)") == "[a](benchmarks/results/a.md)"
    others = [
        link
        for path in docs.pages()
        for link in re.findall(r"\]\(\.\./([^)]+)\)", docs.BLOCK.sub("", path.read_text()))
    ]
    assert [link for link in others if not link.startswith("benchmarks/results/")] == []


def test_every_page_is_in_the_contents():
    listed = set(re.findall(r"^(\w+)$", _text("index.md"), re.MULTILINE)) | {"index"}
    assert {path.stem for path in docs.pages()} - listed == set()


# -- names -------------------------------------------------------------------------------------------------------------


def _documented():
    """Names that the API page has directives for, and the members that it chooses."""
    text = _text("api.md")
    names = re.findall(r"^\.\. auto\w+:: (\S+)", text, re.MULTILINE)
    chosen = re.findall(r"^\.\. auto\w+:: (\S+)\n   :members: (.+)$", text, re.MULTILINE)
    return names + [f"{owner}.{member.strip()}" for owner, members in chosen for member in members.split(",")]


def test_every_public_name_is_on_the_api_page():
    assert {f"timelike.{name}" for name in tl.__all__} - set(_documented()) == set()


@pytest.mark.parametrize("module", ["estimators", "plot"])
def test_every_public_name_of_a_module_is_on_the_api_page(module):
    found = import_module(f"timelike.{module}")
    public = {f"timelike.{module}.{name}" for name in found.__all__ if callable(getattr(found, name))}
    assert public - set(_documented()) == set()


@pytest.mark.parametrize("name", _documented())
def test_names_on_the_api_page_exist_and_are_described(name):
    found = tl
    for part in name.split(".")[1:]:
        found = getattr(found, part, None) or import_module(f"{found.__name__}.{part}")
    assert found.__doc__


@pytest.mark.parametrize("names", [METHODS, NAMED, SCALES], ids=["methods", "kernels", "scales"])
def test_the_page_of_choices_has_every_name(names):
    text = _text("choosing.md")
    assert [name for name in names if f"`{name}`" not in text and f'"{name}"`' not in text] == []


def test_the_page_of_commands_has_every_verb_and_option():
    conf = _load("conf")
    assert conf.COMMANDS in _text("commands.md")
    text = conf.commands()
    for name, verb in program.commands.items():
        section = text.split(f"\n## timelike {name}\n")[1].split("\n## ")[0]
        missing = [
            option
            for parameter in verb.params
            for option in parameter.opts
            if option.startswith("-") and option not in section
        ]
        assert not missing, f"{name}: {missing}"


def _lost_options(line):
    """What a line of the command line names that the program does not know."""
    _, verb, *words = line.partition("#")[0].split()
    if verb not in program.commands:
        return [verb]
    parameters = program.commands[verb].params
    known = {option for parameter in parameters for option in [*parameter.opts, *parameter.secondary_opts]}
    return [word for word in words if word.startswith("-") and word not in known]


@pytest.mark.parametrize("path", [*docs.pages(), ROOT / "README.md"], ids=lambda path: path.stem)
def test_commands_that_nobody_runs_have_verbs_and_options_that_exist(path):
    fenced = re.split(r"^```", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1::2]
    shown = [block for block in fenced if block.startswith(("\n", "text\n"))]
    lines = re.findall(r"^timelike \w.*$", "".join(shown), re.MULTILINE)
    assert [line for line in lines if " | " not in line and _lost_options(line)] == []


def test_an_option_that_does_not_exist_is_noticed():
    assert _lost_options("timelike cluster genes.csv --most-variabel 5 -k 3 --no-robust  # five") == ["--most-variabel"]
    assert _lost_options("timelike clutser genes.csv") == ["clutser"]


# -- numbers ---------------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"(?<![\w.-])\d(?:[\d,]*\d)?(?:\.\d+)?")


def _numbers(text):
    return {float(number.replace(",", "")) for number in NUMBER.findall(text)}


def _unfounded(text, published):
    """Numbers of the prose that neither the code of the page shows, which is run, nor what others published."""
    shown = "\n".join(code for _, code in docs.BLOCK.findall(text))
    return _numbers(docs.BLOCK.sub("", text)) - _numbers(shown) - _numbers(published)


@pytest.mark.parametrize(
    ("name", "agreed"),
    [("fission", {95, 90, 300}), ("mouse_flu", {95})],  # what bands and intervals hold; a factor of more than 300
)
def test_numbers_of_the_prose_are_shown_by_the_code_or_published(name, agreed, shared_data):
    published = (shared_data / "README.md").read_text(encoding="utf-8") + getattr(tl.datasets, name).__doc__
    assert _unfounded(_text(f"tutorial_{name}.md"), published) == agreed


def test_a_number_that_nothing_shows_is_noticed():
    page = "Of 6,760 genes 87 differ.\n\n```output\n6,760 courses, 86 differ\n```\n"
    assert _unfounded(page, "") == {87}
    assert _unfounded(page, "any difference 87") == set()


# -- quotations ------------------------------------------------------------------------------------------------------


def _quotes():
    """The notes and errors that the page of troubles quotes."""
    return [" ".join(quote.split()) for quote in re.findall(r'\*\*"(.+?)"\*\*', _text("troubleshooting.md"), re.DOTALL)]


@cache
def _sentences():
    """Every text in the source, with a zero where something is filled in; and messages put together from several."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "src" / "timelike").rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    plain = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    filled = [_template(node) for node in nodes if isinstance(node, ast.JoinedStr)]
    return [*plain, *filled, *_fit_warnings(), _question_about_dates(), _missing_matplotlib()]


def _template(node):
    return "".join(part.value if isinstance(part, ast.Constant) else "\0" for part in node.values)


def _fit_warnings():
    from sklearn.gaussian_process.kernels import RBF

    rng = np.random.default_rng(0)
    times = np.repeat(np.arange(6.0), 2)
    level = rng.standard_normal((60, 1)) + 0.1 * np.tile([-1, 1], 6)  # replicates differ, times do not
    fits = [(level, "se"), (np.sin(times + rng.random((9, 1))), "se"), (level, RBF(1, (0.1, 2)))]
    for scale in (0.4, 0.7):
        covariance = tl.GP.se(scale, 1, 0.1).covariance(times[:, None]) + 1e-9 * np.eye(12)
        curves = rng.multivariate_normal(np.zeros(12), covariance, size=150)
        fits.append((curves + 0.1 * rng.standard_normal(curves.shape), "se"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            w for values, kernel in fits for w in tl.fit(tl.TimeCourses.from_arrays(times, values), kernel).warnings
        ]


def _question_about_dates():
    from timelike.reading.dates import since_first

    with pytest.raises(tl.InputError) as problem:
        since_first(np.zeros(1), np.zeros(1, int), None)
    return str(problem.value)


def _missing_matplotlib():
    with patch.dict(sys.modules, {"matplotlib.pyplot": None}), pytest.raises(tl.MissingExtraError) as problem:
        tl.plot.courses(tl.simulate.profiles(seed=1)[0])
    return str(problem.value)


def _in_order(pieces, sentence):
    at = 0
    for piece in pieces:
        found = sentence.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


@pytest.mark.parametrize("quote", _quotes())
def test_quoted_notes_are_given_by_the_code(quote):
    pieces = [piece for piece in re.split(r"\.\.\.|\d[\d,]*", quote) if piece.strip()]
    assert sum(map(len, pieces)) > 20
    assert any(_in_order(pieces, sentence) for sentence in _sentences())


def test_a_note_that_the_code_does_not_give_is_noticed():
    assert not any(_in_order(["the fit ended on a sunny day"], sentence) for sentence in _sentences())


def test_every_warning_is_among_the_quotes():
    """The first words of each warning in the source, where it is written as one text."""
    quotes = "\n".join(_quotes())
    for path in (ROOT / "src" / "timelike").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "warn":
                text = call.args[0]
                words = _template(text) if isinstance(text, ast.JoinedStr) else ""
                begins = next((piece.strip(" ,;:.") for piece in words.split("\0") if len(piece) > 9), "")
                assert begins[:25] in quotes, f"{path.name}: {words}"


def test_the_comparison_shows_what_the_race_wrote(monkeypatch):
    """Tables that people copy into a page by hand go stale."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import peers

    records = peers.read_records(peers.RESULTS / "peers.csv")
    text = peers.COMPARISON.read_text(encoding="utf-8")
    for name, table in peers.shown_tables(records).items():
        assert f"<!-- {name} -->\n\n{table}\n<!-- end of {name} -->\n" in text


def test_the_page_of_freedoms_shows_what_its_benchmark_wrote(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import aligned

    for name, table in aligned.shown_tables(aligned.PAGE.read_text(encoding="utf-8")).items():
        assert f"<!-- {name} -->\n\n{table}\n<!-- end of {name} -->\n" in _text("aligned.md")
