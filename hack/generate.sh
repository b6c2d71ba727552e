#!/usr/bin/env bash
# Writes all that is generated: from the API types deep copies, the CustomResourceDefinitions and OpenAPI definitions;
# from the wire contract with KEDA its messages and service.
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
