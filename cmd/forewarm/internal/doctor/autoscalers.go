package doctor

import (
	"context"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/forewarm/forewarm/pkg/kube/apiservices"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// checkAutoscalers explains each HPA that may read a Forecast, and repeats the warnings of "forewarm explain". An HPA that names a
// Forecast that is not there is an error.
func checkAutoscalers(ctx context.Context, d *Doctor, s *state) []Finding {
	_, external := s.checkGroup(apiGroup{name: apiservices.External}, d.service(s))
	var out []Finding
	for i := range s.hpas {
		if ctx.Err() != nil {
			break
		}
		h := &s.hpas[i]
		if missing := s.missingForecasts(h, external); len(missing) > 0 {
			out = append(out, missing...)
		} else if s.mayRead(h) {
			out = append(out, d.explain(ctx, h)...)
		}
	}
	return out
}

// missingForecasts are the Forecasts that an HPA names and that are not there. external is whether External metrics are Forewarm's:
// else they may be another server's.
func (s *state) missingForecasts(h *autoscalingv2.HorizontalPodAutoscaler, external bool) []Finding {
	resolved, err := autoscaler.ResolveHPA(h)
	if err != nil || !s.listed || autoscaler.OwningScaledObject(h) != "" {
		return nil
	}
	var out []Finding
	for _, from := range resolved.Sources {
		if from.Forecast == "" || s.reads(h, &from) || !from.Certain && !external {
			continue
		}
		out = append(out, Finding{
			Check: "Autoscalers", Level: Error, Object: "HPA " + h.Namespace + "/" + h.Name,
			Message: "names the Forecast " + from.Forecast + ", which is not there: it misses its metric and keeps its replicas",
			Remedy:  "create the Forecast, write the name of another into the metric, or expose the metric and its labels (spec.expose)",
		})
	}
	return out
}

// reads reports whether a metric of an HPA is a Forecast of its namespace, by its name or its alias.
func (s *state) reads(h *autoscalingv2.HorizontalPodAutoscaler, from *autoscaler.Source) bool {
	exposing, _ := from.Exposing(h.Namespace, s.forecasts)
	return exposing != "" || slices.Contains(s.forecastsIn(h.Namespace), from.Forecast)
}

// forecastsIn are the names of a namespace's Forecasts.
func (s *state) forecastsIn(namespace string) (names []string) {
	for i := range s.forecasts {
		if f := &s.forecasts[i]; f.Namespace == namespace {
			names = append(names, f.Name)
		}
	}
	return names
}

// mayRead reports whether an HPA has a metric of a Forecast of its namespace, or KEDA made it: its triggers are read later.
func (s *state) mayRead(h *autoscalingv2.HorizontalPodAutoscaler) bool {
	if len(s.forecastsIn(h.Namespace)) == 0 {
		return false
	}
	resolved, err := autoscaler.ResolveHPA(h)
	if err != nil {
		return true // Explaining it says why.
	}
	return autoscaler.OwningScaledObject(h) != "" ||
		slices.ContainsFunc(resolved.Sources, func(from autoscaler.Source) bool {
			return s.reads(h, &from)
		})
}

// explainTimeout bounds the explanation of one HPA, so that one that hangs leaves time for the others.
const explainTimeout = 30 * time.Second

func (d *Doctor) explain(ctx context.Context, h *autoscalingv2.HorizontalPodAutoscaler) []Finding {
	const name = "Autoscalers"
	ctx, cancel := context.WithTimeout(ctx, explainTimeout)
	defer cancel()
	object := "HPA " + h.Namespace + "/" + h.Name
	e, err := d.Explain(ctx, d.Cluster, h.Namespace, h.Name)
	switch {
	case isAbsent(err):
		return nil // It was deleted in the meantime.
	case err != nil:
		f := unread(name, object, err)
		f.Object = object
		return []Finding{f}
	}
	if !slices.ContainsFunc(e.Metrics, func(m explain.MetricLine) bool { return m.Forecast != "" }) {
		return nil // Another of KEDA's.
	}
	out := metricErrors(object, e)
	for _, w := range e.Warnings {
		out = append(out, Finding{
			Check: name, Level: Warning, Object: object, Message: w.Reason + ": " + w.Message, Remedy: w.Advice,
		})
	}
	for _, text := range e.Unknown {
		out = append(out,
			Finding{Check: name, Level: Unknown, Object: object, Message: "could not read " + text, Remedy: ask})
	}
	if len(out) == 0 {
		out = append(out,
			Finding{Check: name, Level: OK, Object: object, Message: "reads its Forecast, without a warning"})
	}
	return out
}

// metricErrors are the metrics of an HPA that cannot be read.
func metricErrors(object string, e *explain.Explanation) []Finding {
	var out []Finding
	for i := range e.Metrics {
		if m := &e.Metrics[i]; m.Error != "" {
			out = append(out, Finding{
				Check: "Autoscalers", Level: Error, Object: object, Message: "metric " + m.Name + ": " + m.Error,
				Remedy: "see docs/troubleshooting.md; forewarm explain " + object[len("HPA "):] + " has the details",
			})
		}
	}
	return out
}
