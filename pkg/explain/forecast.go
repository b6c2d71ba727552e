package explain

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// readForecast reads the outlook of the Forecast that a metric may name; nil where there is no such Forecast, and the metric
// is somebody else's.
func (r *reader) readForecast(ctx context.Context, s *reading, from *hpa.AutoscalerMetric) *explain.Forecast {
	asked := selectorLabels(from)
	o, err := r.readOutlook(ctx, from.Forecast)
	if apierrors.IsNotFound(err) && !from.Certain { // A Forecast may expose the metric under this name.
		all, unread := client.ListForecasts(ctx, r.objects, r.Namespace)
		if unread != nil && !apierrors.IsNotFound(unread) {
			s.note("whether a Forecast exposes %s: %s", from.Forecast, client.APIMessage(unread))
		}
		f, view := autoscaler.Reading(from, r.Namespace, all)
		from.Forecast = ""
		if f != nil {
			from.Forecast, asked = f.Name, view
			o, err = r.readOutlook(ctx, f.Name)
		}
	}
	switch {
	case from.Forecast == "":
		return nil
	case err != nil:
		s.note("the outlook of Forecast %s: %s", from.Forecast, client.APIMessage(err))
		return &explain.Forecast{Name: from.Forecast, Missing: client.APIMessage(err)}
	}
	f := ofOutlook(&o.Status)
	f.Name, f.Selector = from.Forecast, joinLabels(asked)
	f.Shadow = f.Shadow || asked["serve"] == "shadow"
	return f
}

func (r *reader) readOutlook(ctx context.Context, forecast string) (*inspect.Outlook, error) {
	var o inspect.Outlook
	err := r.get(ctx, &o, "", "", inspect.GroupName, inspect.Version, "namespaces", r.Namespace, inspect.Resource,
		forecast)
	return &o, err
}

// ofOutlook is what an explanation takes from an outlook.
func ofOutlook(s *inspect.OutlookStatus) *explain.Forecast {
	f := &explain.Forecast{
		State: snapshot.State(s.State), Unit: s.Unit, Observed: valueOrNaN(s.Observed), Served: valueOrNaN(s.Served),
		Goal: objective.Asked(s.Late, s.BadHours, s.CostRatio, s.Quantile), Lead: s.LeadTime.Duration.Duration,
		LeadSource: s.LeadTime.Source, LeadPool: s.LeadTime.WarmPool, Window: s.Window.Duration,
		Reason: strings.TrimSuffix(s.Reason, "."), Peak: math.NaN(), Highest: math.NaN(),
		Shadow: s.Serve == string(decide.Shadow), Steepest: steepestRise(s.Recent, s.LeadTime.Duration.Duration),
	}
	for i := range s.Path {
		f.Peak = series.MaxKnown(f.Peak, valueOrNaN(s.Path[i].Point))
	}
	for i := range s.Recent {
		f.Highest = series.MaxKnown(f.Highest, valueOrNaN(s.Recent[i].Observed))
	}
	f.Saturated = saturatedPeriod(s.Classifications)
	for _, c := range s.Conditions {
		switch {
		case c.Type == snapshot.ConditionReady:
			f.ReadyMessage = strings.TrimSuffix(c.Message, ".")
		case c.Type == snapshot.ConditionSaturated && c.Status == metav1.ConditionTrue:
			f.Saturated = strings.TrimSuffix(c.Message, ".")
		case c.Type == snapshot.ConditionPaused:
			f.Paused = c.Status == metav1.ConditionTrue
		}
	}
	if s.Objective != nil && objective.Verdict(s.Objective.Verdict) == objective.AtMaxReplicas {
		f.AtMaxReplicas = strings.TrimSuffix(s.Objective.Message, ".")
	}
	return f
}

// saturatedPeriod is the newest time within the day at which the demand was no less than what was seen; empty where there was none.
func saturatedPeriod(repairs []inspect.Classification) string {
	for _, r := range slices.Backward(repairs) {
		if r.Kind == string(demand.Censored) {
			const clock = "15:04"
			return fmt.Sprintf("from %s to %s UTC: %s", r.From.UTC().Format(clock), r.To.UTC().Format(clock),
				strings.TrimSuffix(r.Message, "."))
		}
	}
	return ""
}

func valueOrNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// steepestRise is the largest rise of a demand within a time; of NaN where it never rose.
func steepestRise(recent []inspect.Sample, within time.Duration) explain.Rise {
	largest := explain.Rise{From: math.NaN(), To: math.NaN()}
	for i := range recent {
		from := valueOrNaN(recent[i].Observed)
		for j := i + 1; j < len(recent) && recent[j].Time.Sub(recent[i].Time.Time) <= within; j++ {
			to := valueOrNaN(recent[j].Observed)
			if rise := to - from; rise > 0 && !(rise <= largest.To-largest.From) {
				largest = explain.Rise{From: from, To: to}
			}
		}
	}
	return largest
}

// selectorLabels is the view of the Forecast that a metric asks for.
func selectorLabels(from *hpa.AutoscalerMetric) map[string]string {
	out := maps.Clone(servedAs(from).Labels)
	delete(out, "scaledobject.keda.sh/name") // KEDA's own, which says whose metric it is.
	return out
}

func joinLabels(asked map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		out = append(out, key+"="+asked[key])
	}
	return strings.Join(out, ", ")
}
