#!/usr/bin/env bash
# Generates deep copies and OpenAPI definitions (kubectl explain) from the inspection API's types.
# Usage: hack/generate-inspect.sh [ROOT]   ROOT receives the files; default is the repository itself.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-.}/pkg/api/inspect/v1alpha1
export CGO_ENABLED=0
go tool -modfile=hack/tools/go.mod controller-gen \
    object paths=./pkg/api/inspect/... \
    output:object:dir="$out"
go tool -modfile=hack/tools/go.mod openapi-gen \
    --output-dir "$out" --output-pkg github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1 \
    --output-file zz_generated.openapi.go --output-model-name-file zz_generated.model_name.go \
    --go-header-file /dev/null --report-filename /dev/null \
    --readonly-pkg k8s.io/apimachinery/pkg/apis/meta/v1 \
    ./pkg/api/inspect/v1alpha1

# custom-metrics-apiserver has the definitions of meta/v1, which the server adds. openapi-gen knows their names only where it
# generates them, too.
sed -i 's|"k8s.io/apimachinery/pkg/apis/meta/v1\.|"io.k8s.apimachinery.pkg.apis.meta.v1.|g' "$out/zz_generated.openapi.go"
