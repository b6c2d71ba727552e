package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/status"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// File is an autoscaler's manifest, and what to assume of its metrics and its target.
type File struct {
	// Path of the file, for errors, and its Data.
	Path string
	Data []byte
	// Autoscaler of the file to explain, by its name or KIND/NAME; empty for the only one.
	Autoscaler string
	// Namespace replaces that of the autoscaler; empty to keep it.
	Namespace string
	// Server is a standalone Forewarm that serves the metrics of Forecasts; nil for none.
	Server *rest.Config
	// Values of the metrics as the flag --value has them: VALUE for the only metric, or NAME=VALUE. A metric without one has
	// that of the Server or, if it names no Forecast of it, that of the file's status.
	Values []string
	// Replicas and the Ready ones of them; Unset for those of the file's status, and for all.
	Replicas, Ready int32
	// Lead is the time from "more replicas" to "ready"; 0 if unknown.
	Lead time.Duration
	// Now is the time of the readings.
	Now time.Time
	// CheckTrigger says why Forewarm's scaler refuses a trigger of a ScaledObject; nil to check none.
	CheckTrigger func(namespace, name string, metadata map[string]string) error
}

// Unset is a number of replicas that is not given.
const Unset = -1

// AssumptionError says which Values, Replicas or Ready of a File are missing or do not fit its autoscaler.
type AssumptionError struct{ error }

// FromFile explains an autoscaler of a file.
func FromFile(ctx context.Context, f *File) (*explain.Explanation, error) {
	all, err := autoscaler.Read(f.Path, f.Data)
	if err != nil {
		return nil, err
	}
	one, err := autoscaler.FindManifest(all, f.Autoscaler)
	if err != nil {
		return nil, err
	}
	one.Namespace = cmp.Or(f.Namespace, one.Namespace)
	f.checkTriggers(&one.Autoscaler)
	s, err := explain.FromAutoscaler(&one.Autoscaler)
	if err != nil {
		return nil, one.Errorf("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if err := f.readServer(ctx, one.Namespace, &s); err != nil {
		return nil, err
	}
	if err := errors.Join(f.setScale(&s), f.setValues(&s)); err != nil {
		return nil, AssumptionError{err}
	}
	if one.Kind == hpa.KindHPA && one.Min == 0 {
		s.Unknown = append(s.Unknown, "the version of the cluster: minReplicas 0 needs Kubernetes 1.37 or later, "+
			"or the feature gate HPAScaleToZero")
	}
	s.Now, s.Lead = f.Now, f.Lead
	return explain.Explain(&s)
}

// checkTriggers refuses the triggers that Forewarm's scaler refuses: KEDA gets no metric of them.
func (f *File) checkTriggers(a *hpa.Autoscaler) {
	if f.CheckTrigger == nil {
		return
	}
	for i := range a.Metrics {
		m := &a.Metrics[i]
		if a.Kind != hpa.KindScaledObject || m.Forecast == "" && m.Fleet == "" {
			continue
		}
		if err := f.CheckTrigger(a.Namespace, a.Name, m.Metadata); err != nil {
			m.Refused, m.Target = "Forewarm refuses it, so KEDA has no metric for the HPA: "+status.Convert(err).
				Message(),
				0
		}
	}
}

// readServer reads the metrics that name a Forecast, and these Forecasts, from the server.
func (f *File) readServer(ctx context.Context, namespace string, s *explain.Input) error {
	if f.Server == nil {
		return nil
	}
	r, err := newReader(Config{Cluster: f.Server, Namespace: namespace})
	if err != nil {
		return err
	}
	seen := &reading{Input: *s}
	for i := range seen.Metrics {
		if of := seen.Metrics[i].Of; of.Forecast != "" || of.Fleet != "" {
			r.readMetric(ctx, seen, i)
		}
		if m := &seen.Metrics[i]; m.Forecast == nil && m.Reading.Err != nil { // It is not Forewarm's.
			seen.note("metric %s on %s: %s", m.Of.Name, f.Server.Host, m.Reading.Err)
			m.Reading = hpa.Reading{}
		}
	}
	*s = seen.Input
	return nil
}

// setScale fills in the replicas.
func (f *File) setScale(s *explain.Input) error {
	at, ready := f.Replicas, f.Ready
	if at == Unset && s.Live != nil {
		at = s.Live.Current
	}
	if ready == Unset {
		ready = at
	}
	switch {
	case at == Unset:
		return errors.New("the number of replicas is missing, and the file has no status: " +
			"add for example --replicas 12")
	case ready > at:
		return fmt.Errorf("--ready %d is more than the %d replicas", ready, at)
	}
	s.Scale = explain.Scale{Replicas: at, Existing: at, Pods: at, Ready: ready}
	return nil
}

// setValues fills in the readings: those given, else those of the status.
func (f *File) setValues(s *explain.Input) error {
	given, err := f.byName(s)
	if err != nil {
		return err
	}
	var missing []string
	for i := range s.Spec.Metrics {
		name, from := s.Spec.Metrics[i].Name, "--value"
		milli, found := given[name]
		if !found && (s.Metrics[i].From != "" || s.Metrics[i].Reading.Err != nil) { // The server said it.
			continue
		}
		if !found {
			from = "the file's status"
			milli, found = byStatus(s, i)
		}
		if !found {
			missing = append(missing, fmt.Sprintf("--value %s=180", name))
			continue
		}
		if milli < 0 && s.Scaler.Scales {
			s.Unknown = append(s.Unknown, "the version of KEDA: the value of "+name+
				" is negative. This explanation assumes KEDA 2.20.2 or later, which reports it as 0. With an earlier KEDA "+
				"the HPA scales to its maximum")
			milli = 0
		}
		s.Metrics[i].Reading, s.Metrics[i].From = hpa.Reading{Values: []int64{milli}}, from
	}
	if len(missing) > 0 {
		text := "values of metrics are missing: add " + strings.Join(missing, " ")
		if f.Server != nil {
			text += " (" + strings.Join(s.Unknown, "; ") + ")"
		}
		return errors.New(text)
	}
	return nil
}

// byName are the given values in milli-units. A value without a name is that of the only metric.
func (f *File) byName(s *explain.Input) (map[string]int64, error) {
	names := make([]string, len(s.Spec.Metrics))
	for i := range names {
		names[i] = s.Spec.Metrics[i].Name
	}
	listed := listMetrics(names, s.Uncomputed)
	if len(names) == 0 && len(f.Values) > 0 {
		return nil, fmt.Errorf("--value %.64q: explain computes only External and Object metrics, and the "+
			"file's autoscaler has none%s", f.Values[0], listed)
	}
	given := map[string]int64{}
	for _, text := range f.Values {
		i := strings.LastIndex(text, "=") // A name may hold a =.
		if i < 0 && len(names) != 1 {
			const several = "--value %.64q: the file's autoscaler has %d metrics that can be computed%s: write NAME=VALUE"
			return nil, fmt.Errorf(several, text, len(names), listed)
		}
		metric := names[0]
		if i >= 0 {
			metric = nameOf(s, text[:i])
		}
		milli, err := parseValue(text[i+1:])
		if err != nil {
			return nil, err
		}
		if _, twice := given[metric]; twice {
			return nil, fmt.Errorf("--value for %.64q is given twice, keep one", metric)
		}
		if !slices.Contains(names, metric) {
			const none = "--value %.64q: the file's autoscaler has no metric of this name that can be computed%s"
			return nil, fmt.Errorf(none, text, listed)
		}
		given[metric] = milli
	}
	return given, nil
}

// nameOf returns the name of the metric that is called so, or whose trigger is.
func nameOf(s *explain.Input, called string) string {
	for i := range s.Metrics {
		if of := s.Metrics[i].Of; of.Trigger == called && called != "" {
			return of.Name
		}
	}
	return called
}

// listMetrics are the metrics by their names, and those that are not computed with their types.
func listMetrics(names []string, uncomputed []explain.UncomputedMetric) string {
	var parts, others []string
	if len(names) > 0 {
		parts = append(parts, strings.Join(names, ", "))
	}
	for i := range uncomputed {
		text := uncomputed[i].Name + " of type " + uncomputed[i].Type
		if why := uncomputed[i].Why; why != "" {
			text += ": " + why
		}
		others = append(others, text)
	}
	if len(others) > 0 {
		parts = append(parts, "not computed: "+strings.Join(others, "; "))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// parseValue reads a quantity in milli-units, rounded up as the metrics API would.
func parseValue(text string) (int64, error) {
	q, err := parse.Quantity(text)
	if err != nil {
		return 0, fmt.Errorf("--value %w", err)
	}
	if v := q.AsApproximateFloat64(); !(math.Abs(v) < hpa.MaxValue) {
		return 0, fmt.Errorf("--value %.64q is above the largest value of the metrics API, %.3g", text,
			float64(hpa.MaxValue))
	}
	return q.MilliValue(), nil
}

// byStatus is a metric's value by the HPA's status, in milli-units: the status has an AverageValue over the replicas.
func byStatus(s *explain.Input, i int) (milli int64, found bool) {
	if s.Metrics[i].InStatus == nil {
		return 0, false
	}
	milli = *s.Metrics[i].InStatus
	if s.Spec.Metrics[i].Type == hpa.AverageValue {
		if n := int64(s.Live.Current); n > 0 && milli > math.MaxInt64/n {
			return 0, false
		}
		milli *= int64(s.Live.Current)
	}
	return milli, true
}
