package keda

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

// The keys of a trigger's metadata, in addition to the keys of a selection.
const (
	keyForecast   = "forecast"
	keyFleet      = "fleet"
	keyBatch      = "batch"
	keyTarget     = "target"
	keyActivation = "activation"
)

func ownKeys() []string { return []string{keyForecast, keyFleet, keyBatch, keyTarget, keyActivation} }

// trigger is the parsed metadata of a trigger of a ScaledObject or a ScaledJob.
type trigger struct {
	// forecast is always in the ScaledObject's namespace, as is the fleet. One of them has a name.
	forecast, fleet snapshot.Key
	// batch is the consumer of the fleet's spare GPUs.
	batch     string
	selection decide.Overrides
	// target is the demand that one replica serves; 0 means that the Forecast's target applies.
	target float64
	// activation is the demand above which the workload is active; negative if the trigger does not specify it.
	activation float64
}

// parseTrigger parses a trigger. The error is InvalidArgument and lists all problems of the trigger.
func parseTrigger(ref *pb.ScaledObjectRef) (trigger, error) {
	metadata := ref.GetScalerMetadata()
	t := trigger{
		forecast: snapshot.Key{Namespace: ref.GetNamespace(), Name: metadata[keyForecast]},
		fleet:    snapshot.Key{Namespace: ref.GetNamespace(), Name: metadata[keyFleet]},
		batch:    metadata[keyBatch], activation: -1,
	}
	var problems []string
	note := func(err error) {
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	if t.forecast.Namespace == "" {
		note(errors.New("the request has no namespace: it must be the namespace of the ScaledObject"))
	}
	_, ofFleet := metadata[keyFleet]
	_, ofBatch := metadata[keyBatch]
	if ofFleet || ofBatch {
		t.checkFleet(note)
	} else {
		note(checkName(keyForecast, t.forecast.Name, "Forecast", "llama-inflight"))
	}
	var err error
	if text, stated := metadata[keyTarget]; stated {
		t.target, err = parseTarget(text)
		if err == nil && t.fleet.Name != "" && t.target < 1 {
			const advice = "target=%.64q would start more replicas than may run: remove it from a trigger of a fleet"
			err = fmt.Errorf(advice, text)
		}
		note(err)
	}
	if text, stated := metadata[keyActivation]; stated {
		t.activation, err = parseQuantity(keyActivation, text)
		note(err)
	}
	t.selection, err = parseSelection(metadata)
	note(err)
	if err == nil && t.fleet.Name != "" && t.selection != (decide.Overrides{}) {
		note(fmt.Errorf("%s select a value of a Forecast: remove them from a trigger of a fleet",
			strings.Join(decide.SelectorKeys(), ", ")))
	}
	if len(problems) > 0 {
		return trigger{}, status.Errorf(codes.InvalidArgument, "trigger of %.64q in namespace %.64q: %s",
			ref.GetName(), ref.GetNamespace(), strings.Join(problems, "; "))
	}
	return t, nil
}

// CheckTrigger says why Forewarm refuses a trigger of a ScaledObject, as KEDA hears it; nil if it accepts it.
func CheckTrigger(namespace, name string, metadata map[string]string) error {
	_, err := parseTrigger(&pb.ScaledObjectRef{Namespace: namespace, Name: name, ScalerMetadata: metadata})
	return err
}

func checkName(key, name, kind, example string) error {
	var problem string
	switch {
	case name == "":
		problem = key + " is missing"
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		problem = fmt.Sprintf("%s=%.64q is not a valid name", key, name)
	default:
		return nil
	}
	const advice = "%s: write the name of a %s in the namespace of the ScaledObject, for example %s"
	return fmt.Errorf(advice, problem, kind, example)
}

// checkFleet notes every problem of a trigger that has a fleet or a batch.
func (t *trigger) checkFleet(note func(error)) {
	note(checkName(keyFleet, t.fleet.Name, "GPUFleet", "h100"))
	if t.batch == "" {
		const advice = "write the name of a consumer in spec.batch of the GPUFleet, for example embeddings"
		note(errors.New(keyBatch + " is missing: " + advice))
	}
	if t.forecast.Name != "" {
		note(errors.New(keyForecast + " and " + keyFleet + " exclude each other: keep one"))
	}
}

// metricName is the name of the trigger's metric.
func (t *trigger) metricName() string {
	if t.fleet.Name != "" {
		return t.fleet.Name + fleet.MetricSuffix
	}
	return t.forecast.Name
}

// parseTarget parses a target above 0: the HPA divides by it.
func parseTarget(text string) (float64, error) {
	target, err := parseQuantity(keyTarget, text)
	if err == nil && target == 0 {
		return 0, fmt.Errorf(
			"%s=%.64q is less than a thousandth: write the demand that one replica serves, for example 64", keyTarget,
			text,
		)
	}
	return target, err
}

// parseSelection parses the keys of a selection. The rules are the same as in a metric's selector.
func parseSelection(metadata map[string]string) (decide.Overrides, error) {
	asked := maps.Clone(metadata)
	maps.DeleteFunc(asked, func(key, _ string) bool { return slices.Contains(ownKeys(), key) || isKEDAKey(key) })
	selection, err := decide.ParseSelector(asked)
	if err != nil {
		return decide.Overrides{}, selectionError(asked)
	}
	return selection, nil
}

// isKEDAKey reports whether a key is for KEDA itself. KEDA forwards all metadata, except values from a TriggerAuthentication (certificates
// and keys).
func isKEDAKey(key string) bool {
	return key == "scalerAddress" || key == "enableTLS" || key == "unsafeSsl"
}

// selectionError lists the problems of a selection. It uses the keys of a trigger instead of the keys of a selector.
func selectionError(asked map[string]string) error {
	var problems []error
	valid := decide.SelectorKeys()
	known := maps.Clone(asked)
	maps.DeleteFunc(known, func(key, _ string) bool { return !slices.Contains(valid, key) })
	if _, err := decide.ParseSelector(known); err != nil {
		problems = append(problems, err)
	}
	if unknown := slices.Sorted(maps.Keys(asked)); len(known) < len(asked) {
		unknown = slices.DeleteFunc(unknown, func(key string) bool { return slices.Contains(valid, key) })
		all := slices.Sorted(slices.Values(append(valid, ownKeys()...)))
		problems = append(problems,
			fmt.Errorf("unknown key %s: valid keys are %s", quoteSome(unknown), strings.Join(all, ", ")))
	}
	lines := make([]string, len(problems))
	for i, err := range problems {
		lines[i] = strings.TrimPrefix(err.Error(), decide.ErrSelector.Error()+": ")
	}
	return errors.New(strings.Join(lines, "; "))
}

// quoteSome quotes only the first of many keys, so that an error stays readable and fits into a header.
func quoteSome(keys []string) string {
	const shown = 4
	quoted := make([]string, 0, shown)
	for _, key := range keys[:min(shown, len(keys))] {
		quoted = append(quoted, fmt.Sprintf("%.64q", key))
	}
	text := strings.Join(quoted, ", ")
	if more := len(keys) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// replicaTarget is the demand that one replica serves: the trigger's own target or, without one, the Forecast's target.
//
// The trigger's own target needs no Forecast. KEDA requests metrics only for the specs that it has received, and only
// failed requests for metrics count for a fallback (kedacore/keda#8056): if a missing Forecast had no spec, the fallback would
// never start.
func (t *trigger) replicaTarget(newest *snapshot.Snapshot) (float64, error) {
	switch {
	case t.target > 0:
		return t.target, nil
	case t.fleet.Name != "":
		return 1, nil // The metric is a number of replicas.
	}
	entry, err := findEntry(newest, t.forecast)
	if err != nil {
		return 0, err
	}
	target := math.Round(capacityOf(entry, t.selection.Variant)*1000) / 1000
	switch {
	case target > 0 && checkCarriable(target) == nil:
		return target, nil
	case entry.State == snapshot.Invalid:
		return 0, status.Errorf(codes.Unavailable, "forecast %s: %s", t.forecast, entry.ReadyMessage())
	case entry.Settings.Target != 0:
		return 0, status.Errorf(codes.InvalidArgument,
			"forecast %s: scaling.target %g is not between "+
				"0.001 and %.3g: use another unit for the demand", t.forecast, entry.Settings.Target, float64(hpa.MaxValue))
	}
	return 0, status.Errorf(codes.InvalidArgument,
		"forecast %s does not specify the demand that one replica serves: set %s in the trigger's "+
			"metadata, or scaling.target in the Forecast", t.forecast, keyTarget)
}

// capacityOf returns the demand that a replica of a variant sustains. Without a name, it returns the demand that a replica of the Forecast
// sustains.
func capacityOf(entry *snapshot.ForecastSnapshot, variant string) float64 {
	for i := range entry.Parts {
		if entry.Parts[i].Name == variant {
			return entry.Parts[i].Capacity
		}
	}
	return entry.Settings.Target
}

// checkCarriable rejects a value that no metric can have, see [hpa.Milli].
func checkCarriable(value float64) error {
	if _, ok := hpa.Milli(value); ok {
		return nil
	}
	return fmt.Errorf("value %g is not a valid metric value: expected 0 to %.3g; use a larger unit for the demand",
		value, float64(hpa.MaxValue))
}

// ceilThousandths rounds a demand up to the metric's resolution, so that it is never lower than the forecast.
func ceilThousandths(demand float64) float64 { return math.Ceil(demand*1000) / 1000 }

// ceilWhole rounds up for the integer fields of old KEDA versions.
func ceilWhole(value float64) int64 { return int64(math.Ceil(value)) }

// parseQuantity parses a demand in the notation of an HPA's targets: 64, 0.5, 500m, 4k, 1e3.
func parseQuantity(key, text string) (float64, error) {
	q, err := parse.Quantity(text)
	if err != nil {
		return 0, fmt.Errorf("%s=%w", key, err)
	}
	value := math.Round(q.AsApproximateFloat64()*1000) / 1000
	if !(value >= 0 && value < hpa.MaxValue) {
		return 0, fmt.Errorf("%s=%.64q is not between 0 and %.3g: write for example 64, 0.5 or 4k", key, text,
			float64(hpa.MaxValue))
	}
	return value, nil
}
