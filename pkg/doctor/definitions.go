package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// fieldSchema is the part of an OpenAPI schema that is compared.
type fieldSchema struct {
	Properties           map[string]fieldSchema `json:"properties,omitempty"`
	Items                *fieldSchema           `json:"items,omitempty"`
	AdditionalProperties *fieldSchema           `json:"additionalProperties,omitempty"`
	Kinds                []kind                 `json:"x-kubernetes-group-version-kind,omitempty"`
}

type kind struct {
	Kind string `json:"kind"`
}

// openAPI is the part of an OpenAPI document that is read.
type openAPI struct {
	Components openAPIComponents `json:"components"`
}

type openAPIComponents struct {
	Schemas map[string]fieldSchema `json:"schemas"`
}

// checkDefinitions: has the cluster the CRDs, and all the fields that this binary reads and writes? The kube-apiserver drops
// others without an error. The schemas are public, so that no right to read CRDs is needed.
func checkDefinitions(ctx context.Context, d *Doctor, _ *state) []Finding {
	const check = "CRDs"
	path := "/openapi/v3/apis/" + v1alpha1.GroupVersion().String()
	text, err := d.clients.Discovery().
		RESTClient().
		Get().
		AbsPath(path).
		SetHeader("Accept", "application/json").
		DoRaw(ctx)
	if err != nil && !isAbsent(err) {
		return []Finding{unread(check, "the schemas of "+v1alpha1.GroupVersion().String(), err)}
	}
	schemas, err := parseSchemas(text)
	if err != nil {
		return []Finding{unread(check, "the schemas of "+v1alpha1.GroupVersion().String(), err)}
	}
	var out []Finding
	for name, t := range kinds() {
		f := Finding{Check: check, Level: OK, Object: "CRD of " + name, Message: "has every field of this version"}
		of, found := schemas[name]
		lacks := lacking(of, t, "")
		switch {
		case !found:
			f.Level, f.Message = Error, "is not installed"
			f.Remedy = reinstall + ", beginning with the CRDs"
		case len(lacks) > 0:
			f.Level = Error
			f.Message = fmt.Sprintf(
				"is older than this forewarm: it lacks %s, so the kube-apiserver drops these fields without an error",
				some(lacks),
			)
			f.Remedy = "apply the new CRDs before you upgrade anything else (docs/upgrades.md#upgrade)"
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Finding) int { return strings.Compare(a.Object, b.Object) })
	return out
}

// kinds are Forewarm's own.
func kinds() map[string]reflect.Type {
	return map[string]reflect.Type{
		v1alpha1.ForecastKind:    reflect.TypeFor[v1alpha1.Forecast](),
		v1alpha1.WarmPoolKind:    reflect.TypeFor[v1alpha1.WarmPool](),
		v1alpha1.DemandEventKind: reflect.TypeFor[v1alpha1.DemandEvent](),
		v1alpha1.GPUFleetKind:    reflect.TypeFor[v1alpha1.GPUFleet](),
	}
}

// parseSchemas reads the schemas of kinds out of an OpenAPI document; an empty one has none.
func parseSchemas(document []byte) (map[string]fieldSchema, error) {
	out := map[string]fieldSchema{}
	if len(document) == 0 {
		return out, nil
	}
	var read openAPI
	if err := json.Unmarshal(document, &read); err != nil {
		return nil, fmt.Errorf("decode the OpenAPI document: %w", err)
	}
	for _, s := range read.Components.Schemas {
		for _, of := range s.Kinds {
			if len(s.Properties) > 0 {
				out[of.Kind] = s
			}
		}
	}
	return out, nil
}

// lacking lists the fields of Forewarm's own types that a schema does not have, by their paths.
func lacking(s fieldSchema, t reflect.Type, path string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		switch {
		case t.Kind() == reflect.Slice && s.Items != nil:
			s = *s.Items
		case t.Kind() == reflect.Map && s.AdditionalProperties != nil:
			s = *s.AdditionalProperties
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.PkgPath() != reflect.TypeFor[v1alpha1.Forecast]().PkgPath() {
		return nil // Kubernetes' own types are not Forewarm's to compare.
	}
	var out []string
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" || name == "metadata" {
			continue
		}
		below, found := s.Properties[name]
		if !found {
			out = append(out, path+name)
			continue
		}
		out = append(out, lacking(below, field.Type, path+name+".")...)
	}
	return out
}

// some lists the first of many words.
func some(words []string) string {
	const most = 5
	if len(words) <= most {
		return join(words)
	}
	return fmt.Sprintf("%s and %d more", join(words[:most]), len(words)-most)
}
