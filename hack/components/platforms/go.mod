// CustomResourceDefinitions of the platforms that the samples are for. Nothing of these modules is compiled.
module github.com/forewarm/forewarm/hack/components/platforms

go 1.26.0

require (
	github.com/koordinator-sh/koordinator v1.6.0
	github.com/kserve/kserve v0.17.0
	github.com/ray-project/kuberay/ray-operator v1.5.0
	knative.dev/serving v0.51.0
	sigs.k8s.io/gateway-api-inference-extension v1.5.0
	sigs.k8s.io/lws v0.9.0
	sigs.k8s.io/scheduler-plugins v0.34.7
	volcano.sh/volcano v1.10.0
)
