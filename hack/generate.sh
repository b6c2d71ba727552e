#!/usr/bin/env bash
# Writes all generated files: deep copies, CustomResourceDefinitions and OpenAPI definitions from the API types; messages
# and service from KEDA's wire contract; Grafana's dashboards from deploy/dashboards; the plain
# manifests and the chart's README from the chart; docs/reference from all of these and the programs themselves.
# Usage: hack/generate.sh [ROOT]   ROOT receives the files; default is the repository itself.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${1:-.}
export CGO_ENABLED=0
go tool -modfile=hack/tools/go.mod controller-gen \
    object paths=./pkg/api/v1alpha1/... \
    output:object:dir="$root/pkg/api/v1alpha1"
go tool -modfile=hack/tools/go.mod controller-gen \
    crd paths=./pkg/api/v1alpha1/... \
    output:crd:dir="$root/deploy/charts/forewarm/files/crds"
mkdir -p "$root/deploy/charts/forewarm/files/dashboards"
for dashboard in deploy/dashboards/*.jsonnet; do
    name=$(basename "$dashboard" .jsonnet)
    go tool -modfile=hack/tools/go.mod jsonnet "$dashboard" >"$root/deploy/charts/forewarm/files/dashboards/$name.json"
done
hack/render.sh "$root"
hack/generate-inspect.sh "$root"
out=$(cd "$root" && pwd)
(cd hack/tools && go run ./protogen ../.. pkg/serve/keda/externalscaler/externalscaler.proto "$out")

reference=$out/docs/reference
mkdir -p "$reference"
go tool -modfile=hack/tools/go.mod crd-ref-docs --log-level ERROR --renderer markdown \
    --config hack/reference/objects/config.yaml --templates-dir hack/reference/objects \
    --source-path pkg/api --output-path "$reference/objects.md"
for page in cli metrics; do
    go run ./cmd/forewarm/internal/reference "$page" >"$reference/$page.md"
done
go run ./cmd/forewarm/internal/reference conditions >"$reference/conditions.md"
go run ./hack/operator >"$reference/failures.md"
hack/tested.sh >"$reference/versions.md"
