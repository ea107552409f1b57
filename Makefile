PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
BROWSER := .venv/.browser
# Where this is set, as in many containers, every start of Python compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest --numprocesses=logical --maxprocesses=8 --dist=loadgroup

.DEFAULT_GOAL := help
.PHONY: help book test libraries walk lab serve linkcheck live anywhere bench notebooks pictures bundles assignments grade rot format lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): requirements.txt tools/environment.py
	@$(PYTHON) tools/environment.py

book: $(READY) ## Set everything up, build the site, say where to open it (JOBS=: pages at a time)
	@$(BIN)/python tools/build.py $(if $(JOBS),--jobs $(JOBS))

test: $(READY) ## Set everything up, run the tests (FAST=1: the quick ones; FULL=1: the long ones, too; BROWSERS=1: in others)
ifdef FAST
	$(PYTEST) --ignore=tests/site -m "not slow and not full and not walk" --hypothesis-profile=quick
else ifdef BROWSERS
	@$(MAKE) --no-print-directory book
	$(BIN)/python -m pytest tests/site/test_other_browsers.py -m browsers
else
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/oxlint
	$(BIN)/oxfmt --check '**/*.js'
	$(BIN)/zizmor --offline --strict-collection --quiet .github
	@$(MAKE) --no-print-directory $(BROWSER) book
	$(PYTEST) $(if $(FULL),-m "not browsers" --hypothesis-profile=whole)
endif

libraries: ## Hold diagnose to models of transformers, timm, flax and others, in a new environment
	$(PYTHON) -m venv --clear _build/libraries
	_build/libraries/bin/python -m pip install --quiet -e ".[pages,test]" \
	  -r tests/corpus/libraries/requirements.txt
	HF_HUB_OFFLINE=1 _build/libraries/bin/python -m pytest -m full tests/corpus/test_library_models.py

walk: $(READY) ## Look at every page in a browser, run its cells, hold them to what the book shows
	@$(MAKE) --no-print-directory $(BROWSER) live
	$(PYTEST) -m "walk and not full" tests
	@$(BIN)/python -m tests.site.walk
	@$(BIN)/python -m tests.golden problems programs figures

$(BROWSER): $(READY)
	@$(BIN)/python tools/browser.py
	@touch $@

lab: $(READY) ## Open the pages as notebooks in JupyterLab
	JUPYTER_CONFIG_PATH="$(CURDIR)/tools/jupyter$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}" \
	  $(BIN)/jupyter lab chapters

serve: $(READY) ## Serve the site at http://localhost:8000 (PORT=), built again after each change
	@$(BIN)/python tools/serve.py --port $(or $(PORT),8000)

linkcheck: book ## Ask every address outside the site that a page links to
	@$(BIN)/python tools/assemble.py linkcheck

anywhere: $(READY) ## Run every page as other machines would: old kernels, threads, load, locale
	@$(BIN)/python tools/anywhere.py

bench: $(READY) ## Time the engine beside its peers (QUICK=1: in about a minute, writes nothing; COMPILED=1: torch.compile; STEP=1: a training step's timeline)
	$(BIN)/python -m benchmarks$(if $(STEP),.training_step,$(if $(COMPILED),.compiled,$(if $(QUICK), --quick)))

live: book ## Put Python into the site, so that cells run in the page without any other address
	@$(BIN)/python tools/fetch_pyodide.py

notebooks: book ## Write the pages as notebooks for Jupyter and Colab, beside the site's pages
	@$(BIN)/python tools/stamp_notebooks.py

pictures: book ## Take the README's pictures of the site, into img
	@$(BIN)/python tools/pictures.py

bundles: $(READY) ## Bundle the scripts that you have changed, of figures and of the site (takes npm)
	@$(BIN)/python tools/bundle.py

CHOICE = $(if $(ASSIGNMENTS),--assignments "$(ASSIGNMENTS)") $(addprefix --only ,$(ONLY))

assignments: $(READY) ## Write assignments for students to _build/assignments (ASSIGNMENTS=file, ONLY=names)
	@$(BIN)/python -m coursework release $(CHOICE)

grade: $(READY) ## Grade what was handed in, SUBMISSIONS=folder, into grades (ASSIGNMENTS=, ONLY=)
	@$(BIN)/python -m coursework grade "$(or $(SUBMISSIONS),$(error say SUBMISSIONS=folder))" $(CHOICE)

rot: ## Run every page with the newest releases (SPHINX=1: of Sphinx, too; COLAB=1: with Colab's)
ifdef COLAB
	@$(MAKE) --no-print-directory notebooks
	$(BIN)/python tools/rot.py colab
else
	$(PYTHON) tools/rot.py $(if $(SPHINX),sphinx,newest)
endif

format: $(READY) ## Put the code into the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/oxlint --fix
	$(BIN)/oxfmt '**/*.js'

lock: $(READY) ## Move every pin to the newest version that fits (KEEP=1: add what is missing)
	$(BIN)/python tools/lock.py $(if $(KEEP),--keep)

clean: ## Remove the site and every cache; the environment stays
	rm -rf _build .hypothesis .mypy_cache .pytest_cache .ruff_cache
