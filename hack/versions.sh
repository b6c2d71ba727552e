#!/usr/bin/env bash
# Compares pkg/core/hpa with the HPA controllers of several versions of Kubernetes, and installs the chart on their API servers.
#
#     hack/versions.sh 1.34.4 1.35.4
#
# Each version is built from source as hack/components/kubernetes is. A version that the module proxy does not have, or that does not
# build, is reported and left out.
set -euo pipefail
cd "$(dirname "$0")/.."

report=$(mktemp)
trap 'rm -rf "$report" hack/components/kubernetes-*' EXIT
status=0

# module NAME VERSION makes a copy of the component with another version, 1.X.Y. The copy is removed at the end.
module() {
    local folder=hack/components/$1 staging=v0.${2#1.} requirements
    requirements=$(go mod download -json "k8s.io/kubernetes@v$2" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p') || return 1
    rm -rf "$folder"
    cp -r hack/components/kubernetes "$folder"
    sed -E "s|Version=v[0-9.]+|Version=v$2|g; s|gitMinor=[0-9]+|gitMinor=$(cut -d. -f2 <<<"$2")|g" \
        hack/components/kubernetes/ldflags >"$folder/ldflags"
    cd "$folder"
    rm go.mod go.sum
    go mod init "github.com/forewarm/forewarm/$folder" 2>/dev/null
    # Kubernetes pins its staging modules by replacement.
    # shellcheck disable=SC2046 # One flag for each module and program.
    go mod edit -require="k8s.io/kubernetes@v$2" $(awk '{print "-tool=" $2}' binaries) \
        $(sed -nE "s%^\s*(k8s.io/[^ ]*) v0\.0\.0( .*|$)%-replace=\1=\1@$staging%p" "$requirements")
    GOFLAGS=-mod=mod go mod tidy
}

# result WHAT COMMAND … runs a command, and adds its result to the report.
result() {
    local what=$1
    shift
    if "$@"; then
        printf '\t%s' "$what: ok" >>"$report"
    else
        printf '\t%s' "$what: FAILED" >>"$report"
        status=1
    fi
}

# Before 1.36, the controller read the metrics of every workload at zero.
controller() { (cd "hack/components/$1" && go test -count=1 ./hpacases -args -zero="$([ "$2" -ge 36 ] && echo true || echo false)"); }

chart() {
    KUBEBUILDER_ASSETS=$(hack/components/build.sh "$1" etcd kube-apiserver kubectl | tail -1) \
        FOREWARM_HELM=$(hack/components/build.sh helm | tail -1) go test -count=1 -run TestChart ./deploy
}

for version in "$@"; do
    name=kubernetes-${version%.*}
    if grep -q "k8s.io/kubernetes v$version$" hack/components/kubernetes/go.mod; then
        name=kubernetes
    fi
    printf '\n== Kubernetes %s (%s)\n' "$version" "$(date -u +%T)"
    printf '%s' "$version" >>"$report"
    if ! { [ "$name" = kubernetes ] || (module "$name" "$version"); } || ! hack/components/build.sh "$name" etcd kube-apiserver kubectl; then
        printf '\tnot built: the module proxy does not have it, or this Go does not build it\n' >>"$report"
        continue
    fi
    result "HPA controller" controller "$name" "$(cut -d. -f2 <<<"$version")"
    result chart chart "$name"
    printf '\n' >>"$report"
done
printf '\n'
column -t -s $'\t' <"$report"
exit "$status"
