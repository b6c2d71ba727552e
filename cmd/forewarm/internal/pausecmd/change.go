package pausecmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// fieldManager owns the annotation. Flux reverts what managers named kubectl… write.
const fieldManager = "forewarm-pause"

// The results of a Forecast.
const (
	doneResult      = "done"
	unchangedResult = "unchanged"
	failedResult    = "failed"
)

// result is what became of one Forecast. State, Observed and Serves are those of its status before; empty where unknown.
type result struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	State     string `json:"state,omitempty"`
	Observed  string `json:"observed,omitempty"`
	Serves    string `json:"serves,omitempty"`
	// WillServe is what is served from now on, in words.
	WillServe string `json:"willServe,omitempty"`
	Result    string `json:"result"`
	Error     string `json:"error,omitempty"`

	missing bool
}

func (r *result) fail(err error) {
	r.Result, r.Error, r.missing = failedResult, fmt.Sprintf("%.400s", err), apierrors.IsNotFound(err)
}

// change sets or removes the annotation.
type change struct {
	client        dynamic.NamespaceableResourceInterface
	pause, dryRun bool
}

// named changes those of names, NAMESPACE/NAME or NAME.
func (c *change) named(ctx context.Context, namespace string, names []string) []result {
	out := make([]result, 0, len(names))
	for _, arg := range names {
		r := result{Namespace: namespace, Name: arg}
		if in, name, slash := strings.Cut(arg, "/"); slash {
			r.Namespace, r.Name = in, name
		}
		object, err := c.client.Namespace(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
		if err != nil {
			r.fail(err)
		} else {
			r = c.apply(ctx, object)
		}
		out = append(out, r)
	}
	return out
}

// listed changes all of a namespace, or of all where it is empty.
func (c *change) listed(ctx context.Context, namespace string) ([]result, error) {
	var out []result
	for options := (metav1.ListOptions{Limit: 500}); ; {
		page, err := c.client.Namespace(namespace).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("list the Forecasts: %w", err)
		}
		for i := range page.Items {
			out = append(out, c.apply(ctx, &page.Items[i]))
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return out, nil
		}
	}
}

// apply changes one object, unless it is as asked.
func (c *change) apply(ctx context.Context, object *unstructured.Unstructured) result {
	field := func(path ...string) string {
		text, _, _ := unstructured.NestedString(object.Object, path...) //nolint:errcheck // Another type is unknown, too.
		return text
	}
	r := result{
		Namespace: object.GetNamespace(), Name: object.GetName(), State: field("status", "state"),
		Observed: field("status", "observed"), Serves: field("status", "served"), Result: unchangedResult,
		WillServe: cmp.Or(field("spec", "serve"), "Floor"),
	}
	value, annotated := object.GetAnnotations()[manifest.PauseAnnotation]
	wanted := any(nil)
	if c.pause {
		r.WillServe = "observed × capacity ÷ the target before"
		if scaling, _, _ := unstructured.NestedMap(object.Object, "spec", "scaling", "before"); scaling == nil { //nolint:errcheck // As above.
			r.WillServe = "observed ÷ " + humanize.ShareAsWritten(objective.AssumedTarget) + " (before is assumed)"
		}
		wanted = "true"
	}
	if c.pause && value == wanted || !c.pause && !annotated {
		return r
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{manifest.PauseAnnotation: wanted},
	}})
	if err != nil {
		r.fail(err)
		return r
	}
	options := metav1.PatchOptions{FieldManager: fieldManager}
	if c.dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, err = c.client.Namespace(r.Namespace).Patch(ctx, r.Name, types.MergePatchType, patch, options)
	if r.Result = doneResult; err != nil {
		r.fail(err)
	}
	return r
}
