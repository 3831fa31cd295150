import json

import numpy as np
import pytest

from timelike.exceptions import InputError
from timelike.runs.recipe import Recipe
from timelike.runs.record import Record, Search, Source


@pytest.fixture
def record(tmp_path):
    source = Source("genes.csv", "ab" * 32, {"time": "hours"}, ("3 courses",), "h", "12" * 32, {"s1": 0.5, "s2": 2.0})
    recipe = Recipe(scale="center", k=4, spread=np.float32(0.5), robust=np.False_)
    made = Record(
        source, recipe, "cd" * 32, {"clusters.csv": "ef" * 32}, ("a note",), search=Search("candidates", 0.985)
    )
    made.save(tmp_path / "run.json")
    return tmp_path / "run.json", made


def test_a_record_comes_back_as_it_was(record):
    path, made = record
    assert Record.load(path) == made


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "is not the record of a run"),
        ({"recipe": {"method": "magic"}}, "there is no method 'magic'"),
        ({"recipe": {"run": "rm -rf"}}, "the entry 'recipe' is not what timelike writes"),
        ({"recipe": {"seed": "0"}}, "seed is '0': expected a whole number"),
        ({"source": []}, "the entry 'source' is not what timelike writes"),
        ({"source": {"path": 3}}, "the entry 'path' is 3: expected text"),
        ({"source": {"reading": []}}, "'reading' or 'understood' is damaged"),
        ({"source": {"reading": {"colour": "red"}}}, "the entry 'reading' is not what timelike writes: expected co"),
        ({"source": {"reading": {"samples": 5}}}, "the entry 'samples' is 5: expected text"),
        ({"source": {"samples_sha256": 5}}, "the entry 'samples_sha256' is 5: expected text"),
        ({"source": {"size_factors": [1, 2]}}, "the entry 'size_factors' is '.1, 2.': expected a number above zero"),
        (
            {"source": {"size_factors": {}}},
            "the entry 'size_factors' is .* expected a number above zero for each sample",
        ),
        ({"source": {"size_factors": {"s1": "1"}}}, "the entry 'size_factors' is .* expected a number above zero"),
        ({"source": {"size_factors": {"s1": 0}}}, "the entry 'size_factors' is .* expected a number above zero"),
        ({"outputs": {"a": 1}}, "the entry 'outputs' is not what timelike writes"),
        ({"outputs": {"a\0b.csv": "00"}}, "the entry 'outputs' has 'a.x00b.csv', which is no name of a file"),
        ({"outputs": {"../genes.csv": "00"}}, "the entry 'outputs' has '../genes.csv', which is no name of a file"),
        ({"outputs": {"x" * 300: "00"}}, "the entry 'outputs' has 'x{40}', which is no name of a file"),
        ({"search": []}, "the entry 'search' is not what timelike writes"),
        ({"search": {"route": 5, "recall": 1}}, "the entry 'route' is 5: expected text"),
        ({"search": {"route": "grid"}}, "the entry 'search' is .* expected a route and a recall from 0 to 1"),
        ({"search": {"recall": 1}}, "the entry 'search' is .* expected a route and a recall from 0 to 1"),
        ({"search": {"route": "grid", "recall": 2}}, "expected a route and a recall from 0 to 1"),
        ({"search": {"route": "grid", "recall": "1"}}, "expected a route and a recall from 0 to 1"),
        ({"model_sha256": 5}, "the entry 'model_sha256' is 5: expected text"),
    ],
)
def test_a_record_from_anybody_is_checked(record, change, message):
    path, _ = record
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=message):
        Record.load(path)


@pytest.mark.parametrize("text", ["", "{", "[1]", "[" * 100_000])
def test_what_is_no_json_is_called_so(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(InputError, match="is not the record of a run"):
        Record.load(tmp_path / "run.json")
