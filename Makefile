# hosted.services: `make help` lists what can be done here.

# Found before .venv comes first in the search path: it is what .venv is made from.
ifndef PYTHON
PYTHON := $(shell command -v python3)
endif
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

VENV := .venv
BUILD := .build
COLLECTION := ansible_collections/hosted/services
PIP_INSTALL := python -m pip install -q --disable-pip-version-check

# Tools start each other by name (ansible-lint starts ansible-playbook), so the environment comes first.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# The working tree under the name that Ansible and the plugins know it by; `make dev` creates it.
export ANSIBLE_COLLECTIONS_PATH := $(CURDIR)/$(BUILD)/dev
export PYTHONPATH := $(CURDIR)/$(BUILD)/dev:$(CURDIR)/tests:$(CURDIR)/tests/sandbox
# Hundreds of processes import the same code: who compiles it first does so for all of them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## list the targets; tests/stages.yml has what the tests consist of, and make runs each by its name
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

# --- run it ----------------------------------------------------------------------------------------------

.PHONY: demo
demo: install ## install the collection, start a sandbox and run the quickstart against it
	@# A collection has to work from these folders alone.
	@cd $(BUILD)/installed/$(COLLECTION) && ls -A | grep -vxE 'meta|playbooks|plugins|roles' | xargs rm -rf
	@ANSIBLE_COLLECTIONS_PATH="$(CURDIR)/$(BUILD)/installed" PYTHONPATH="$(CURDIR)/tests/sandbox" python tests/demo.py

.PHONY: sandbox
PORT := 8080
sandbox: dev ## run the sandbox in the foreground, on PORT=8080 and the three after it
	@echo "To use it, in another shell:"
	@echo
	@printf '  source %q\n' "$(CURDIR)/$(BUILD)/environment"
	@printf '  export HOSTED_SERVICES_HOME=%q # apart from the records of real accounts\n' "$(CURDIR)/$(BUILD)/sandbox"
	@echo
	@exec python -m hosted_sandbox --port $(PORT) --control-port $$(($(PORT) + 1)) --sftp-port $$(($(PORT) + 2)) \
	  --registry-port $$(($(PORT) + 3))

# --- test it ---------------------------------------------------------------------------------------------

.PHONY: test
test: dev ## run everything that has to pass before a change is merged
	@if [ -n "$${CI:-}" ]; then scripts/packages.sh; fi
	@python scripts/stages.py test

# Each of them, and each stage: ARGS="..." for its last command.
OTHERS = lint test-night test-release bench $(shell sed -n 's/^  \([a-z-]*\): [^\#[-].*/\1/p' tests/stages.yml)
.PHONY: $(filter-out demo docs build ee,$(OTHERS))
$(filter-out demo docs build ee,$(OTHERS)): dev
	@python scripts/stages.py $@ $(ARGS)
test-night: ## what takes two hours: all faults, thousands of random runs, kills, real databases, the newest core
test-release: ## what takes a day: the whole of each, every supported ansible-core, an execution environment
lint: ## every linter, the types and the weight
bench: ## measure what a task costs, how fast files are, and what large accounts take

.PHONY: affected
affected: dev ## the tests that concern what changed since main (BASE=..., LIST=1 to see them)
	@python scripts/affected.py --base $(or $(BASE),main) $(if $(LIST),--list)

# --- write it --------------------------------------------------------------------------------------------

.PHONY: module
module: dev ## write the files of a new module (NAME=webhook KIND=on_service); failing tests name what is left to do
	@python scripts/new_module.py "$(NAME)" --kind "$(or $(KIND),plain)"
	@python scripts/returns.py

.PHONY: documents
documents: dev ## renew what is generated: schemas, shared return values, docs/sandbox, docs/coverage.md, packages
	@python -m hosted_sandbox.gaps > docs/sandbox/gaps.md
	@for document in schemas returns architecture; do python scripts/$$document.py; done
	@python -m integration.coverage

.PHONY: pictures
pictures: dev ## renew the pictures in docs/guides (needs Chromium and pngquant)
	@for picture in page terminal; do python scripts/$${picture}_pictures.py; done

.PHONY: docs
docs: dev ## render the reference and the guides into site/
	@scripts/docs.sh

# --- publish it ------------------------------------------------------------------------------------------

.PHONY: install
install: dev ## build the tarball in .build/dist, and install it in .build/installed
	@rm -rf $(BUILD)/dist $(BUILD)/installed
	@python scripts/build.py $(BUILD)/dist
	@# Told of no other folder, so that it does not find the working tree and say that nothing is to be done.
	@PYTHONPATH= ANSIBLE_COLLECTIONS_PATH="$(CURDIR)/$(BUILD)/installed" \
	    ansible-galaxy collection install --offline $(BUILD)/dist/*.tar.gz -p $(BUILD)/installed

.PHONY: build
build: install ## build the tarball, install it elsewhere, and check it as Galaxy would
	python scripts/galaxy.py $(BUILD)/dist/*.tar.gz

.PHONY: ee
ee: install ## build the context of an execution environment, and run the quickstart with ansible-runner
	@python scripts/execution_environment.py $(BUILD)/dist/*.tar.gz

.PHONY: release
release: dev ## make and check tarball and wheel of VERSION=x.y.z; nothing is tagged or published
	@python scripts/release.py $(VERSION) $(if $(WRITE),--write)

# --- the environment -------------------------------------------------------------------------------------

# Named after what it was built from: a changed pin builds again, a changed time stamp does not.
STAMP := $(VENV)/.installed-$(shell cksum < tests/requirements.txt | cut -d ' ' -f 1)
LINK := $(BUILD)/dev/$(COLLECTION)

.PHONY: dev
dev: $(STAMP) $(LINK) ## build .venv, and .build/environment to be sourced by shells that run tests by hand

$(STAMP):
	@# What a link leads to may be in use elsewhere; `venv --clear` would empty it and fail then.
	@test ! -L $(VENV) || { echo "$(VENV) is a link, and what it leads to was built from other requirements."; \
	    echo "Run 'make dev' in the working tree that it belongs to, or remove the link."; exit 1; } >&2
	@echo "Installing the pinned requirements into $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	@# Debian's Python has no ensurepip unless python3-venv is installed; the pip that is there does as well.
	@$(PYTHON) -m venv $(VENV) > /dev/null 2>&1 || { \
	    $(PYTHON) -m venv --clear --without-pip $(VENV); \
	    $(PYTHON) -m pip --python $(VENV)/bin/python install -q --disable-pip-version-check pip; \
	}
	@$(PIP_INSTALL) --require-hashes -r tests/requirements.txt
	@rm -f $(VENV)/.installed-*
	@touch $@

$(LINK):
	@mkdir -p $(@D)
	@ln -s ../../../.. $@
	@printf '%s\n' 'source $(CURDIR)/$(VENV)/bin/activate' 'export PYTHONPATH=$(PYTHONPATH)' \
	    'export ANSIBLE_COLLECTIONS_PATH=$(ANSIBLE_COLLECTIONS_PATH)' > $(BUILD)/environment

.PHONY: packages
packages: ## install the Debian packages that some tests compare with (as root)
	@scripts/packages.sh

# Each NAME.in gives a NAME.txt with every library that it takes, and the hashes of all of its files.
PINNED := tests/requirements docs/requirements tests/integration/rulebook tests/benchmarks/peers \
    tests/benchmarks/slices
RENEWED ?= --upgrade

.PHONY: pins
pins: ## renew the pins; RENEWED= keeps the versions, RENEWED="--upgrade-package NAME" all others
	@rm -rf $(BUILD)/pins
	@$(PYTHON) -m venv $(BUILD)/pins
	@$(BUILD)/pins/bin/$(PIP_INSTALL) uv
	@for list in $(PINNED); do \
	    if [ "$$list" = tests/requirements ]; then same=; else same='--constraints tests/requirements.txt'; fi; \
	    $(BUILD)/pins/bin/uv pip compile -q --generate-hashes --no-annotate --custom-compile-command 'make pins' \
	        $(RENEWED) $$same $$list.in -o $$list.txt; \
	done

.PHONY: clean
clean: ## remove everything that was built
	rm -rf $(VENV) $(BUILD)
