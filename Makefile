# Filum's front door. Every target sets up what it needs (scripts/setup) and may be run first.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
SECONDS_EACH ?= 10
export JOBS

configure = scripts/configure $(1) $(2)
compile = cmake --build $(1) --parallel $(JOBS)
release = $(call configure,build,-DCMAKE_BUILD_TYPE=Release)
clang = -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang

.PHONY: help demo test build gallery bench asan tsan lint fuzz install clean
.NOTPARALLEL:

help:
	@echo 'make demo     build the program and show what it does'
	@echo 'make test     build and run every test; TESTS=... are options for ctest'
	@echo 'make build    release build; the program is build/filum'
	@echo 'make gallery  run every scene and draw it, into docs/gallery'
	@echo 'make bench    the benchmarks'
	@echo 'make asan     every test under the address and undefined-behaviour sanitizers'
	@echo 'make tsan     the threaded tests under the thread sanitizer'
	@echo 'make lint     formatting, static analysis, include direction'
	@echo 'make fuzz     every fuzz target for SECONDS_EACH=$(SECONDS_EACH) seconds'
	@echo 'make install  library, headers and program into PREFIX=$(PREFIX)'
	@echo 'make clean    remove all build folders'

build:
	@scripts/setup build
	@$(release)
	@$(call compile,build) --target product

demo: build
	@scripts/demo

gallery: build
	@scripts/setup gallery
	@scripts/gallery

test:
	@scripts/setup test
	@$(release)
	@$(call compile,build)
	@scripts/test build $(TESTS)

bench:
	@scripts/setup bench
	@$(release)
	@$(call compile,build)
	@scripts/bench

asan:
	@scripts/setup asan
	@$(call configure,build-asan,-DCMAKE_BUILD_TYPE=RelWithDebInfo -DFILUM_SANITIZE=address)
	@$(call compile,build-asan)
	@scripts/test build-asan

# gcc's OpenMP runtime gives false races, clang's does not; one test at a time, and threads that
# wait awake, so that short loops do run on several threads
tsan:
	@scripts/setup tsan
	@$(call configure,build-tsan,$(clang) -DFILUM_SANITIZE=thread)
	@$(call compile,build-tsan)
	@JOBS=1 OMP_WAIT_POLICY=active \
		TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 $$TSAN_OPTIONS" \
		scripts/test build-tsan -L threads

lint:
	@scripts/setup lint
	@$(release)
	@scripts/lint build

fuzz:
	@scripts/setup fuzz
	@$(call configure,build-fuzz,$(clang) -DFILUM_SANITIZE=fuzzer)
	@$(call compile,build-fuzz)
	@scripts/fuzz build-fuzz $(SECONDS_EACH)

# what root leaves in a folder of somebody else is theirs: they install again, in tests
install: build
	@cmake --install build --prefix '$(PREFIX)'
	@chown --reference=build build/install_manifest.txt 2>/dev/null || true

clean:
	rm -rf build build-asan build-tsan build-fuzz build-clang
