package apiserver

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	openapicommon "k8s.io/kube-openapi/pkg/common"
	adapter "sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/generated/openapi/core"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/generated/openapi/custommetrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/generated/openapi/externalmetrics"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

// definitions describe every kind of every group, for kubectl explain and the API server's own needs.
func definitions(ref openapicommon.ReferenceCallback) map[string]openapicommon.OpenAPIDefinition {
	all := core.GetOpenAPIDefinitions(ref)
	maps.Copy(all, custommetrics.GetOpenAPIDefinitions(ref))
	maps.Copy(all, externalmetrics.GetOpenAPIDefinitions(ref))
	maps.Copy(all, v1alpha1.GetOpenAPIDefinitions(ref))
	return all
}

// describe sets the OpenAPI documents, versions 2 and 3.
func describe(config *genericapiserver.Config, inspection *runtime.Scheme) {
	namer := openapinamer.NewDefinitionNamer(adapter.Scheme, inspection)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	config.OpenAPIConfig.Info.Title = name
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	config.OpenAPIV3Config.Info.Title = name
}
