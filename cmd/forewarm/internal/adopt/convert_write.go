package adopt

import (
	"fmt"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
)

// write completes a Forecast, checks it as Forewarm does, and adds it. Its name is made one that no other has.
func (c *conversion) write(
	f *v1alpha1.Forecast, expr parser.Expr, before apiresource.Quantity, from string, why []string,
) error {
	f.Name = manifest.FreeName(f.Name, func(name string) bool {
		is := func(d objectDocument) bool { return d.Object == "Forecast "+f.Namespace+"/"+name }
		return slices.ContainsFunc(c.Converted, is)
	})
	confined := c.confined(expr, f.Namespace)
	f.Spec.Signal.Query = total(expr)
	f.Spec.Scaling = &v1alpha1.Scaling{Before: &v1alpha1.BeforeScaling{Target: before}}
	why = append(why,
		"serve: Shadow serves the observed demand, so the replicas stay as they are while the forecast is judged.",
		"scaling.before: the target until now, to compare with.")
	signals := catalogue.Signals{Label: c.tenant, Trust: signal.DefaultTrust()}
	if !confined {
		signals.Free = []string{f.Namespace}
		const free = "Not every selector of the query has %s=%q. Forewarm adds that, or refuses another, unless " +
			"--cluster-query-namespaces lists the namespace: compare the values in shadow mode."
		why = append(why, fmt.Sprintf(free, c.tenant, f.Namespace))
	}
	document, err := forecastDocument(f, signals)
	if err != nil {
		return fmt.Errorf("its Forecast would be invalid: %w: write one by hand", err)
	}
	document.From, document.Why = from, why
	c.Converted = append(c.Converted, document)
	return nil
}

// confined reports whether every selector demands the namespace. A pattern that is the namespace's name becomes the name.
func (c *conversion) confined(expr parser.Expr, namespace string) bool {
	all := true
	for _, selector := range parser.ExtractSelectors(expr) {
		own := slices.ContainsFunc(selector, func(m *labels.Matcher) bool {
			if m.Name == c.tenant && m.Type == labels.MatchRegexp && m.Value == namespace {
				*m = *labels.MustNewMatcher(labels.MatchEqual, c.tenant, namespace)
			}
			return m.Name == c.tenant && m.Type == labels.MatchEqual && m.Value == namespace
		})
		all = all && own
	}
	return all
}

// after adds an autoscaler with another spec.
func (c *conversion) after(object *unstructured.Unstructured, spec any, why []string) {
	kept := map[string]any{"name": object.GetName(), "namespace": object.GetNamespace()}
	if set := object.GetLabels(); len(set) > 0 {
		kept["labels"] = set
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "metadata": kept, "spec": spec,
	})
	if err != nil {
		c.leave(objectName(object), "", err.Error()+": edit it by hand")
		return
	}
	name := objectName(object)
	c.Converted = append(c.Converted,
		objectDocument{Object: name, From: name, Why: why, Manifest: string(text), After: true})
}
