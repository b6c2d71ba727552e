#!/usr/bin/env bash
# Writes all that is generated: from the API types deep copies, the CustomResourceDefinitions and OpenAPI definitions;
# from the wire contract with KEDA its messages and service; docs/reference from all of that and the programs themselves.
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
    output:crd:dir="$root/deploy/crds"
hack/generate-inspect.sh "$root"
out=$(cd "$root" && pwd)
(cd hack/tools && go run ./protogen ../.. pkg/serve/keda/externalscaler/externalscaler.proto "$out")

reference=$out/docs/reference
mkdir -p "$reference"
go tool -modfile=hack/tools/go.mod crd-ref-docs --log-level ERROR --renderer markdown \
    --config hack/reference/objects/config.yaml --templates-dir hack/reference/objects \
    --source-path pkg/api --output-path "$reference/objects.md"
for page in cli metrics; do
    {
        go run ./cmd/forewarm/internal/reference "$page"
        go run ./cmd/forewarm-agent/internal/reference "$page"
    } >"$reference/$page.md"
done
