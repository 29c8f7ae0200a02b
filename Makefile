# Everything is done by `make demo` and `make test`, on a machine with Python 3.11+ and make.
# On Linux, PyPI's PyTorch comes with CUDA. To download a tenth of that:
#   PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make demo

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KAGGLE := .venv-kaggle
WORKERS ?= 2
GEESE_SEED ?= 1
GEESE_GAMES ?= 300
FUZZ ?= 100000
# The stamps are written last: an interrupted installation does not count.
FOR_DEMO := $(VENV)/.installed-demo
FOR_TEST := $(VENV)/.installed-test
# -P: the folders at the top have the names of common modules.
RUN := $(BIN)/python -P -m

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint typecheck fuzz peers bench images geese-oracle geese-live kaggle clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r target text; \
	do printf '%-20s %s\n' "$$target" "$$text"; done

demo: $(FOR_DEMO) ## let deep Q-learning learn Hex 5x5, write runs/demo/report.md
	$(RUN) ludoteca.train.demo

test: $(FOR_TEST) ## run the tests
	$(BIN)/pytest -n $(WORKERS)

test-slow: $(FOR_TEST) ## run the tests that take minutes
	$(BIN)/pytest -m slow

lint: $(FOR_TEST) ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Type checkers do not see through the package-dir mapping of an editable install.
typecheck: $(FOR_TEST) ## check types
	rm -rf build/typing
	mkdir -p build/typing/ludoteca
	ln -s $(CURDIR)/ludoteca/* $(CURDIR)/envs $(CURDIR)/agents $(CURDIR)/train $(CURDIR)/evaluate \
		build/typing/ludoteca
	$(BIN)/mypy

fuzz: $(FOR_TEST) ## attack everything that reads what others wrote; FUZZ=1000000 inputs
	nice -n 10 $(BIN)/python -P tests/fuzz/fuzz.py --count $(FUZZ)

peers: $(FOR_TEST) ## install the packages that `make bench` compares with
	$(RUN) ludoteca.evaluate.bench.install_peers

bench: $(FOR_TEST) ## measure speed, beside the peers that are installed
	$(BIN)/ludoteca bench envs --peers --json runs/bench.json

images: $(FOR_TEST) ## draw the pictures of the games again
	$(RUN) ludoteca.envs.render docs/images

geese-oracle: $(KAGGLE)/.installed ## record the golden games of Hungry Geese again
	$(KAGGLE)/bin/python tests/oracles/record_geese.py

geese-live: $(FOR_TEST) $(KAGGLE)/.installed ## record new games of Hungry Geese and compare
	mkdir -p build
	$(KAGGLE)/bin/python tests/oracles/record_geese.py --seed $(GEESE_SEED) --games $(GEESE_GAMES) \
		--out build/geese.npz
	LUDOTECA_GEESE_RECORD=$(CURDIR)/build/geese.npz $(BIN)/pytest tests/games/test_hungry_geese_oracle.py

kaggle: $(FOR_TEST) $(KAGGLE)/.installed ## play exported agents in kaggle-environments, and compare
	$(BIN)/pytest tests/agents/test_kaggle_live.py

clean: ## remove what can be made again, except runs/ and the virtual environments
	rm -rf build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.*' -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.version_info >= (3, 11) or \
		sys.exit(f"ludoteca needs Python 3.11 or newer, {sys.executable} is {v}; make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(FOR_DEMO): $(BIN)/python pyproject.toml constraints.txt
	@echo 'installing into $(VENV): this takes some minutes the first time'
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[train,render,evaluate]'
	@touch $@

$(FOR_TEST): $(BIN)/python pyproject.toml constraints.txt
	@echo 'installing into $(VENV): this takes some minutes the first time'
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev,oracles]'
	@touch $@ $(FOR_DEMO)

$(KAGGLE)/.installed:
	$(PYTHON) -m venv $(KAGGLE)
	$(KAGGLE)/bin/python -m pip install --quiet 'jsonschema>=4' 'numpy>=2' 'requests>=2'
	$(KAGGLE)/bin/python -m pip install --quiet --no-deps kaggle-environments==1.33.2
	@touch $@
