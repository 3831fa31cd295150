# Every target sets up what it needs, in .venv, on a machine with python3 (3.11 or newer) and make.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test check format docs fuzz bench ratios reproduce oldest newest core wheel clean

help:  ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

demo: .venv/run  ## four questions asked of a made-up experiment, the truth beside the answers; says where the reports are
	$(BIN)/timelike demo --out demo --force

test: .venv/test  ## all tests
	$(BIN)/python -m pytest -n auto

check: .venv/test  ## lint, format, types, dead code, docstrings, and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/vulture
	$(BIN)/python -m pytest tests/test_rooms.py tests/test_docstrings.py

format: .venv/test  ## put the code into the house's format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

fuzz: .venv/test  ## random cases against slow answers (benchmarks/results/fuzz.md), and damaged files for the readers, others in every run
	TIMELIKE_FUZZ=100 $(BIN)/python -m pytest tests/reading/test_odd_files.py tests/courses/test_courses_stateful.py -k "random or damaged or stateful" -n auto
	$(BIN)/python benchmarks/fuzz.py 60

docs: .venv/docs  ## the documentation site, into docs/_build/html; runs the code of every page
	rm -rf docs/_build
	$(BIN)/python docs/pages.py docs/_build/source
	$(BIN)/sphinx-build -q -W --keep-going -b html -d docs/_build/doctrees docs/_build/source docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: .venv-bench/ready  ## race us against peers; writes benchmarks/results (leave the machine alone meanwhile)
	.venv-bench/bin/python benchmarks/similarity.py
	.venv-bench/bin/python benchmarks/scaling.py
	.venv-bench/bin/python benchmarks/pairwise_fit.py
	.venv-bench/bin/python benchmarks/ontology.py
	.venv-bench/bin/python benchmarks/neighbors.py
	.venv-bench/bin/python benchmarks/out_of_core.py
	.venv-bench/bin/python benchmarks/large_clusters.py
	.venv-bench/bin/python benchmarks/precision.py
	.venv-bench/bin/python benchmarks/report.py
	.venv-bench/bin/python benchmarks/job.py
	.venv-bench/bin/python benchmarks/clusters.py --seeds 100
	.venv-bench/bin/python benchmarks/real_courses.py all
	.venv-bench/bin/python benchmarks/questions.py
	.venv-bench/bin/python benchmarks/counts.py
	.venv-bench/bin/python benchmarks/peers.py
	.venv-bench/bin/python benchmarks/differential.py
	.venv-bench/bin/python benchmarks/sure.py

ratios: .venv-bench/ready  ## our times over those of peers and bare limits, against the committed table: which got worse
	.venv-bench/bin/python benchmarks/ratios.py

oldest: .venv-oldest/ready  ## all tests with the oldest supported versions of every dependency
	.venv-oldest/bin/python -m pytest -n auto

newest: .venv-newest/ready  ## all tests with the newest versions, pandas 3 among them (anndata still wants pandas 2)
	env -u CI PYTHONPATH=tests TIMELIKE_WITHOUT=anndata,h5py .venv-newest/bin/python -m pytest -p compat.without_extras -n auto

core: .venv-core/ready  ## the tests with the core dependencies alone; what needs an extra is skipped
	env -u CI PYTHONPATH=tests TIMELIKE_WITHOUT=all .venv-core/bin/python -m pytest -p compat.without_extras -n auto

wheel:  ## build wheel and sdist, look into them, install into an empty environment and try it
	$(PYTHON) tests/compat/wheel.py dist

reproduce: .venv/run  ## the paper's figures and tables beside its printed values, into reproduction/
	$(BIN)/timelike reproduce all --out reproduction

clean:  ## remove what make made
	rm -rf .venv .venv-* docs/_build demo reproduction dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/pip:
	$(PYTHON) -c 'import sys; sys.exit("timelike needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

.venv/run: .venv/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[all]"
	touch $@

.venv/test: .venv/run
	$(BIN)/python -m pip install --quiet --group check --group test
	touch $@

.venv/docs: .venv/run
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

# Peers cap the versions of what they need, so they live in an environment of their own.
.venv-bench/ready: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-bench/bin/python -m pip install --quiet --editable ".[all]" --group bench
	touch $@

# Environments that prove what we promise about versions.
.venv-oldest/ready: pyproject.toml tests/compat/oldest.txt
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-oldest/bin/python -m pip install --quiet -r tests/compat/oldest.txt --editable . --group test
	touch $@

.venv-newest/ready: pyproject.toml
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-newest/bin/python -m pip install --quiet --editable ".[fast,plot,baselines,files,dask,approximate]" "pandas>=3" --group test
	touch $@

.venv-core/ready: pyproject.toml
	$(PYTHON) -m venv --clear .venv-core
	.venv-core/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-core/bin/python -m pip install --quiet --editable . "pytest>=8" "pytest-xdist>=3.6" "hypothesis>=6.100" "mpmath>=1.3"
	touch $@
