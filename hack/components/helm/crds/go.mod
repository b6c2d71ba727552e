// Where the CRDs of optional kinds come from, for the chart's tests: no program is built of it.
module github.com/forewarm/forewarm/hack/components/helm/crds

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.19.1
	github.com/prometheus-operator/prometheus-operator v0.84.0
)
