package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// Workloads are those that are scaled or have GPUs, sorted by namespace and name. Autoscalers that cannot be read are added to Unread.
func Workloads(found *Objects) []*Workload {
	rows, existing := map[leadtime.Workload]*Workload{}, []*v1alpha1.Forecast(nil)
	at := func(w leadtime.Workload) *Workload {
		key := leadtime.Workload{Namespace: w.Namespace, Name: w.Ref()} // The version does not matter.
		if rows[key] == nil {
			id := w.Kind + "/" + w.Name
			rows[key] = &Workload{Namespace: w.Namespace, Workload: id, Name: w.Name + "-inflight", ref: w}
		}
		return rows[key]
	}
	for _, object := range found.Objects {
		switch object.GetKind() {
		case v1alpha1.ForecastKind:
			f, err := &v1alpha1.Forecast{}, manifest.CheckQuantities(object.Object)
			if err == nil && runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, f) == nil {
				existing = append(existing, f)
			}
		case hpa.KindHPA, hpa.KindScaledObject:
			switch scaler, err := autoscaler.FromObject(object); {
			case err != nil:
				found.Unread = append(found.Unread, objectName(object)+" cannot be read: "+err.Error())
			case scaler.Owner == "": // Otherwise its owner counts.
				w := at(scaler.Workload)
				w.scalers, w.ScaledBy = append(w.scalers, scaler), append(w.ScaledBy, scaler.Ref())
			}
		default:
			owner := metav1.GetControllerOf(object)
			isPart := owner != nil && owner.Kind == "LeaderWorkerSet" // Its owner counts instead.
			if gpus := countGPUs(object.Object["spec"]); gpus > 0 && !isPart {
				at(leadtime.Workload{
					Namespace: object.GetNamespace(), APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Name: object.GetName(),
				}).gpus = gpus
			}
		}
	}
	return settle(rows, existing)
}

// settle sorts the workloads. It leaves out workloads that have a Forecast, and workloads whose Forecast would have a name that is already
// in use.
func settle(rows map[leadtime.Workload]*Workload, existing []*v1alpha1.Forecast) []*Workload {
	out, taken := slices.Collect(maps.Values(rows)), map[string]bool{}
	slices.SortFunc(out, func(a, b *Workload) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Workload, b.Workload))
	})
	for _, f := range existing {
		taken[f.Namespace+"/"+f.Name] = true
	}
	for _, r := range out {
		slices.Sort(r.ScaledBy)
		i := slices.IndexFunc(existing, func(f *v1alpha1.Forecast) bool {
			return f.Namespace == r.Namespace && manifest.IsWorkload(f, r.ref.Ref())
		})
		key := r.Namespace + "/" + r.Name
		switch {
		case i >= 0:
			r.LeftOut = "it already has a Forecast: " + existing[i].Name
		case taken[key]:
			r.LeftOut = "another workload already has the Forecast " + r.Name
		}
		taken[key] = true
	}
	return out
}

// countGPUs adds up the accelerators in the limits of containers. Kubernetes requires their requests to be equal to the limits.
func countGPUs(node any) (n int64) {
	switch v := node.(type) {
	case []any:
		for _, child := range v {
			n += countGPUs(child)
		}
	case map[string]any:
		if size, found := v["size"].(int64); found && v["workerTemplate"] != nil { // The group of a LeaderWorkerSet.
			return size * countGPUs(v["workerTemplate"])
		}
		for key, child := range v {
			amount, err := strconv.ParseUint(fmt.Sprint(child), 10, 16)
			if err == nil && accelerator.MatchString(key) {
				n += int64(amount)
			} else if key != "requests" && key != "initContainers" {
				n += countGPUs(child)
			}
		}
	}
	return n
}

// accelerator matches the beginning of the resource names of accelerators.
var accelerator = regexp.MustCompile(
	`^(nvidia\.com/|amd\.com/gpu|gpu\.intel\.com/|habana\.ai/gaudi|google\.com/tpu|aws\.amazon\.com/neuron)`)

// Create creates the Forecasts that were written. One that is there stays as it is.
func Create(ctx context.Context, found *Objects, rows []*Workload) error {
	if slices.Contains(found.Forbidden, v1alpha1.ForecastKind) {
		return errors.New("--apply needs permission to list forecasts.forewarm.dev, so that no workload gets a " +
			"second Forecast: nothing was created")
	}
	var problems []error
	for _, r := range rows {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(r.Manifest), &object.Object); err != nil || r.Manifest == "" {
			continue
		}
		_, err := found.Client.Resource(WorkloadKinds()[v1alpha1.ForecastKind]).Namespace(r.Namespace).
			Create(ctx, object, metav1.CreateOptions{FieldManager: "forewarm-init"})
		if r.Created = err == nil; err != nil {
			problems = append(problems, fmt.Errorf("create Forecast %s/%s: %w", r.Namespace, r.Name, err))
		}
	}
	return errors.Join(problems...)
}
