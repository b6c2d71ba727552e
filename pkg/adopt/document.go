package adopt

import (
	"errors"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
)

// Document is an object to commit, with a sentence for each choice.
type Document struct {
	// Object is its kind, namespace and name; From is what it was made of.
	Object string   `json:"object,omitempty"`
	From   string   `json:"from,omitempty"`
	Why    []string `json:"why,omitempty"`
	// Manifest is its YAML.
	Manifest string `json:"manifest,omitempty"`
	// After is true if it may be applied only after the handover.
	After bool `json:"afterHandover,omitempty"`
}

// forecastDocument is a Forecast in shadow mode, as Forewarm reads it; the error is what it would refuse.
func forecastDocument(f *v1alpha1.Forecast, signals catalogue.Signals) (Document, error) {
	f.APIVersion, f.Kind, f.Spec.Serve = v1alpha1.GroupVersion().String(), v1alpha1.ForecastKind, v1alpha1.ServeShadow
	text, err := yaml.Marshal(f)
	if err != nil {
		return Document{}, err
	}
	var wrong []string
	for _, d := range manifest.Parse(f.Name, text) {
		if d.Object != nil {
			_, found := manifest.NewResolver(signals).Resolve(d.Object)
			d.Problems = append(d.Problems, d.Locate(found)...)
		}
		for _, p := range d.Problems {
			wrong = append(wrong, p.Text)
		}
	}
	if wrong != nil {
		return Document{}, errors.New(strings.Join(wrong, "; "))
	}
	return Document{Object: v1alpha1.ForecastKind + " " + f.Namespace + "/" + f.Name, Manifest: string(text)}, nil
}
