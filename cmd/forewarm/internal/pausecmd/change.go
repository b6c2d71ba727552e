package pausecmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// fieldManager owns the annotation. Flux removes what managers named kubectl… write.
const fieldManager = "forewarm-pause"

// result is what became of one Forecast. State, Observed and Served are those of its status before; empty where unknown.
type result struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	State     string `json:"state,omitempty"`
	Observed  string `json:"observed,omitempty"`
	Served    string `json:"served,omitempty"`
	// WillServe is what is served from now on, in words.
	WillServe string `json:"willServe,omitempty"`
	// Result is done, unchanged or failed.
	Result string `json:"result"`
	Error  string `json:"error,omitempty"`
}

func (r result) failed(err error) result {
	r.Result, r.Error = "failed", fmt.Sprintf("%.400s", err)
	return r
}

// change sets or removes the annotation of Forecasts.
type change struct {
	client        dynamic.NamespaceableResourceInterface
	pause, dryRun bool
}

// named changes those of names in a namespace.
func (c *change) named(ctx context.Context, namespace string, names []string) []result {
	out := make([]result, 0, len(names))
	for _, name := range names {
		object, err := c.client.Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			out = append(out, result{Namespace: namespace, Name: name}.failed(err))
			continue
		}
		out = append(out, c.apply(ctx, object))
	}
	return out
}

// listed changes all of a namespace, or of all where it is empty.
func (c *change) listed(ctx context.Context, namespace string) ([]result, error) {
	all, err := cmdline.ListAll(ctx, c.client.Namespace(namespace))
	if err != nil {
		return nil, fmt.Errorf("list the Forecasts: %w", err)
	}
	out := make([]result, 0, len(all))
	for i := range all {
		out = append(out, c.apply(ctx, &all[i]))
	}
	return out, nil
}

// apply changes one object, unless it is as asked.
func (c *change) apply(ctx context.Context, object *unstructured.Unstructured) result {
	field := func(path ...string) string {
		text, _, err := unstructured.NestedString(object.Object, path...)
		if err != nil {
			return "" // Another type is unknown, too.
		}
		return text
	}
	r := result{
		Namespace: object.GetNamespace(), Name: object.GetName(), State: field("status", "state"), Result: "unchanged",
		Observed: field("status", "observed"), Served: field("status", "served"),
		WillServe: cmp.Or(field("spec", "serve"), "Floor"),
	}
	value, annotated := object.GetAnnotations()[manifest.PauseAnnotation]
	var wanted any // None removes it.
	if c.pause {
		wanted, r.WillServe = "true", "observed × capacity ÷ the target before"
		_, stated, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "scaling", "before")
		if err != nil || !stated {
			r.WillServe = "observed ÷ " + humanize.ShareAsWritten(objective.AssumedTarget) + " (before is assumed)"
		}
	}
	if c.pause && value == wanted || !c.pause && !annotated {
		return r
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{manifest.PauseAnnotation: wanted},
	}})
	if err != nil {
		return r.failed(err)
	}
	options := metav1.PatchOptions{FieldManager: fieldManager}
	if c.dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, err = c.client.Namespace(r.Namespace).Patch(ctx, r.Name, types.MergePatchType, patch, options)
	if r.Result = "done"; err != nil {
		r = r.failed(err)
	}
	return r
}
