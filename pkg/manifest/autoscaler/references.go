package autoscaler

import (
	"fmt"
	"maps"
	"strings"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// ObjectMetric is the name of a Forecast's metric for Object metrics.
const ObjectMetric = "demand"

// References returns the metrics of an autoscaler that name a Forecast: an External metric by its name and by an alias, an Object
// metric by its object, a trigger by its metadata. (An External metric may be another adapter's; then no Forecast has that name or
// alias.) An HPA that KEDA created has none, because its ScaledObject counts.
func References(a *hpa.Autoscaler) []manifest.Reference {
	if a.Owner != "" {
		return nil
	}
	var out []manifest.Reference
	for i := range a.Metrics {
		m := &a.Metrics[i]
		if m.Forecast == "" {
			continue
		}
		ref := manifest.Reference{
			Forecast:   snapshot.Key{Namespace: a.Namespace, Name: m.Forecast},
			Autoscaler: a.Ref(),
			Workload:   a.Workload,
		}
		if c, known := a.Status.Condition(hpa.ScalingActive); known && c.Reason == string(hpa.ScalingDisabled) {
			ref.DisabledAtZero = !c.True && a.Min == 0
		}
		if alias, view := aliasOf(m); alias != nil {
			if len(alias.Labels) > 0 {
				labelled := ref
				resolve(&labelled, a, m, view)
				ref.Labelled = &labelled
			}
			ref.Alias = alias.Key(a.Namespace)
		}
		switch {
		case m.Source == hpa.Object && m.Name != ObjectMetric:
			ref.Refused = fmt.Sprintf("a Forecast has no metric %.64q: write name: %s", m.Name, ObjectMetric)
		case m.InvalidSelector != "":
			ref.Refused = "its selector is invalid: " + m.InvalidSelector
		default:
			resolve(&ref, a, m, Selection(m))
		}
		out = append(out, ref)
	}
	return out
}

// Selection returns what a metric selects: the labels of its selector, or all keys of a trigger's metadata but those with another
// meaning.
func Selection(m *hpa.AutoscalerMetric) map[string]string {
	if m.Metadata == nil {
		return m.Labels
	}
	asked := maps.Clone(m.Metadata)
	for _, key := range []string{"forecast", "target", "activation", "scalerAddress", "enableTLS", "unsafeSsl"} {
		delete(asked, key)
	}
	return asked
}

// resolve sets how an autoscaler scales on one of its metrics, given what the metric selects, or why the metric is rejected.
func resolve(r *manifest.Reference, a *hpa.Autoscaler, m *hpa.AutoscalerMetric, asked map[string]string) {
	setSelection(r, asked)
	if r.Refused != "" {
		return
	}
	if r.ScalesToZero, r.Refused = a.Min == 0, m.Refused; r.Refused != "" {
		return
	}
	r.Spec = a.SpecOf(m)
	r.Spec.Metrics[0].Name = m.Forecast
}

// setSelection sets the candidate that a metric selects (empty for the Forecast's own), its variant, and the reason if the selection is
// rejected. A selection with another objective or mode is calibrated like the Forecast. The objective does not apply to another horizon or
// to a quantile.
func setSelection(r *manifest.Reference, asked map[string]string) {
	selected, err := decide.ParseSelector(asked)
	candidate, known := windowpeak.CanonicalName(selected.Model)
	r.Variant, r.Candidate, r.Refused = selected.Variant, candidate, ""
	const noObjective = "its selector has %s=%v, and objectives do not apply to such a selector: remove it"
	switch {
	case err != nil:
		r.Candidate, r.Refused = "", "its selector is invalid: "+err.Error()
	case selected.Model != "" && !known:
		r.Candidate, r.Refused = "", fmt.Sprintf("its selector has model=%.64s, known models are %s", selected.Model,
			strings.Join(windowpeak.CandidateNames(), ", "))
	case selected.Quantile != 0:
		r.Refused = fmt.Sprintf(noObjective, "quantile", selected.Quantile)
	case selected.Horizon != 0:
		r.Refused = fmt.Sprintf(noObjective, "horizon", selected.Horizon)
	}
}

// aliasOf returns the alias that a metric requests, and the view of its Forecast; nil if it does not request an alias.
func aliasOf(m *hpa.AutoscalerMetric) (alias *snapshot.Alias, view map[string]string) {
	if m.Source != hpa.External || m.Metadata != nil || m.InvalidSelector != "" {
		return nil, nil
	}
	return snapshot.AliasOf(m.Name, m.Labels)
}

// Reading returns which of all Forecasts answers a metric of an autoscaler in a namespace, by its alias or else by its name, and what
// the metric asks of it; nil where none does.
func Reading(
	m *hpa.AutoscalerMetric, namespace string, all []v1alpha1.Forecast,
) (found *v1alpha1.Forecast, asked map[string]string) {
	key, asked := snapshot.Key{Namespace: namespace, Name: m.Forecast}, Selection(m)
	if alias, view := aliasOf(m); alias != nil {
		if holder, held := AliasHolders(all)[alias.Key(namespace)]; held {
			key, asked = holder, view
		}
	}
	for i := range all {
		if all[i].Namespace == key.Namespace && all[i].Name == key.Name {
			return &all[i], asked
		}
	}
	return nil, nil
}

// AliasHolders returns the Forecast that answers under each alias (snapshot.Alias.Key), of all Forecasts.
func AliasHolders(all []v1alpha1.Forecast) map[snapshot.Key]snapshot.Key {
	aliases := map[snapshot.Key]*snapshot.Alias{}
	for i := range all {
		f, key := &all[i], snapshot.Key{Namespace: all[i].Namespace, Name: all[i].Name}
		if aliases[key] = nil; f.Spec.Expose != nil {
			aliases[key] = &snapshot.Alias{
				Metric: f.Spec.Expose.Metric, Labels: f.Spec.Expose.MatchLabels, Created: f.CreationTimestamp.Time,
			}
		}
	}
	return snapshot.Holders(aliases)
}
