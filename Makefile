# `make demo` and `make test` set up everything that they need; they require Python 3.11 or newer.
# On Linux, PyPI's PyTorch includes CUDA. The build for CPUs is a tenth of the download:
#   PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make demo

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KAGGLE := .venv-kaggle
STATISTICS := .venv-statistics
WORKERS ?= 3
# GGP-Base, the reference implementation for rule sheets.
GGP_BASE := .ggp-base
GGP_BASE_URL ?= https://github.com/ggp-org/ggp-base.git
GGP_BASE_COMMIT := 44db132b5f1aa8467b1b990914e2e3c64ecbd87b
# Sancho 1.61c, the program of General Game Playing with which `ludoteca bench gdl --peers` compares.
SANCHO := .sancho
SANCHO_URL ?= https://github.com/SanchoGGP/ggp-base.git
SANCHO_COMMIT := 115becc36b322d913930ad3871d5b474f9443707
GGP_PORT ?= 9148
SHEETS ?= ../ggp-repository
TRACES ?= build/traces
GEESE_SEED ?= 1
GEESE_GAMES ?= 300
FUZZ ?= 100000
# Environments of other versions: the lower bounds of pyproject.toml, the newest releases, other Pythons.
OLDEST := .venv-oldest
NEWEST := .venv-newest
DOCS := .venv-docs
PYTHONS ?= $(foreach v,3.11 3.12 3.13 3.14,$(firstword \
	$(lastword $(sort $(wildcard $(HOME)/.pyenv/versions/$(v).*/bin/python))) \
	$(shell command -v python$(v))))
# Tests for other versions: every kind of environment, few games, all commands, statistics.
# Deprecation warnings of other versions are not errors.
SMOKE := tests/packaging tests/envs/test_packaging.py tests/envs/test_conformance.py \
	tests/evaluate/test_statistics.py -W default \
	-k 'not v0 or Tron or TicTacToe-v0 or HungryGeese'
# Stamps of complete installations.
FOR_DEMO := $(VENV)/.installed-demo
FOR_TEST := $(VENV)/.installed-test
# -P keeps the top-level folders, which have common module names, off the path.
RUN := $(BIN)/python -P -m

.DEFAULT_GOAL := help
.PHONY: help demo test test-browser test-tutorials test-compiled test-slow test-oldest test-newest \
	test-pythons test-install lint typecheck fuzz peers bench recipes images docs notebooks package \
	geese-oracle geese-live statistics-oracle gdl-oracle gdl-traces gdl-peers sancho-player ggp-base-player kaggle \
	clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r target text; \
	do printf '%-22s %s\n' "$$target" "$$text"; done

demo: $(FOR_DEMO) ## train a deep Q-network on Hex 5x5, write runs/demo/report.md
	$(RUN) ludoteca.train.demo

# An empty value enables byte code, which workers and the processes that tests start share.
test test-browser test-tutorials test-compiled test-slow: export PYTHONDONTWRITEBYTECODE :=

# Workers take tests in the order of the files and share the cache of compiled code. Three
# of them suit two cores, as some tests wait for processes.
test: $(FOR_TEST) ## run the tests
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

# In one process: the tests of a file share a browser and servers. -rs names the reason of skipped
# tests.
test-browser: $(FOR_TEST) ## play whole games of the arena in Chromium, at three sizes
	$(BIN)/pytest -m '' -rs tests/evaluate/test_arena_browser.py \
		tests/evaluate/test_arena_browser_positions.py tests/evaluate/test_arena_page.py

test-tutorials: $(FOR_TEST) ## run the notebooks of the tutorial from top to bottom, shortened
	$(BIN)/pytest -m slow tests/envs/test_docs.py -k notebooks_run --durations=0

test-compiled: $(FOR_TEST) ## run the tests with compiled games and agents throughout
	LUDOTECA_TEST_COMPILED=1 $(BIN)/pytest -n $(WORKERS)

test-slow: $(FOR_TEST) ## run the tests that take minutes
	$(BIN)/pytest -m slow -n $(WORKERS) --dist worksteal

test-oldest: $(OLDEST)/.installed ## test with the oldest supported versions of the dependencies
	$(OLDEST)/bin/python -P -m pytest $(SMOKE)

# PyTorch keeps its version: another one would download gigabytes of CUDA.
test-newest: ## test with the newest versions of the dependencies, except PyTorch
	test -x $(NEWEST)/bin/python || $(PYTHON) -m venv $(NEWEST)
	grep '^torch==' constraints.txt > $(NEWEST)/constraints.txt
	$(NEWEST)/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager \
		-c $(NEWEST)/constraints.txt -e '.[train,render,evaluate]' pytest hypothesis
	$(NEWEST)/bin/python -m pip list
	$(NEWEST)/bin/python -P -m pytest $(SMOKE)

# Tests that need PyTorch are skipped: its builds for CPUs are not on PyPI.
test-pythons: ## test with every installed Python from 3.11 to 3.14, without PyTorch
	@test -n '$(strip $(PYTHONS))' || { echo 'no Python 3.11 to 3.14 found; make PYTHONS=...'; exit 2; }
	@set -e; for python in $(PYTHONS); do \
		version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		echo "Python $$version: $$python"; \
		test -x .venv-py$$version/bin/python || $$python -m venv .venv-py$$version; \
		.venv-py$$version/bin/python -m pip install --quiet -c constraints.txt \
			-e '.[render,evaluate]' pytest hypothesis; \
		.venv-py$$version/bin/python -P -m pytest $(SMOKE); \
	done

test-install: $(FOR_TEST) ## install the package without and with each extra; run all commands and imports
	$(BIN)/python tests/packaging/fresh_install.py

lint: $(FOR_TEST) ## check style, format and terms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/packaging/language.py

# The package, and a user's program against the installed package.
typecheck: $(FOR_TEST) ## check types
	$(LINK)
	$(BIN)/mypy
	cd tests/packaging && $(CURDIR)/$(BIN)/mypy --strict --config-file= \
		--cache-dir=$(CURDIR)/.mypy_cache/user_code user_code.py

fuzz: $(FOR_TEST) ## send broken input to all code that reads files or messages; FUZZ=1000000 inputs
	nice -n 10 $(BIN)/python -P tests/fuzz/fuzz.py --count $(FUZZ)

peers: $(FOR_TEST) ## install the packages that `make bench` compares with
	$(RUN) ludoteca.evaluate.bench.install_peers

bench: $(FOR_TEST) ## measure speed, compared with the installed peers
	$(BIN)/ludoteca bench envs --peers --json runs/bench.json

# Creates a virtual environment for each library: .venv-recipes-NAME.
recipes: $(FOR_TEST) ## train with other RL libraries and write their table; RECIPES="sb3 rllib"
	$(RUN) ludoteca.evaluate.recipes $(RECIPES)

images: $(FOR_TEST) ## draw the images and animations of the games
	$(RUN) ludoteca.envs.render docs/images
	$(BIN)/python -P docs/site/moving_games.py

docs: $(DOCS)/.installed ## build the site, build/site/index.html
	env -u PYTHONPATH NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -P -m mkdocs build --strict

# `python -P tests/helpers/tutorial_documents.py run` runs the tutorial and writes its outputs.
notebooks: $(FOR_TEST) ## write the notebooks of the tutorial
	$(BIN)/python -P tests/helpers/tutorial_documents.py notebooks

package: $(FOR_TEST) ## build, check, install and test sdist and wheel in build/dist
	$(BIN)/python tests/packaging/package.py

geese-oracle: $(KAGGLE)/.installed ## record the reference games of Hungry Geese again
	$(KAGGLE)/bin/python tests/oracles/record_geese.py

geese-live: $(FOR_TEST) $(KAGGLE)/.installed ## record new games of Hungry Geese and compare
	mkdir -p build
	$(KAGGLE)/bin/python tests/oracles/record_geese.py --seed $(GEESE_SEED) --games $(GEESE_GAMES) \
		--out build/geese.npz
	LUDOTECA_GEESE_RECORD=$(CURDIR)/build/geese.npz $(BIN)/pytest tests/games/test_hungry_geese_oracle.py

statistics-oracle: $(STATISTICS)/.installed ## record the results of rliable, arch and OpenSpiel again
	$(STATISTICS)/bin/python tests/oracles/record_statistics.py

gdl-oracle: $(GGP_BASE)/.built $(FOR_DEMO) ## record the reference games of our rule sheets again, with GGP-Base
	$(BIN)/python tests/oracles/record_gdl.py

gdl-traces: $(GGP_BASE)/.built $(FOR_DEMO) ## record games of other rule sheets: SHEETS=ggp-repository TRACES=build/traces
	$(BIN)/python tests/oracles/record_gdl.py --sheets '$(SHEETS)' --out '$(TRACES)' --games 10

gdl-peers: $(SANCHO)/.built $(GGP_BASE)/.peer-built ## compile Sancho and GGP-Base for `ludoteca bench gdl --peers`

# Players for `ludoteca ggp-match`. They begin to answer this long before the end of the play clock.
RESERVE_MS ?= 1000
sancho-player: $(SANCHO)/.built ## start Sancho as a player over HTTP; GGP_PORT=9148
	cd $(SANCHO) && java $(JAVA_OPTIONS) -cp "classes:$$(find source -name '*.jar' | tr '\n' ':')" \
		SanchoPlayer $(GGP_PORT) $(RESERVE_MS)

# Their reserve is 1 second.
GAMER ?= SampleMonteCarloGamer
ggp-base-player: $(GGP_BASE)/.peer-built ## start a sample player of GGP-Base; GAMER=SampleMonteCarloGamer
	cd $(GGP_BASE) && java $(JAVA_OPTIONS) -cp "peer-classes:$$(find source -name '*.jar' | tr '\n' ':')" \
		BasePlayer $(GGP_PORT) $(GAMER)

kaggle: $(FOR_TEST) $(KAGGLE)/.installed ## play exported agents in kaggle-environments, and compare
	$(BIN)/pytest tests/agents/test_kaggle_live.py

# Type checkers and editors cannot follow the import hook of an editable installation. They follow
# this folder of links, in which new modules appear by themselves; Python uses it, too.
LINKS := $(VENV)/editable
define LINK
	rm -rf $(LINKS) build/typing
	mkdir -p $(LINKS)/ludoteca build/typing
	ln -s $(addprefix $(CURDIR)/,$(wildcard ludoteca/*.py) ludoteca/py.typed envs agents train evaluate) \
		$(LINKS)/ludoteca
	ln -s $(CURDIR)/$(LINKS)/ludoteca build/typing/ludoteca
	echo '$(CURDIR)/$(LINKS)' > \
		"$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/ludoteca-links.pth"
endef

clean: ## remove generated files, except runs/ and the virtual environments
	rm -rf build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.*' -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.version_info >= (3, 11) or \
		sys.exit(f"ludoteca needs Python 3.11 or newer, {sys.executable} is {v}; make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(FOR_DEMO): $(BIN)/python pyproject.toml constraints.txt
	@echo 'installing into $(VENV): this takes some minutes the first time'
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[train,render,evaluate]'
	$(LINK)
	@touch $@

$(FOR_TEST): $(BIN)/python pyproject.toml constraints.txt
	@echo 'installing into $(VENV): this takes some minutes the first time'
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev,oracles]'
	$(LINK)
	@touch $@ $(FOR_DEMO)

$(OLDEST)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(OLDEST)
	$(PYTHON) tests/packaging/bounds.py torch > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet -c $(OLDEST)/constraints.txt \
		-e '.[train,render,evaluate]' pytest==8.0.0 hypothesis
	@touch $@

# The extra `docs` without the package: the API reference is read from the sources.
$(DOCS)/.installed: pyproject.toml docs/site/constraints.txt
	test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))\
		["project"]["optional-dependencies"]["docs"], sep="\n")' > $(DOCS)/requirements.txt
	$(DOCS)/bin/python -m pip install --quiet -c docs/site/constraints.txt -r $(DOCS)/requirements.txt
	@touch $@

# Needs git, and a JDK of version 11 or newer: apt-get install openjdk-17-jdk-headless
$(GGP_BASE)/.built: tests/oracles/GdlTraces.java
	test -d $(GGP_BASE)/source/.git || \
		git clone --quiet --no-checkout '$(GGP_BASE_URL)' $(GGP_BASE)/source
	git -C $(GGP_BASE)/source checkout --quiet $(GGP_BASE_COMMIT) -- \
		src/main/java/org/ggp/base/util src/main/java/external lib/Guava/guava-14.0.1.jar
	mkdir -p $(GGP_BASE)/classes
	javac -nowarn -encoding UTF-8 -d $(GGP_BASE)/classes -sourcepath $(GGP_BASE)/source/src/main/java \
		-cp $(GGP_BASE)/source/lib/Guava/guava-14.0.1.jar tests/oracles/GdlTraces.java
	@touch $@

# The programs with `main` and the classes that javac does not find by itself. --release 8: newer
# versions of Swing's classes do not compile with these sources.
PEER_SOURCES := evaluate/bench/peers
JAVAC := javac --release 8 -nowarn -encoding UTF-8
JAVA_OPTIONS := -Xss64m -XX:+UseSerialGC

$(GGP_BASE)/.peer-built: $(PEER_SOURCES)/SpeedServer.java $(PEER_SOURCES)/ProverSpeed.java \
		$(PEER_SOURCES)/BasePlayer.java
	test -d $(GGP_BASE)/source/.git || \
		git clone --quiet --no-checkout '$(GGP_BASE_URL)' $(GGP_BASE)/source
	git -C $(GGP_BASE)/source checkout --quiet $(GGP_BASE_COMMIT) -- \
		src/main/java/org/ggp/base src/main/java/external lib/Guava/guava-14.0.1.jar
	$(JAVAC) -d $(GGP_BASE)/peer-classes -sourcepath $(GGP_BASE)/source/src/main/java \
		-cp $(GGP_BASE)/source/lib/Guava/guava-14.0.1.jar $^ \
		$(GGP_BASE)/source/src/main/java/org/ggp/base/player/gamer/statemachine/sample/*.java
	@touch $@

SANCHO_LIBRARIES := Guava/guava-14.0.1 Log4J/log4j-api-2.0-rc1 Log4J/log4j-core-2.0-rc1 \
	Trove/trove-3.1a1 Lucene/lucene-core-4.8.1 JNA/jna-4.1.0 JNA/jna-platform-4.1.0 \
	Disruptor/disruptor-3.2.1 JUnit/junit-4.11 \
	$(foreach name,compress-1.8.1 configuration-1.10 lang-2.6 logging-1.1.3,\
	Commons/commons-$(name)/commons-$(name))
SANCHO_JARS := $(SANCHO_LIBRARIES:%=src/external/%.jar)
empty :=

$(SANCHO)/.built: $(PEER_SOURCES)/SpeedServer.java $(PEER_SOURCES)/SanchoSpeed.java \
		$(PEER_SOURCES)/SanchoPlayer.java
	test -d $(SANCHO)/source/.git || \
		git clone --quiet --no-checkout '$(SANCHO_URL)' $(SANCHO)/source
	git -C $(SANCHO)/source checkout --quiet $(SANCHO_COMMIT) -- \
		src/org/ggp src/external/Base64Coder src/external/JSON $(SANCHO_JARS)
	$(JAVAC) -d $(SANCHO)/classes -sourcepath $(SANCHO)/source/src \
		-cp $(subst $(empty) $(empty),:,$(strip $(SANCHO_JARS:%=$(SANCHO)/source/%))) $^ \
		$(SANCHO)/source/src/org/ggp/base/player/gamer/statemachine/sancho/StateMachineProxy.java
	@touch $@

# rliable 1.2 needs arch older than 8, which fails with pandas 3.
$(STATISTICS)/.installed:
	$(PYTHON) -m venv $(STATISTICS)
	$(STATISTICS)/bin/python -m pip install --quiet -c constraints.txt rliable==1.2.0 'pandas<3' \
		cvxpy==1.9.3 networkx open_spiel
	@touch $@

$(KAGGLE)/.installed:
	$(PYTHON) -m venv $(KAGGLE)
	$(KAGGLE)/bin/python -m pip install --quiet 'jsonschema>=4' 'numpy>=2' 'requests>=2'
	$(KAGGLE)/bin/python -m pip install --quiet --no-deps kaggle-environments==1.33.2
	@touch $@
