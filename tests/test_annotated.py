"""Results in AnnData: what is where, that it survives a file, and what is refused."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import anndata
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import timelike as tl
from timelike import annotated
from timelike.exceptions import InputError, MissingExtraError
from timelike.pairs.nearest.neighbors import neighbors
from timelike.pairs.similarity import as_distance, as_probability


@pytest.fixture(scope="module")
def courses():
    """Three profiles of twelve, and one course that is like none of them."""
    some, _ = tl.simulate.profiles(noise=0.05, per_group=12, seed=1)
    times, values = some.to_matrix()
    odd = 2 * np.cos(9 * times)
    return tl.TimeCourses.from_arrays(times, np.vstack([values, odd]), names=[*some.names, "odd"])


@pytest.fixture(scope="module")
def gp(courses):
    return tl.fit(courses[:-1])


@pytest.fixture(scope="module")
def mixture(courses, gp):
    found = tl.mixture(courses, gp, spread=0.0, robust=False)
    assert found.labels[-1] == -1
    return found


@pytest.fixture(scope="module")
def nearest(courses, gp):
    return neighbors(courses, gp, k=4)


@pytest.fixture
def adata(courses):
    """Samples in rows; the genes in another order than the courses, and two that were not analysed."""
    times, values = courses.to_matrix()
    names = ["flat", *reversed(courses.names), "gap"]
    X = np.column_stack([np.zeros(len(times)), values[::-1].T, np.zeros(len(times))])
    return anndata.AnnData(X, obs=pd.DataFrame({"time": times}, index=[f"s{i}" for i in range(len(times))]),
                           var=pd.DataFrame(index=names))  # fmt: skip


def test_labels_go_to_the_genes_by_name(adata, mixture):
    assert annotated.write(adata, mixture) is None
    column = adata.var["timelike"]
    assert list(column.cat.categories) == ["0", "1", "2", "none"]
    for name, label in zip(mixture.names, mixture.labels, strict=True):
        assert column[name] == ("none" if label < 0 else str(label))
    assert column[["flat", "gap"]].isna().all()


def test_categories_have_none_only_where_a_course_is_in_none(adata, courses, gp):
    annotated.write(adata, tl.evidence_linkage(courses, gp, 2))
    assert list(adata.var["timelike"].cat.categories) == ["0", "1"]
    assert "timelike_probability" not in adata.var
    assert "timelike_probabilities" not in adata.varm


def test_probabilities(adata, mixture):
    annotated.write(adata, mixture)
    table = adata.varm["timelike_probabilities"]
    assert list(table.columns) == ["0", "1", "2", "none"]
    assert_allclose(table.loc[list(mixture.names)].sum(axis=1), 1)
    assert_array_equal(table.loc[list(mixture.names)].to_numpy()[:, :3], mixture.probabilities)
    assert table.loc[["flat", "gap"]].isna().to_numpy().all()
    sure = adata.var["timelike_probability"]
    assert_array_equal(sure[list(mixture.names)], mixture.confidence)
    assert sure["odd"] == table.loc["odd", "none"] > 0.5
    assert np.isnan(sure["flat"])


def test_graph_joins_the_right_genes(adata, mixture, nearest):
    annotated.write(adata, mixture, nearest)
    scores = pd.DataFrame(adata.varp["timelike_scores"].toarray(), adata.var_names, adata.var_names)
    for i, name in enumerate(nearest.names):
        friends = [nearest.names[j] for j in nearest.indices[i]]
        assert_array_equal(scores.loc[name, friends], nearest.scores[i])
        assert (scores.loc[name].drop(friends) == 0).all()
    assert adata.varp["timelike_scores"].nnz == nearest.scores.size


def test_graph_for_other_tools(adata, mixture, nearest):
    annotated.write(adata, mixture, nearest)
    one_way = adata.varp["timelike_scores"].tocoo()
    weights, distances = adata.varp["timelike_connectivities"], adata.varp["timelike_distances"]
    assert abs(weights - weights.T).max() == 0
    assert_array_equal(np.asarray(weights[one_way.row, one_way.col]).ravel(), as_probability(one_way.data))
    assert_array_equal(np.asarray(distances[one_way.row, one_way.col]).ravel(), as_distance(one_way.data))
    assert weights.nnz <= 2 * one_way.nnz
    record = adata.uns["timelike"]
    assert record["connectivities_key"] in adata.varp
    assert record["distances_key"] in adata.varp
    assert record["params"]["n_neighbors"] == 4


def test_courses_as_observations(adata, mixture, nearest):
    patients = adata.T.copy()
    annotated.write(patients, mixture, nearest, axis="obs", key_added="curves")
    assert patients.obs["curves"]["odd"] == "none"
    assert {"curves_scores", "curves_connectivities", "curves_distances"} == set(patients.obsp)
    assert list(patients.obsm) == ["curves_probabilities"]
    assert list(patients.uns) == ["curves"]
    assert len(patients.var.columns) == 1  # the times, as before


def test_record_has_what_is_needed_to_repeat(adata, mixture, gp):
    annotated.write(adata, mixture)
    record = adata.uns["timelike"]
    assert record["gp"]["length_scale"] == gp.length_scale
    assert record["gp"]["noise_sd"] == gp.noise_sd
    assert record["gp"]["kernel"] == "se"
    assert record["method"] == "mixture"
    assert record["n_clusters"] == 3
    assert record["spread"] == mixture.spread
    assert record["versions"]["timelike"] == tl.__version__
    assert "Barahona" in record["citation"]
    assert dict(zip(record["evidence"]["n_clusters"], record["evidence"]["value"], strict=True)) == mixture.evidence


def test_file_and_back(adata, mixture, nearest, gp, tmp_path):
    annotated.write(adata, mixture, nearest, gp=replace(gp, warnings=("one.", "two.")))
    adata.write_h5ad(tmp_path / "a.h5ad")
    back = anndata.read_h5ad(tmp_path / "a.h5ad")
    pd.testing.assert_frame_equal(back.var, adata.var)
    pd.testing.assert_frame_equal(back.varm["timelike_probabilities"], adata.varm["timelike_probabilities"])
    for key in ("scores", "connectivities", "distances"):
        assert abs(back.varp[f"timelike_{key}"] - adata.varp[f"timelike_{key}"]).max() == 0
    check_same(back.uns["timelike"], adata.uns["timelike"])
    assert back.uns["timelike"]["gp"]["warnings"] == "one. two."


def check_same(found, expected):
    assert set(found) == set(expected)
    for key, value in expected.items():
        if isinstance(value, dict):
            check_same(found[key], value)
        else:
            assert_array_equal(found[key], value)


def test_copy_leaves_the_original(adata, mixture, nearest):
    copied = annotated.write(adata, mixture, nearest, copy=True)
    assert "timelike" in copied.var
    assert len(adata.var.columns) == 0
    assert not list(adata.varm) + list(adata.varp) + list(adata.uns)


def test_writing_again_leaves_nothing_of_before(adata, mixture, nearest, courses, gp):
    annotated.write(adata, mixture, nearest)
    annotated.write(adata, tl.hierarchical(tl.similarity(courses, gp), 2))
    assert list(adata.var.columns) == ["timelike"]
    assert not list(adata.varm) + list(adata.varp)
    assert "connectivities_key" not in adata.uns["timelike"]
    assert "gp" not in adata.uns["timelike"]


def test_an_analysis_brings_its_parts(adata, mixture, nearest, gp):
    whole = SimpleNamespace(clustering=mixture, neighbors=nearest, gp=gp)
    annotated.write(adata, whole)
    assert adata.uns["timelike"]["gp"]["mean"] == gp.mean
    assert "timelike_scores" in adata.varp


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_unknown_gene_is_named_and_nothing_written(adata, mixture, nearest):
    few = adata[:, adata.var_names != "A03"].copy()
    with pytest.raises(InputError, match=r"course 'A03' is not in var_names\. Did you mean"):
        annotated.write(few, mixture, nearest)
    assert len(few.var.columns) == 0


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_genes_that_stand_twice(adata, mixture):
    adata.var_names = ["flat", *adata.var_names[1:-1], "flat"]
    with pytest.raises(InputError, match=r"'flat' stands twice in var_names.*var_names_make_unique"):
        annotated.write(adata, mixture)


def test_neighbors_of_other_courses(adata, mixture, courses, gp):
    with pytest.raises(InputError, match="neighbors are of 9 courses, clusters of 37"):
        annotated.write(adata, mixture, neighbors(courses[:9], gp, k=2))
    with pytest.raises(InputError, match="neighbors are of 37 courses among 9 others"):
        annotated.write(adata, mixture, neighbors(courses, gp, k=2, others=courses[:9]))
    assert len(adata.var.columns) == 0


def test_other_arguments(adata, mixture):
    with pytest.raises(InputError, match="there is no axis 'genes'"):
        annotated.write(adata, mixture, axis="genes")
    with pytest.raises(InputError, match="adata must be an AnnData object, not DataFrame"):
        annotated.write(adata.to_df(), mixture)
    with pytest.raises(InputError, match="found must be Clustering, not ndarray"):
        annotated.write(adata, mixture.labels)


def test_missing_package_names_the_extra(adata, mixture, monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'timelike\[bio\]'"):
        annotated.write(adata, mixture)


def test_record_has_the_period(courses, mixture):
    from sklearn.gaussian_process.kernels import ExpSineSquared

    periodic = tl.GP(ExpSineSquared(length_scale=1.5, periodicity=24), 1.0, 0.1)
    assert annotated.record(mixture, periodic)["gp"]["period"] == 24.0
    assert "period" not in annotated.record(mixture, mixture.gp)["gp"]


def test_record_has_the_clock(mixture):
    entry = annotated.record(mixture, tl.GP.se(1.5, 1.0, 0.1, clock=24))["gp"]
    assert (entry["clock"], entry["clock_start"], entry["length_scale"], entry["kernel"]) == (24.0, 0.0, 1.5, "se")
    assert not {"clock", "clock_start"} & set(annotated.record(mixture, tl.GP.se(1.5, 1.0, 0.1))["gp"])


def answers():
    """A comparison and an answer about change, of the same genes."""
    rng = np.random.default_rng(1)
    times, names = np.repeat([0.0, 2, 4, 8], 3), [f"g{i}" for i in range(20)]
    wild, mutant = rng.normal(size=(2, 20, 12))
    mutant[:3] += 6 * (times > 2)
    each = {
        "wt": tl.TimeCourses.from_arrays(times, wild, names),
        "mut": tl.TimeCourses.from_arrays(times, mutant, names),
    }
    return tl.compare(each), tl.changing(each["mut"])


def test_an_answer_has_a_column_of_var_for_each_of_its_table(tmp_path):
    compared, changing = answers()
    adata = anndata.AnnData(np.zeros((4, 22)))
    adata.var_names = [*reversed(compared.names), "other", "more"]
    annotated.write(adata, compared, key_added="strain")
    frame = compared.to_frame().set_index("name")
    np.testing.assert_allclose(adata.var.loc[list(frame.index), "strain_probability"], frame["probability"])
    assert adata.var.loc[list(frame.index), "strain_higher_in"].tolist() == frame["higher_in"].tolist()
    assert adata.var.loc[["other", "more"], "strain_fdr"].isna().all()
    assert adata.uns["strain"]["question"] == "compare"
    assert list(adata.uns["strain"]["conditions"]) == ["wt", "mut"]
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    np.testing.assert_allclose(again.var["strain_fdr"], adata.var["strain_fdr"])
    annotated.write(adata, changing, key_added="strain")
    assert "strain_kind" not in adata.var
    np.testing.assert_allclose(adata.var.loc[list(changing.names), "strain_peak"], changing.peak.time)
    copied = annotated.write(adata, compared, key_added="more", copy=True)
    assert "more_kind" in copied.var
    assert "more_kind" not in adata.var


def test_the_columns_that_are_cleared_are_those_of_all_answers():
    from timelike.annotated import ANSWERED

    compared, changing = answers()
    found = {*compared.to_frame().columns, *changing.to_frame().columns} - {"name"}
    assert found <= set(ANSWERED)


def test_delays_gains_and_levels_go_to_the_genes(adata, courses, tmp_path):
    free = {"up_to": ("level", "gain", "delay"), "max_delay": 0.3}
    with pytest.warns(tl.DataWarning, match="do not use the freedom"):
        found = tl.mixture(courses[:12], tl.GP.se(0.9, 0.6, 0.05), k=1, **free)
    annotated.write(adata, found)
    for name, known in (("delay", found.delay), ("gain", found.gain), ("level", found.level)):
        for end, values in zip(("", "_low", "_high"), known, strict=True):
            assert_array_equal(adata.var[f"timelike_{name}{end}"][list(found.names)], values)
    assert np.isnan(adata.var["timelike_delay"]["flat"])
    assert adata.uns["timelike"]["up_to"] == ["level", "gain", "delay"]
    assert set(adata.uns["timelike"]["earned"]) == {"level", "gain", "delay"}
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    assert_array_equal(again.var["timelike_gain"], adata.var["timelike_gain"])
    assert list(again.uns["timelike"]["up_to"]) == ["level", "gain", "delay"]


def test_delays_of_an_earlier_call_are_removed(adata, courses, mixture):
    adata.var["timelike_delay"] = 1.0
    adata.var["timelike_level_high"] = 1.0
    annotated.write(adata, mixture)
    assert not [name for name in adata.var if "delay" in name or "level" in name]


def test_a_copy_of_what_is_on_disk_is_in_memory(adata, mixture, tmp_path):
    adata.write_h5ad(tmp_path / "x.h5ad")
    on_disk = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    copy = annotated.write(on_disk, mixture, copy=True)
    assert "timelike" in copy.var
    assert not copy.isbacked
    assert "timelike" not in on_disk.var
    on_disk.file.close()


@pytest.mark.parametrize("key", ["", "a/b", None, 5])
def test_keys_that_files_cannot_have(adata, mixture, key):
    with pytest.raises(InputError, match="key_added is"):
        annotated.write(adata, mixture, key_added=key)
    assert list(adata.var.columns) == []
