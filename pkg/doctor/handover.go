package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// Step is a step of the handover: a command, and the command that undoes it.
type Step struct {
	Do   string `json:"do"`
	Back string `json:"back"`
}

// Handover says what must be done before Forewarm can take over the metrics API groups of another server. Errors block the handover.
type Handover struct {
	Report

	// Steps are the commands of the handover, in order. To undo the handover, undo them in reverse order.
	Steps []Step `json:"steps"`
}

// CheckHandover reads which servers serve the groups, and which metrics Forewarm can provide. The error means that the cluster does not
// answer.
func (d *Doctor) CheckHandover(ctx context.Context) (Handover, error) {
	if _, err := d.date(ctx, "/version"); err != nil {
		return Handover{}, err
	}
	s := d.read(ctx)
	h := Handover{Report: Report{Findings: append(s.findings, checkServer(ctx, d, s)...)}, Steps: []Step{}}
	if s.apiServicesErr != nil {
		h.Findings = append(h.Findings, unread("APIGroups", "APIServices", s.apiServicesErr))
	}
	others := map[aggregation.Service]bool{}
	for i := range s.apiServices {
		if a := &s.apiServices[i]; a.leadsTo() != d.service(s) && a.Spec.Group != resourceMetrics {
			others[a.leadsTo()] = true
			h.Steps = append(h.Steps, d.steps(s, a)...)
		}
	}
	if !slices.ContainsFunc(s.apiServices, func(a apiService) bool { return a.leadsTo() == d.service(s) }) {
		h.Findings = append(h.Findings, Finding{
			Check:   "APIGroups",
			Level:   Error,
			Object:  aggregation.Inspect,
			Message: "Forewarm does not serve any API group yet",
			Remedy:  "first install Forewarm in addition to the other server (docs/migrate.md)",
		})
	}
	for i := range s.apiServices {
		h.Findings = append(h.Findings, s.apiServices[i].handed(d.service(s), others))
	}
	for _, a := range s.hpas {
		for i := range a.Metrics {
			if f := s.answered(a, &a.Metrics[i]); f.Message != "" {
				f.Check, f.Object = "Metrics", "HPA "+a.Namespace+"/"+a.Name
				h.Findings = append(h.Findings, f)
			}
		}
	}
	h.sort()
	return h, nil
}

// handed is who holds an APIService. The resource metrics must not be with a server that is to go.
func (a *apiService) handed(own aggregation.Service, others map[aggregation.Service]bool) Finding {
	f := a.available(own)
	if a.leadsTo() != own && f.Level == Error {
		f.Level = Warning // It is about to be replaced.
	}
	if a.Spec.Group == resourceMetrics &&
		(others[a.leadsTo()] || strings.Contains(a.Spec.Service.Name, "prometheus-adapter")) {
		f.Level = Error
		f.Message = "CPU and memory metrics (for HPAs on Resource metrics and kubectl top) come from " + string(
			a.leadsTo(),
		) +
			" and stop when you remove that server, because Forewarm does not serve them"
		f.Remedy = "before you remove that server, install metrics-server and let the APIService " + a.Name +
			" lead to metrics-server; then remove resourceRules from the configuration of the old server"
	}
	return f
}

// answered is whether a Forecast answers a metric of an HPA, with a value now. It is empty for metrics of neither group.
func (s *state) answered(a *hpa.Autoscaler, m *hpa.AutoscalerMetric) Finding {
	const convert = "apply the output of forewarm convert for it (docs/migrate.md)"
	named := m.String()
	switch {
	case m.PerPod:
		return Finding{
			Level:   Error,
			Message: named + ": Forewarm does not serve metrics of individual pods",
			Remedy:  convert,
		}
	case m.Source == hpa.Object:
		named += fmt.Sprintf(" of the %s %s", m.Described.Kind, m.Described.Name)
	case m.Source == "":
		return Finding{}
	}
	if a.Owner != "" {
		return Finding{
			Level: Error, Message: named + ": KEDA serves it for the ScaledObject " + a.Owner,
			Remedy: "leave " + aggregation.External + " to KEDA, and use its external trigger (docs/keda.md)",
		}
	}
	f := s.answering(a, m)
	switch {
	case f == nil:
		return Finding{Level: Error, Message: named + ": no Forecast provides it", Remedy: convert}
	case f.Status.Served == "":
		return Finding{
			Level:   Error,
			Message: named + ": the Forecast " + f.Name + " provides it, but has no value now (state " + f.Status.State + ")",
			Remedy:  "wait until it has a value; kubectl describe forecast -n " + f.Namespace + " " + f.Name + " shows the reason",
		}
	default:
		return Finding{
			Level:   OK,
			Message: named + ": the Forecast " + f.Name + " provides it, with the value " + f.Status.Served + " now",
		}
	}
}

// answering is the Forecast that answers a metric of an HPA; nil without one.
func (s *state) answering(a *hpa.Autoscaler, m *hpa.AutoscalerMetric) *v1alpha1.Forecast {
	f, asked := autoscaler.Reading(m, a.Namespace, s.forecasts)
	_, err := decide.ParseSelector(asked)
	if err != nil || m.InvalidSelector != "" || m.Source == hpa.Object && m.Name != autoscaler.ObjectMetric {
		return nil
	}
	return f
}

// steps hand one APIService over. One that Forewarm can hold leads to it at once, so that no HPA misses a sync; Forewarm's leader
// holds it from then on. Another version is deleted.
func (d *Doctor) steps(s *state, a *apiService) []Step {
	if !slices.Contains(slices.Collect(maps.Values(aggregation.Names())), a.Name) {
		back := "apply the APIService " + a.Name + " of " + string(a.leadsTo()) + " again, from its manifests or chart"
		return []Step{{"kubectl delete apiservice " + a.Name, back}}
	}
	own := apiServiceSpec{}
	for i := range s.apiServices {
		if one := &s.apiServices[i]; one.leadsTo() == d.service(s) {
			own = one.Spec
		}
	}
	if own.Service == nil {
		return nil // Forewarm serves no group yet, which is an error of its own.
	}
	return []Step{{patch(a.Name, &own), patch(a.Name, &a.Spec)}}
}

// patch lets an APIService lead to the service of another spec, verified as that is.
func patch(name string, to *apiServiceSpec) string {
	text, err := json.Marshal(map[string]any{"spec": map[string]any{
		"service": to.Service, "caBundle": to.CABundle, "insecureSkipTLSVerify": to.InsecureSkipTLSVerify,
	}})
	if err != nil {
		return err.Error()
	}
	return "kubectl patch apiservice " + name + " --type=merge -p '" + string(text) + "'"
}
