#!/usr/bin/env bash
# Builds etcd, kube-apiserver and kubectl from the module beside this script into a cache and prints the cache's folder.
# The folder is named by go.sum and the Go version, so that it is built once for each; the last line of output is the path.
set -euo pipefail
cd "$(dirname "$0")"
version=v1.36.3
key=$(cat go.mod go.sum <(go version) | sha256sum | cut -c1-16)
dir=${FOREWARM_KUBE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/forewarm/kubernetes}/$key
if [ ! -x "$dir/kubectl" ]; then
    echo "building etcd, kube-apiserver and kubectl $version from source (minutes, once) …" >&2
    mkdir -p "$dir"
    part=$(mktemp -d "$dir/.part-XXXXXX")
    trap 'rm -rf "$part"' EXIT
    ldflags="-s -w"
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        ldflags+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=36"
    done
    export CGO_ENABLED=0
    go build -o "$part/etcd" go.etcd.io/etcd/server/v3
    echo "  etcd built" >&2
    go build -ldflags "$ldflags" -o "$part/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver
    echo "  kube-apiserver built" >&2
    go build -ldflags "$ldflags" -o "$part/kubectl" k8s.io/kubernetes/cmd/kubectl
    # kubectl goes last: its presence says that the folder is whole.
    mv "$part/etcd" "$part/kube-apiserver" "$dir/"
    mv "$part/kubectl" "$dir/"
fi
echo "$dir"
