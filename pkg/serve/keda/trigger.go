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
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

// The keys of a trigger's metadata, beside those of a selection.
const (
	keyForecast   = "forecast"
	keyTarget     = "target"
	keyActivation = "activation"
)

func ownKeys() []string { return []string{keyForecast, keyTarget, keyActivation} }

// trigger is what a ScaledObject's trigger asks for.
type trigger struct {
	// forecast is in the ScaledObject's namespace, whatever the metadata say.
	forecast  snapshot.Key
	selection decide.Selection
	// target is what one replica carries; 0 means what the Forecast says.
	target     float64
	activation float64
}

// read is the trigger that a reference describes. All its faults are in one error, InvalidArgument.
func read(ref *pb.ScaledObjectRef) (trigger, error) {
	metadata := ref.GetScalerMetadata()
	t := trigger{forecast: snapshot.Key{Namespace: ref.GetNamespace(), Name: metadata[keyForecast]}}
	var problems []string
	note := func(err error) {
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	if t.forecast.Namespace == "" {
		note(errors.New("the request names no namespace, which is the ScaledObject's own"))
	}
	note(checkName(t.forecast.Name))
	var err error
	if text, stated := metadata[keyTarget]; stated {
		t.target, err = readTarget(text)
		note(err)
	}
	if text, stated := metadata[keyActivation]; stated {
		t.activation, err = quantity(keyActivation, text)
		note(err)
	}
	t.selection, err = readSelection(metadata)
	note(err)
	if len(problems) > 0 {
		return trigger{}, status.Errorf(codes.InvalidArgument, "trigger of %.64q in namespace %.64q: %s",
			ref.GetName(), ref.GetNamespace(), strings.Join(problems, "; "))
	}
	return t, nil
}

func checkName(name string) error {
	const advice = "write the name of a Forecast in the ScaledObject's own namespace, for example llama-inflight"
	switch {
	case name == "":
		return errors.New(keyForecast + " is missing, " + advice)
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return fmt.Errorf("%s=%.64q is not a name, %s", keyForecast, name, advice)
	}
	return nil
}

// readTarget is above 0: the HPA divides by it.
func readTarget(text string) (float64, error) {
	target, err := quantity(keyTarget, text)
	if err == nil && target == 0 {
		return 0, fmt.Errorf("%s=%.64q is less than a thousandth, write what one replica carries, for example 64",
			keyTarget, text)
	}
	return target, err
}

// readSelection is what the metadata ask beside the Forecast's own settings, under the rules of a metric's selector.
func readSelection(metadata map[string]string) (decide.Selection, error) {
	asked := maps.Clone(metadata)
	maps.DeleteFunc(asked, func(key, _ string) bool { return slices.Contains(ownKeys(), key) || isKEDAs(key) })
	selection, err := decide.ParseSelection(asked)
	if err != nil {
		return decide.Selection{}, explain(asked)
	}
	return selection, nil
}

// isKEDAs says whether KEDA reads a key itself. It hands on all metadata, those that tell it how to call included; what
// comes from a TriggerAuthentication (certificates and keys) stays with it.
func isKEDAs(key string) bool {
	return key == "scalerAddress" || key == "enableTLS" || key == "unsafeSsl"
}

// explain is what is wrong with a selection, with the keys of a trigger in place of those of a selector.
func explain(asked map[string]string) error {
	var problems []error
	valid := decide.SelectionKeys()
	known := maps.Clone(asked)
	maps.DeleteFunc(known, func(key, _ string) bool { return !slices.Contains(valid, key) })
	if _, err := decide.ParseSelection(known); err != nil {
		problems = append(problems, err)
	}
	if unknown := slices.Sorted(maps.Keys(asked)); len(known) < len(asked) {
		unknown = slices.DeleteFunc(unknown, func(key string) bool { return slices.Contains(valid, key) })
		all := slices.Sorted(slices.Values(append(valid, ownKeys()...)))
		problems = append(problems,
			fmt.Errorf("unknown key %s, valid keys are %s", some(unknown), strings.Join(all, ", ")))
	}
	lines := make([]string, len(problems))
	for i, err := range problems {
		lines[i] = strings.TrimPrefix(err.Error(), decide.ErrSelection.Error()+": ")
	}
	return errors.New(strings.Join(lines, "; "))
}

// some quotes the first few of many keys: an error must stay readable, and fit into a header.
func some(keys []string) string {
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

// carries is what one replica carries: the trigger's own target, or else the Forecast's. The trigger's own is known before
// there is any snapshot.
func (t *trigger) carries(newest *snapshot.Snapshot) (float64, error) {
	if newest == nil && t.target > 0 {
		return t.target, nil
	}
	entry, err := find(newest, t.forecast)
	if err != nil || t.target > 0 {
		return t.target, err
	}
	target := math.Round(entry.Policy.Target*1000) / 1000
	switch {
	case target > 0 && carriable(target) == nil:
		return target, nil
	case entry.State == snapshot.Invalid:
		return 0, status.Errorf(codes.Unavailable, "forecast %s: %s", t.forecast, entry.Why())
	case entry.Policy.Target != 0:
		return 0, status.Errorf(codes.InvalidArgument,
			"forecast %s: scaling.target %g is no target of a metric, which is from "+
				"0.001 to %.3g: state the demand in another unit", t.forecast, entry.Policy.Target, float64(most))
	}
	return 0, status.Errorf(codes.InvalidArgument,
		"forecast %s says not what one replica carries: set %s in the trigger's "+
			"metadata, or scaling.target in the Forecast", t.forecast, keyTarget)
}

// most is the first value whose thousandths overflow an int64. The HPA reads every metric in thousandths, so that a larger
// one would arrive as a wrong number.
const most = math.MaxInt64 / 1000

// carriable is nil for what a metric can carry: from 0 to most. NaN is not.
func carriable(value float64) error {
	if value >= 0 && value < most {
		return nil
	}
	return fmt.Errorf("no metric can carry the value: %g is not from 0 to %.3g, state the demand in a larger unit",
		value, float64(most))
}

// thousandths rounds a demand up to the metric's resolution, so that it never asks for less than the forecast.
func thousandths(demand float64) float64 { return math.Ceil(demand*1000) / 1000 }

// whole rounds up to what the fields of old KEDAs hold.
func whole(value float64) int64 { return int64(math.Ceil(value)) }

// quantity reads a demand as an HPA's targets are written: 64, 0.5, 500m, 4k, 1e3.
func quantity(key, text string) (float64, error) {
	const example = "write for example 64, 0.5 or 4k"
	if !v1alpha1.BoundedQuantity(text) {
		return 0, fmt.Errorf("%s=%.64q is not a quantity, %s", key, text, example)
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, fmt.Errorf("%s=%.64q is not a quantity, %s", key, text, example)
	}
	value := math.Round(q.AsApproximateFloat64()*1000) / 1000
	if !(value >= 0 && value < most) {
		return 0, fmt.Errorf("%s=%.64q is not from 0 to %.3g, %s", key, text, float64(most), example)
	}
	return value, nil
}
