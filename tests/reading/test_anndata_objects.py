"""AnnData: times in obs, genes in var, single cells averaged on request."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import timelike as tl
from timelike.reading import understand
from timelike.reading.options import OPTIONS, without_meaning


def samples(**columns):
    obs = pd.DataFrame(columns, index=[f"s{i}" for i in range(4)])
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(np.arange(8.0).reshape(4, 2), obs, pd.DataFrame(index=["g1", "g2"]))
    data.layers["logged"] = csr_matrix(data.X + 1)
    return data


def test_samples_in_obs(tmp_path):
    data = samples(day=[0, 0, 3, 7], batch=list("abab"))
    found = understand(data)
    assert found.lines()[:2] == [
        "2 courses, 3 times (0 to 7 days), some replicated",
        "read as AnnData: 4 observations, genes from var_names, values from X",
    ]
    np.testing.assert_array_equal(found.courses["g2"].values, [1, 3, 5, 7])
    data.write_h5ad(tmp_path / "genes.h5ad")
    again = tl.read(tmp_path / "genes.h5ad", layer="logged")
    np.testing.assert_array_equal(again["g2"].values, [2, 4, 6, 8])


def test_times_of_obs_may_be_words_and_conditions_are_told_apart():
    data = samples(timepoint=pd.Categorical(["0h", "6h", "0h", "6h"]), treatment=["no", "no", "yes", "yes"])
    found = understand(data)
    assert found.time_unit == "h"
    assert found.courses.names == ("g1 | no", "g1 | yes", "g2 | no", "g2 | yes")
    np.testing.assert_array_equal(found.courses["g1 | yes"].values, [4, 6])


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"batch": list("abab")}, {}, "no column is known to hold the times of the samples. Say which: time= (--time)"),
        ({"day": [0, 1, 2, 3], "age": [1, 2, 3, 4]}, {}, "'day' and 'age' could hold the times"),
        ({"day": [0, 1, 2, 3]}, {"layer": "raw"}, "there is no layer 'raw'. The layers: logged"),
        ({"day": [0, 1, 2, 3]}, {"times": [1]}, "times= has no meaning here: an AnnData object has its own names"),
        ({"day": [0, 1, 2, 3]}, {"replicate": "donor"}, "it has no column 'donor'"),
    ],
)
def test_objects_that_do_not_tell_enough(columns, options, message):
    with pytest.raises(tl.InputError) as caught:
        tl.read(samples(**columns), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("sparse", [False, True])
def test_single_cells_are_averaged_only_on_request(sparse):
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    counts = rng.poisson(2.0, (300, 3)).astype(float)
    obs = pd.DataFrame(
        {"time": np.repeat([0, 24], 150), "donor": np.tile(["d1", "d2"], 150)}, index=map(str, range(300))
    )
    cells = anndata.AnnData(csr_matrix(counts) if sparse else counts, obs, pd.DataFrame(index=["g1", "g2", "g3"]))
    with pytest.raises(tl.InputError, match="300 observations at 2 times, up to 150 at one: they seem to be cells"):
        tl.read(cells)
    found = understand(cells, replicate="donor")
    assert found.courses.summary() == "3 courses, 2 times (0 to 24) x 2 replicates"
    assert "each the mean of 75 to 75 observations with the same time and 'donor'" in found.lines()[1]
    wanted = [counts[(obs["time"] == t) & (obs["donor"] == d), 1].mean() for t in (0, 24) for d in ("d1", "d2")]
    np.testing.assert_allclose(found.courses["g2"].values, wanted)


@pytest.mark.parametrize("name", without_meaning("AnnData"))
def test_options_of_tables_have_no_meaning_for_anndata(name):
    row = OPTIONS[name]
    given = row.choices[0] if row.choices else {"numbers": [0], "True or False": True}.get(row.kind, "x")
    with pytest.raises(tl.InputError, match=f"{name}= has no meaning here: "):
        tl.read(samples(day=[0, 1, 2, 3]), **{name: given})
