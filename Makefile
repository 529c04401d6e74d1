# Everything sets itself up: `make demo` and `make test` work in a fresh clone
# with Python 3.11, a C compiler and a package index. A second run needs no network.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
OUT := out
STORE := $(OUT)/handbook
ANSWER := corpora/handbook/answers/onboarding.md

TEST_MODELS := smollm2-135m all-minilm-l6-v2
TEST_WORKERS ?= 2
SUPPLY_TOOLS := uv cyclonedx-bom pip-audit
DEMO_MODELS := all-minilm-l6-v2 qwen2.5-coder-1.5b

.PHONY: help venv demo test lint fix api docs fuzz scale bench licences lock sbom audit clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

venv: $(VENV)/.installed  ## the virtual environment with the pinned dependencies

# torch goes first: with its pinned build in place nothing else pulls another.
# llama-cpp-python is compiled, which takes some minutes the first time; of it only what is used.
# What CMAKE_ARGS says already, of a GPU for instance, stays.
LLAMA_CPP := -DCMAKE_PROJECT_llama_cpp_INCLUDE=$(CURDIR)/supply/llama-cpp.cmake

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	@echo "installing; llama-cpp-python compiles for about two minutes the first time"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	CMAKE_ARGS="$$CMAKE_ARGS $(LLAMA_CPP)" $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: venv  ## index the sample handbook and verify an answer about it
	$(BIN)/factcheck models pull $(DEMO_MODELS)
	@mkdir -p $(OUT)
	$(BIN)/factcheck index corpora/handbook --exclude 'answers/**' --store $(STORE)
	$(BIN)/factcheck verify $(ANSWER) --store $(STORE) --format json --output $(OUT)/onboarding.json
	$(BIN)/factcheck report $(OUT)/onboarding.json --format markdown --output $(OUT)/onboarding.report.md
	$(BIN)/factcheck report $(OUT)/onboarding.json --format html --output $(OUT)/onboarding.html
	$(BIN)/factcheck report $(OUT)/onboarding.json
	@echo "to review it in a browser: $(OUT)/onboarding.html"

# A file stays in one process: its tests share servers and models. Long files begin first, so that
# no core waits for one at the end; xdist would begin with those of many tests.
test: venv  ## the whole test suite, in as many processes as TEST_WORKERS says
	$(BIN)/factcheck models pull $(TEST_MODELS)
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder

lint: venv  ## style, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: venv  ## what the linters can mend by themselves
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Of the package itself its public names, then the rooms one by one.
ROOMS := $(patsubst factcheck_local/%/__init__.py,factcheck_local.%,$(wildcard factcheck_local/*/__init__.py))

# Without the source, which would make it 20 MB, and what is not installed here.
api: venv  ## a reference of all modules out of their docstrings, in out/api
	$(BIN)/pdoc --docformat google --no-show-source --output-directory $(OUT)/api factcheck_local $(ROOMS) \
	  '!factcheck_local.adapters.deepeval'

docs: venv  ## the pages as a site, in out/docs; every link is checked
	$(BIN)/mkdocs build --strict --quiet

fuzz: venv  ## 10,000 texts for each reader of what others wrote
	FUZZ_EXAMPLES=10000 $(BIN)/python -m pytest -q tests/fuzz

scale: venv  ## answers over two nodes of Ray, of which one dies on the way
	$(BIN)/factcheck models pull $(TEST_MODELS)
	RAY_NODES=2 $(BIN)/python -m pytest -q tests/scale tests/benchmarks/test_scale.py

bench: venv  ## the measurements of the README, on the default models
	$(BIN)/factcheck models pull $(DEMO_MODELS)
	$(BIN)/python benchmarks/handbook.py
	$(BIN)/python benchmarks/label_scoring.py

licences: venv  ## docs/LICENSES.md anew, from what is installed
	$(BIN)/python -m supply.licences

# The lock is of the versions of constraints.txt, for this Python and system, and torch's build
# for CPUs, which PIP_FIND_LINKS or an index has to offer.
lock: $(VENV)/.supply  ## requirements.lock anew: what the package needs, with every file's hash
	$(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-annotate \
	  $(if $(PIP_FIND_LINKS),--find-links $(PIP_FIND_LINKS)) \
	  --constraint constraints.txt --output-file requirements.lock pyproject.toml

sbom: $(VENV)/.supply  ## a CycloneDX bill of materials of requirements.lock, in out/
	@mkdir -p $(OUT)
	$(BIN)/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml \
	  --output-reproducible --output-format JSON --output-file $(OUT)/sbom.cdx.json

audit: venv  ## known vulnerabilities, where an advisory service can be reached
	@if $(MAKE) --silent $(VENV)/.supply; then $(BIN)/python -m supply.audit; \
	  else echo "nothing was checked: pip-audit cannot be installed"; fi

$(VENV)/.supply: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(SUPPLY_TOOLS)
	touch $@

clean:  ## forget the environment and what the demo wrote
	rm -rf $(VENV) $(OUT)
