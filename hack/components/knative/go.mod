// Knative's CustomResourceDefinitions, which the sample of a Knative Service is applied against. Nothing of it is compiled.
module github.com/forewarm/forewarm/hack/components/knative

go 1.26.0

require knative.dev/serving v0.51.0
