#!/usr/bin/env bash
# Renders the plain manifests (deploy/*/manifest.yaml) and the chart's README from deploy/charts/forewarm.
# Usage: hack/render.sh [ROOT]   ROOT has the CRDs and receives the files; default is the repository itself.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${1:-.}
tools=${FOREWARM_HELM:-$(hack/components/build.sh helm helm helm-docs | tail -1)}
chart=deploy/charts/forewarm

# The chart with ROOT's CRDs, which hack/verify.sh compares with the repository's.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$chart/." "$copy"
cp "$root/$chart"/files/crds/*.yaml "$copy/files/crds/"

render() {
    folder=deploy/$1
    mkdir -p "$root/$folder"
    {
        echo "# Rendered from deploy/charts/forewarm with $folder/values.yaml. Do not edit: make generate writes it."
        # The labels of a release by Helm are not true here.
        "$tools/helm" template forewarm "$copy" --namespace forewarm-system \
            --values deploy/default/values.yaml --values "$folder/values.yaml" "${@:2}" |
            sed -e '/^# Source: /d' -e '/app.kubernetes.io\/managed-by: Helm/d' -e '/helm.sh\/chart: /d' |
            cat -s
    } >"$root/$folder/manifest.yaml"
}
render default
render with-keda-scaler
render demand-events --show-only templates/demand-events.yaml
render fleets --show-only templates/fleets.yaml
render warm-pools --show-only templates/warm-pools.yaml
render agent --show-only templates/agent.yaml

"$tools/helm-docs" --chart-search-root "$copy" --template-files README.md.gotmpl --dry-run --log-level warning \
    --badge-style flat --sort-values-order file --skip-version-footer >"$root/$chart/README.md"
