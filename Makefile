PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help book test lab serve linkcheck live bench notebooks assignments grade rot format lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): requirements.txt tools/environment.py
	@$(PYTHON) tools/environment.py

book: $(READY) ## Set everything up, build the site, say where to open it
	@$(BIN)/python tools/build.py

test: $(READY) ## Set everything up, run every test (FAST=1: unit and property tests alone)
ifdef FAST
	$(BIN)/python -m pytest src tests --ignore=tests/book
else
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest src tests --ignore=tests/book
	@$(MAKE) --no-print-directory book
	$(BIN)/python -m pytest tests/book
endif

lab: $(READY) ## Open the pages as notebooks in JupyterLab
	JUPYTER_CONFIG_PATH=$(CURDIR)/tools/jupyter$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH} \
	  $(BIN)/jupyter lab chapters

serve: $(READY) ## Serve the site at http://localhost:8000 (PORT=), built again after each change
	@$(BIN)/python tools/serve.py --port $(or $(PORT),8000)

linkcheck: book ## Ask every address outside the site that a page links to
	@mkdir -p _build/linkcheck
	$(BIN)/jupyter-book build . --builder linkcheck; status=$$?; \
	  mv _build/html/output.* _build/linkcheck; exit $$status

bench: $(READY) ## Time the engine beside its peers (QUICK=1: in about a minute, writes nothing)
	$(BIN)/python -m benchmarks $(if $(QUICK),--quick)

live: book ## Put Python into the site, so that cells run in the page without any other address
	@$(BIN)/python tools/live.py

notebooks: book ## Write the pages as notebooks for Jupyter and Colab, beside the site's pages
	@$(BIN)/python tools/notebooks.py

assignments: $(READY) ## Write the assignments' notebooks, for students, to _build/assignments
	@$(BIN)/python -m coursework release

grade: $(READY) ## Grade what students handed in, SUBMISSIONS=folder; the marks go to grades
	@$(BIN)/python -m coursework grade "$(or $(SUBMISSIONS),$(error say SUBMISSIONS=folder))"

rot: ## Run every page with the newest releases (COLAB=1: the notebooks, with Colab's versions)
ifdef COLAB
	@$(MAKE) --no-print-directory notebooks
	$(BIN)/python tools/rot.py colab
else
	$(PYTHON) tools/rot.py newest
endif

format: $(READY) ## Put the code into the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(READY) ## Move every pin in requirements.txt to the newest versions that fit
	$(BIN)/python tools/lock.py

clean: ## Remove the site and every cache; the environment stays
	rm -rf _build .hypothesis .mypy_cache .pytest_cache .ruff_cache
