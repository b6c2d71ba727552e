# Forewarm's build. `make` alone explains the targets.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
LINT_MODULE := hack/lint/go.mod

# Builds, tests, generators and the linter have the same flags, so that each package is compiled once. Only NVML and the race
# detector need cgo.
export GOFLAGS := $(filter-out -trimpath,$(shell go env GOFLAGS)) -trimpath
export CGO_ENABLED := 0
CC_FOUND := $(shell command -v $(shell go env CC) 2>/dev/null)

# NVIDIA's header marks functions as deprecated that its own bindings call. The rest is what cgo compiles with anyway.
export CGO_CFLAGS := -O2 -g -Wno-deprecated-declarations

.PHONY: help
help: ## this text
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: build
build: ## bin/forewarm, a static binary
	go build -ldflags '$(LDFLAGS)' -o bin/forewarm ./cmd/forewarm

.PHONY: agent
agent: ## bin/forewarm-agent, which reads a node's GPUs; needs a C compiler, but no GPU and no NVIDIA software
	CGO_ENABLED=1 go build -ldflags '$(LDFLAGS)' -o bin/forewarm-agent ./cmd/forewarm-agent

.PHONY: image
image: ## bin/image, an OCI layout for amd64 and arm64, without a container engine; with the SBOMs next to it: KEY= signs
	$(IMAGE_TOOL) $(if $(KEY),--key '$(abspath $(KEY))')

.PHONY: push
push: ## the same, pushed: IMAGE=REGISTRY/NAME:TAG KEY=
	@test -n '$(IMAGE)' || { echo "make push: write IMAGE=REGISTRY/NAME:TAG"; exit 1; }
	$(IMAGE_TOOL) --push '$(IMAGE)' $(if $(KEY),--key '$(abspath $(KEY))')

.PHONY: release
release: ## bin/release, all that a version is published as, by the tag of this commit: KEY= signs the image, DRY_RUN=1 needs no tag
	cd hack/image && go run . release --root ../.. --out ../../bin/release $(if $(KEY),--key '$(abspath $(KEY))') $(if $(DRY_RUN),--dry-run)

IMAGE_TOOL = cd hack/image && go run . --root ../.. --out ../../bin/image --version '$(VERSION)'

.PHONY: demo
demo: build ## the main job on a recorded trace, without a cluster, until interrupted (PORT=8080, FLEET=1 for a GPUFleet)
	exec bin/forewarm demo $(if $(FLEET),--fleet )$(if $(PORT),--port $(PORT))

# go test: what failed once more as the last thing, or what was slow.
GO_TEST := $(CURDIR)/hack/gotest.sh

# With RECORD=1, a target that has passed is recorded for docs/reference/versions.md, which `make generate` writes.
record = $(if $(RECORD),hack/tested.sh record $@ $(1))

# Tests wait more than they compute: one package more than there are cores runs at once.
.PHONY: test
test: ## the tests that need only Go; results are reused: after a change only what depends on it runs (ARGS=-count=1: everything)
	$(GO_TEST) -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) $(ARGS) ./...
	$(if $(CC_FOUND),CGO_ENABLED=1 $(GO_TEST) $(ARGS) ./pkg/agent/nvml,@echo "no C compiler: the tests of pkg/agent/nvml are skipped")

.PHONY: test-race
test-race: ## the packages with concurrency, under the race detector, without long loops over workloads (needs a C compiler)
	CGO_ENABLED=1 $(GO_TEST) -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -race -short $(ARGS) $$(cat hack/repotest/concurrent.txt)

.PHONY: test-served
test-served: ## all values served over recorded workloads and scenarios, by their hashes (a quarter of an hour on two cores): NAME= UPDATE=1 rewrites
	go run ./hack/served check $(if $(UPDATE),--update) $(if $(NAME),'$(NAME)')

.PHONY: test-attack
test-attack: ## one namespace with 500 heavy Forecasts that change all the time, and answers that are too large, next to another namespace (minutes)
	FOREWARM_ATTACK=1 FORMAT=standard-verbose $(GO_TEST) -count=1 -run TestAttackOfOneNamespace ./pkg/source/prometheus

.PHONY: mutants
mutants: ## change the code in a hundred places, one at a time: which changes does no test see? (hours) ONLY=
	go run ./hack/mutants -only '$(ONLY)'

.PHONY: test-image
test-image: ## the image: built twice, unpacked and run, pushed to a registry of this machine (as root; a minute)
	cd hack/image && $(GO_TEST) -count=1 .

.PHONY: test-release
test-release: ## a release of one platform, twice: are the bytes the same? (minutes)
	cd hack/image && FOREWARM_RELEASE=1 $(GO_TEST) -count=1 -run TestRelease .

.PHONY: test-chart
test-chart: ## the chart: lint, its unit tests, every values file and a release on a real kube-apiserver; built from source first
	FOREWARM_HELM=$$(hack/components/build.sh helm | tail -1) && export FOREWARM_HELM && \
		for values in deploy/charts/forewarm/ci/*-values.yaml; do \
			"$$FOREWARM_HELM/helm" lint --strict --quiet --values "$$values" deploy/charts/forewarm || exit 1; done && \
		"$$FOREWARM_HELM/helm-unittest" deploy/charts/forewarm && \
		KUBEBUILDER_ASSETS=$$(hack/components/build.sh kubernetes etcd kube-apiserver kubectl | tail -1) \
		$(GO_TEST) -count=1 -run TestChart ./deploy
	@$(call record,helm helm/crds kubernetes)

.PHONY: test-cluster
test-cluster: ## the tests that need parts of Kubernetes, built from source first (minutes, once)
	KUBEBUILDER_ASSETS=$$(hack/components/build.sh kubernetes etcd kube-apiserver kubectl | tail -1) \
		$(GO_TEST) -count=1 -shuffle=on -skip '^TestAttacks' $(CLUSTER_PACKAGES)
	cd hack/components/kubernetes && $(GO_TEST) ./...
	@$(call record,kubernetes platforms)

.PHONY: test-keda
test-keda: ## the external scaler with KEDA's own operator, built from source first (many minutes, once)
	KUBEBUILDER_ASSETS=$$(hack/components/build.sh kubernetes etcd kube-apiserver kubectl | tail -1) \
		FOREWARM_KEDA=$$(hack/components/build.sh keda keda-operator | tail -1) \
		$(GO_TEST) -count=1 -run TestKEDA ./pkg/serve/kedaserver
	@$(call record,kubernetes keda)

.PHONY: e2e-sources
e2e-sources: ## the Prometheus client with real stores: VictoriaMetrics and Thanos, built from source first (minutes, once; needs Debian's prometheus)
	victoria=$$(hack/components/build.sh victoriametrics | tail -1) && thanos=$$(hack/components/build.sh thanos | tail -1) && \
		FOREWARM_STORES="$$victoria:$$thanos" FORMAT=standard-verbose \
		$(GO_TEST) -count=1 -timeout 5m -run TestStores ./pkg/source/prometheus
	@$(call record,victoriametrics thanos)

# The packages whose tests run against a real etcd and kube-apiserver. Attacks need none: make test has run them.
CLUSTER_PACKAGES = $(addprefix ./,$(sort $(dir $(shell grep -rl --include='*_test.go' 'hack/apiservertest"' cmd pkg deploy))))

.PHONY: components
components: ## build what the cluster tests run: Helm, Kubernetes, kwok, KEDA (20 minutes and more, once)
	for c in helm kubernetes kwok keda; do hack/components/build.sh $$c; done

.PHONY: e2e
e2e: components ## scenarios on a whole control plane with the real HPA controller and KEDA (needs Debian's prometheus)
	cd hack/e2e && FOREWARM_E2E=1 FORMAT=standard-verbose $(GO_TEST) -count=1 -timeout 40m -parallel 8 .
	@$(call record,kubernetes kwok keda helm)

.PHONY: e2e-zero
e2e-zero: components ## a stock HPA scales to zero and back, in five cycles of seven minutes (ZERO=n for n cycles)
	cd hack/e2e && FOREWARM_E2E=1 FOREWARM_ZERO=$(or $(ZERO),5) go test -v -count=1 -timeout 2h -run '^TestFromZero$$' .
	@$(call record,kubernetes kwok)

.PHONY: e2e-fleet
e2e-fleet: components ## batch work of KEDA has given back its GPUs before the daily rise of a member of a GPUFleet (25 minutes)
	cd hack/e2e && FOREWARM_E2E=1 FOREWARM_FLEET=1 go test -v -count=1 -timeout 40m -run '^TestFleet$$' .
	@$(call record,kubernetes kwok keda)

.PHONY: e2e-versions
e2e-versions: ## pkg/core/hpa compared with older HPA controllers, and the chart on older API servers; built from source first (15 minutes for each version, once): VERSIONS=
	hack/versions.sh $(or $(VERSIONS),1.34.4 1.35.4 1.36.3 1.37.2)

.PHONY: e2e-adapter
e2e-adapter: components ## the real prometheus-adapter next to Forewarm: equal values, 50 HPAs handed over and back; built from source first (minutes, once)
	adapter=$$(hack/components/build.sh prometheus-adapter | tail -1) && cd hack/e2e && \
		FOREWARM_E2E=1 FOREWARM_ADAPTER="$$adapter" FORMAT=standard-verbose $(GO_TEST) -count=1 -timeout 20m -run TestPrometheusAdapter .
	@$(call record,kubernetes kwok prometheus-adapter)

.PHONY: e2e-neighbours
e2e-neighbours: components ## real programs next to Forewarm: Karpenter, coscheduling, LeaderWorkerSet and Kueue with warm pools, Kueue with a fleet, kube-state-metrics replicated, sharded and gone; built from source first (minutes, once)
	karpenter=$$(hack/components/build.sh karpenter | tail -1) && state=$$(hack/components/build.sh kube-state-metrics | tail -1) && \
		gangs=$$(hack/components/build.sh coscheduling | tail -1) && queues=$$(hack/components/build.sh kueue | tail -1) && \
		sets=$$(hack/components/build.sh lws | tail -1) && \
		cd hack/e2e && FOREWARM_E2E=1 FOREWARM_KARPENTER="$$karpenter" FOREWARM_KUBE_STATE_METRICS="$$state" \
		FOREWARM_COSCHEDULING="$$gangs" FOREWARM_KUEUE="$$queues" FOREWARM_LWS="$$sets" FORMAT=standard-verbose \
		$(GO_TEST) -count=1 -timeout 80m ./neighbours
	@$(call record,kubernetes kwok keda karpenter kube-state-metrics coscheduling kueue lws)

.PHONY: e2e-servers
e2e-servers: components ## model servers that take an engine's time, under the same load behind HPAs, KEDA and Forewarm, and the real endpoint picker; no scale-down may cut a request (25 minutes; needs FOREWARM_DATA)
	picker=$$(hack/components/build.sh endpoint-picker | tail -1) && state=$$(hack/components/build.sh kube-state-metrics | tail -1) && \
		cd hack/e2e && $(GO_TEST) -count=1 ./modelserver && \
		FOREWARM_E2E=1 FOREWARM_ENDPOINT_PICKER="$$picker" FOREWARM_KUBE_STATE_METRICS="$$state" FORMAT=standard-verbose \
		$(GO_TEST) -count=1 -timeout 40m -run TestServers ./neighbours
	@$(call record,kubernetes kwok keda endpoint-picker kube-state-metrics)

.PHONY: soak
soak: build components ## two replicas, then the embedded engine (as root), under load and faults: values, memory and latency must hold: SOAK=10m each
	cd hack/e2e && FOREWARM_E2E=1 FOREWARM_SOAK=$(or $(SOAK),10m) go test -v -count=1 -timeout 12h -run '^TestSoak$$' .
	FOREWARM_SOAK=$(or $(SOAK),10m) go test -v -count=1 -timeout 12h -run '^TestSoak$$' ./pkg/source/embedded

.PHONY: cluster
cluster: ## a control plane with forewarm in it, to play with, until interrupted (KEDA=1: with KEDA)
	cd hack/e2e && go run ./up $(if $(KEDA),-keda)

.PHONY: lint
lint: ## golangci-lint, pinned and built from source (minutes, once)
	go tool -modfile=$(LINT_MODULE) golangci-lint run
	$(if $(CC_FOUND),CGO_ENABLED=1 go tool -modfile=$(LINT_MODULE) golangci-lint run ./pkg/agent/nvml ./cmd/forewarm-agent)
	cd hack/e2e && go tool -modfile=../lint/go.mod golangci-lint run
	@# Files that cgo generates name the folder they were generated in: with -trimpath Go takes those of another checkout from its cache.
	$(if $(CC_FOUND),cd hack/e2e && lint=$$(go tool -modfile=../lint/go.mod -n golangci-lint) && \
		CGO_ENABLED=1 GOFLAGS=-trimpath=false $$lint run ./gpucheck)
	cd hack/image && go tool -modfile=../lint/go.mod golangci-lint run

.PHONY: format
format: ## gofumpt, import order and line length, by the linter's own formatters
	go tool -modfile=$(LINT_MODULE) golangci-lint fmt

.PHONY: bench
bench: ## what refreshing a thousand Forecasts costs, and the allocations of serving
	go test -run '^$$' -bench 'Fleet' -benchtime 30x ./pkg/refresh
	go test -run '^$$' -bench 'Join' -benchtime 10x ./pkg/signal
	go test -run '^$$' -bench . ./pkg/serve/...

.PHONY: bench-serving
bench-serving: components ## CPU and latency of an external metric's GET, compared with prometheus-adapter, KEDA and a bare TLS server; 300 HPAs that sync every 5 s (a quarter of an hour): ROUNDS=5 LASTING=10s JSON=file
	adapter=$$(hack/components/build.sh --built prometheus-adapter | tail -1) || true; cd hack/e2e && \
		FOREWARM_E2E=1 FOREWARM_BENCH=1 FOREWARM_ADAPTER="$$adapter" \
		go test -v -count=1 -timeout 60m -run 'Test(Serving|Fleet)Bench' . -args $(call given,ROUNDS,rounds) \
		$(call given,LASTING,lasting) $(if $(JSON),--json='$(abspath $(JSON))')

.PHONY: bench-hostile
bench-hostile: ## the memory that fifty hostile scrape targets cost the embedded engine, compared with a good target alone (minutes)
	go test -run '^$$' -bench Hostile -benchtime 1x ./pkg/source/embedded

.PHONY: bench-watch
bench-watch: ## the memory that 10,000 pods of 3,000 workloads cost, on a real kube-apiserver, built from source first (minutes)
	KUBEBUILDER_ASSETS=$$(hack/components/build.sh kubernetes etcd kube-apiserver kubectl | tail -1) \
		go test -run '^$$' -bench Pods -benchtime 1x -timeout 30m ./pkg/kube/workloads

.PHONY: bench-objects
bench-objects: ## the memory of replicas next to 500 objects of 1.4 MB in one namespace, on a real kube-apiserver (8 minutes)
	KUBEBUILDER_ASSETS=$$(hack/components/build.sh kubernetes etcd kube-apiserver kubectl | tail -1) \
		FOREWARM_OBJECTS=1 go test -count=1 -run TestLargeObjectsTakeNoMemory -timeout 30m -v ./cmd/forewarm

.PHONY: bench-shortage
bench-shortage: ## how many hours in which a fleet's GPUs do not suffice are foreseen a day ahead, on M4 and recorded workloads of FOREWARM_DATA (ten minutes)
	FOREWARM_BENCH=1 go test -count=1 -v -timeout 60m -run ShortagesOfRecordedWeeks ./pkg/core/fleet

.PHONY: bench-agent
bench-agent: ## what a step of the node agent costs on eight GPUs: by a node that is made up, and by NVML's mocks
	CGO_ENABLED=1 go test -run '^$$' -bench . -benchmem ./pkg/agent/...

.PHONY: gpu-check
gpu-check: agent ## the node agent compared with nvidia-smi under small loads on this machine's first GPU: a report (needs a GPU, root; 3 minutes)
	@cd hack/e2e && CGO_ENABLED=1 go run ./gpucheck --agent ../../bin/forewarm-agent

# What a variable that was given, empty or not, becomes as a flag; one that was not leaves the flag's default.
given = $(if $(filter undefined,$(origin $(1))),,--$(2)='$($(1))')

.PHONY: bench-forecast
bench-forecast: ## forecasts on M4 and traces by GIFT-Eval's protocol, compared with R: M4_TRAIN= M4_TEST= TRACES= (default: FOREWARM_DATA) SETS='M4,taxi 1h,online' WINDOWS=20 MODEL= PEERS=thetaf,ets PEER_LIMIT=30s JSON=1
	@go run ./hack/benchforecast $(if $(JSON),--json) \
		$(call given,M4_TRAIN,m4-train) $(call given,M4_TEST,m4-test) $(call given,TRACES,traces) \
		$(call given,SETS,sets) $(call given,WINDOWS,windows) $(call given,MODEL,model) \
		$(call given,PEERS,peers) $(call given,PEER_LIMIT,peer-limit)

.PHONY: bench-outcome
bench-outcome: ## GPU-hours and lateness of policies under a stock HPA, a quarter of an hour: SHORT=1 (minutes) BAD_HOURS=1 TRACES=dir,dir LEAD='5m 5m,p90=8m' SHIPPED=1 SCHEDULED=0 DEFERRABLE=.2 DEADLINE=10m LEVERS=1 COMPARE=file JSON=1
	@go run ./hack/benchoutcome $(if $(SHORT),--short) $(if $(BAD_HOURS),--bad-hours) $(if $(JSON),--json) $(if $(SHIPPED),--shipped) $(if $(LEVERS),--levers) \
		$(call given,TRACES,traces) $(call given,LEAD,lead) $(call given,SCHEDULED,scheduled) \
		$(call given,DEFERRABLE,deferrable) $(call given,DEADLINE,deadline) $(call given,COMPARE,compare) $(call given,JOBS,jobs)

.PHONY: bench-fleet
bench-fleet: ## batch work next to recorded workloads on a fixed number of GPUs (a minute; needs FOREWARM_DATA), and the cost of a plan for 50 members
	@go run ./hack/benchfleet
	go test -run '^$$' -bench Plan ./pkg/core/fleet

.PHONY: prior
prior: ## fit what forewarm knows of a workload before it has seen it to recorded demand: TRACES=dir,dir
	go run ./hack/benchoutcome --priors=pkg/core $(call given,TRACES,traces)

.PHONY: generate
generate: ## deep copies, CRDs, OpenAPI definitions, KEDA's contract, dashboards, manifests, docs/reference, the project's own traces
	hack/generate.sh
	go run ./hack/tracegen

.PHONY: screenshots
screenshots: build ## draw docs/images from the demo, on a screen and a telephone; fails on a browser's error (needs chromium, jq)
	hack/screenshots.sh

.PHONY: fuzz
fuzz: ## every fuzz target, one after the other, a minute each (more than an hour): FUZZTIME=1m FUZZ='Read|Parse' PARALLEL=
	CGO_ENABLED=$(if $(CC_FOUND),1,0) hack/fuzz.sh $(or $(FUZZTIME),1m) '$(or $(FUZZ),^Fuzz)' $(if $(PARALLEL),-parallel $(PARALLEL))

.PHONY: fuzz-values
fuzz-values: ## thousands of made histories against the bound, at every face (HISTORIES=2000; 20 minutes)
	go test -count=1 -timeout 60m -run TestNeverAbsurd -v ./pkg/refresh -args -histories $(or $(HISTORIES),2000)

.PHONY: verify
verify: ## fail where a generated file is stale
	hack/verify.sh
