package client

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// PauseConfig says which Forecasts are paused, or are resumed.
type PauseConfig struct {
	// Names are those of a namespace; without any, all of the namespace, or of all namespaces if it is empty.
	Namespace string
	Names     []string
	Resume    bool
	// DryRun asks the cluster whether it would work, and changes nothing.
	DryRun bool
}

// PauseResult is the result for one Forecast.
type PauseResult struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Result    string `json:"result"`
	Message   string `json:"message,omitempty"`
}

// Values of PauseResult.
const (
	PauseDone      = "done"
	PauseUnchanged = "unchanged"
	PauseFailed    = "failed"
)

// Pause sets or removes the annotation of Forecasts. It returns a result for each Forecast, and an error if it cannot list them.
func Pause(ctx context.Context, objects dynamic.Interface, c PauseConfig) ([]PauseResult, error) {
	forecasts := objects.Resource(v1alpha1.GroupVersion().WithResource("forecasts"))
	all := []PauseResult{}
	for _, name := range c.Names {
		object, err := forecasts.Namespace(c.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			all = append(all, PauseResult{c.Namespace, name, PauseFailed, fmt.Sprintf("%.400s", err)})
			continue
		}
		all = append(all, pause(ctx, forecasts, object, c))
	}
	if len(c.Names) > 0 {
		return all, nil
	}
	found, err := ListAll(ctx, forecasts.Namespace(c.Namespace))
	if err != nil {
		return nil, fmt.Errorf("list the Forecasts: %w", err)
	}
	for i := range found {
		all = append(all, pause(ctx, forecasts, &found[i], c))
	}
	return all, nil
}

// pause sets or removes the annotation of one object, unless the object already is in that state.
func pause(
	ctx context.Context,
	forecasts dynamic.NamespaceableResourceInterface,
	object *unstructured.Unstructured,
	c PauseConfig,
) PauseResult {
	r := PauseResult{Namespace: object.GetNamespace(), Name: object.GetName(), Result: PauseUnchanged}
	value, annotated := object.GetAnnotations()[v1alpha1.PauseAnnotation]
	wanted := `"true"`
	if c.Resume {
		wanted = "null" // null removes the annotation.
	} else if _, stated, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "scaling", "before"); err != nil ||
		!stated {
		r.Message = "spec.scaling.before is not set, so the target of the previous HPA is assumed to be " +
			humanize.ShareAsWritten(objective.AssumedTarget) + " of what a replica sustains"
	}
	if !c.Resume && value == "true" || c.Resume && !annotated {
		return r
	}
	// Flux removes fields whose field manager has a name that begins with kubectl.
	options := metav1.PatchOptions{FieldManager: "forewarm-pause"}
	if c.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %s}}}`, v1alpha1.PauseAnnotation, wanted)
	_, err := forecasts.Namespace(r.Namespace).Patch(ctx, r.Name, types.MergePatchType, []byte(patch), options)
	if r.Result = PauseDone; err != nil {
		r.Result, r.Message = PauseFailed, fmt.Sprintf("%.400s", err)
	}
	return r
}
