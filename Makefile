# SPDX-License-Identifier: Apache-2.0
# A thin front for Meson.  `make help` lists what there is.

SHELL = /bin/sh
prefix = /usr/local
TRACE = examples/example.trace
FUZZ_SECONDS = 60
BASE = HEAD
# Warnings are errors where nobody looks at them.
STRICT = $(if $(filter true,$(CI)),--werror)

# Run meson setup with the words $(1); where it fails, name the packages that are missing.
configure = meson setup $(1) || { tools/install-packages --check build; exit 1; }

.PHONY: all help view site check bench bench-compare record-real load fuzz coverage torture sql format install dist deb clean

all: ## build the program for development, in build/dev; build/traceview leads to it
	@test -f build/dev/build.ninja || $(call configure,$(STRICT) build/dev)
	ninja -C build/dev
	@ln -sf dev/src/traceview build/traceview

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /make \1	/p' Makefile | expand -t 16

view: ## install what is missing, build, open the viewer; TRACE=file for one of your own
	tools/install-packages build view
	$(MAKE) --no-print-directory build/release TARGETS=program
	build/release/src/traceview "$(TRACE)"

site: ## build the page that opens traces without a program, for any static host, in build/site
	tools/install-packages build view
	$(MAKE) --no-print-directory build/release TARGETS=site
	@mkdir -p build/site
	@cp build/release/web/index.html build/release/web/sw.js build/site/
	@echo "build/site: copy it to any static host"

check: ## install what is missing, build in every way, run every test
	tools/install-packages build view check
	tools/check

bench: ## install what is missing, measure speed and memory into docs/performance.md (25 minutes, 35 GB; QUICK=1 prints small ones)
	tools/install-packages build bench
	$(MAKE) --no-print-directory build/release
	tests/bench/run build/release $(if $(QUICK),--quick,--write)
	tests/bench/run-record build/release $(if $(QUICK),,--write)
	tests/bench/run-whole build/release $(if $(QUICK),--rounds 2,--write)
	tests/bench/sampler build/release $(if $(QUICK),,--write)
	test ! -e build/libduckdb.so || tests/bench/run-fleet build/release $(if $(QUICK),--rows 1000000 --small 100 --large 1 --rounds 1,--write)
	tests/bench/run-sql build/release $(if $(QUICK),--slices 1000000 --traces 20 --rounds 2,--write)
	tests/bench/gates build/release $(if $(QUICK),--gates 250,--write)

bench-compare: ## measure what changed since BASE (a revision; HEAD without one; QUICK=1 with small inputs)
	tools/install-packages build bench
	$(MAKE) --no-print-directory build/release
	tests/bench/compare build/release $(BASE) $(if $(QUICK),--size 10000000 --rounds 10)

record-real: ## install what is missing, record a dozen real Java programs, write the table of docs/recorder.md
	tools/install-packages build check real
	$(MAKE) --no-print-directory build/release
	tests/recorder/real/run build/release/src/traceview build/release/tests/recorder/real/libentries.so --write

load: ## install what is missing, put 200 clients on an upload server for a minute
	tools/install-packages build check
	$(MAKE) --no-print-directory build/release
	tests/serve/load build/release/src/traceview examples/example.trace

fuzz: ## install what is missing, run each fuzz target for FUZZ_SECONDS
	tools/install-packages build check
	tools/fuzz $(FUZZ_SECONDS)

coverage: ## build with gcc --coverage, run the tests, write the table of docs/coverage.md (an hour)
	tools/install-packages build check
	tools/coverage

torture: ## build, let every allocation, read, write, sync, name, socket call and thread of each command fail in turn (an hour)
	@test -f build/dev/build.ninja || $(call configure,-Dtests=enabled build/dev)
	ninja -C build/dev
	tests/torture/run --build build/dev --whole

sql: ## fetch DuckDB's library for `traceview sql` into build
	tools/fetch-duckdb build

format: ## put C and TypeScript into their form
	tools/check-format --fix
	npm run --prefix web --silent format

install: build/release ## install into prefix, below DESTDIR; names the packages that are missing
	meson install -C build/release --no-rebuild $(if $(DESTDIR),--destdir "$(DESTDIR)")

dist: ## make the release archive of the last commit, in build/release/meson-dist; its build needs neither node nor clang
	tools/install-packages build
	$(MAKE) --no-print-directory build/release TARGETS=site
	@git update-index -q --refresh || true # meson takes a file with another owner or time for a changed one
	meson dist -C build/release --no-tests

deb: ## install what is missing, make the Debian package of the last commit, in build/deb
	tools/install-packages build deb
	tools/build-deb build/deb

clean: ## remove everything that was built
	rm -rf build

# Everything, or TARGETS of it.
.PHONY: build/release
build/release:
	@test -f $@/build.ninja || $(call configure,--buildtype=release $@)
	@meson configure $@ -Dprefix=$(abspath $(prefix))
	ninja -C $@ $(TARGETS)
	@ln -sf release/src/traceview build/traceview
