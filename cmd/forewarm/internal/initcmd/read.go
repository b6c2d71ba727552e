package initcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/files"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/manifest/strictyaml"
)

// inventory is what was read, and what was not, with the reason.
type inventory struct {
	cluster dynamic.Interface
	objects []*unstructured.Unstructured
	unread  []string
	// blind is true if the Forecasts could not be listed.
	blind bool
}

// kinds are those that are read.
func kinds() map[string]schema.GroupVersionResource {
	return map[string]schema.GroupVersionResource{
		"HorizontalPodAutoscaler": {Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
		"ScaledObject":            {Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"},
		"Deployment":              {Group: "apps", Version: "v1", Resource: "deployments"},
		"StatefulSet":             {Group: "apps", Version: "v1", Resource: "statefulsets"},
		"LeaderWorkerSet":         {Group: "leaderworkerset.x-k8s.io", Version: "v1", Resource: "leaderworkersets"},
		v1alpha1.ForecastKind:     v1alpha1.GroupVersion().WithResource("forecasts"),
	}
}

func (o *options) read(ctx context.Context) (*inventory, error) {
	if o.file != "" {
		return o.readFiles(ctx)
	}
	config, namespace, err := cmdline.LoadKubeconfig(ctx, o.kubeconfig, o.context)
	if err != nil {
		return nil, fmt.Errorf("%w; set one, or read manifests (--file DIR)", err)
	}
	if namespace = cmp.Or(o.namespace, namespace); o.all {
		namespace = metav1.NamespaceAll
	}
	config.UserAgent, config.Timeout, config.WarningHandlerWithContext = "forewarm-init", o.timeout, rest.NoWarnings{}
	v := &inventory{}
	if v.cluster, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds())) {
		if err := v.list(ctx, kind, namespace); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// list reads the objects of a kind. The cluster need not have the kind, nor the user the right.
func (v *inventory) list(ctx context.Context, kind, namespace string) error {
	resource, scope := kinds()[kind], "-n "+namespace
	if namespace == metav1.NamespaceAll {
		scope = "-A"
	}
	all, err := cmdline.ListAll(ctx, v.cluster.Resource(resource).Namespace(namespace))
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		v.blind = v.blind || kind == v1alpha1.ForecastKind
		v.unread = append(
			v.unread,
			fmt.Sprintf("%ss are not read: you may not list them (kubectl auth can-i list %s %s)",
				kind, resource.GroupResource(), scope),
		)
		return nil
	case err != nil:
		return fmt.Errorf("list %s: %w", resource.GroupResource(), err)
	}
	for i := range all {
		v.objects = append(v.objects, &all[i])
	}
	return nil
}

// readFiles reads a file, or the YAML and JSON below a folder.
func (o *options) readFiles(ctx context.Context) (*inventory, error) {
	const most = 2_000 // A wrong path, such as a home, is not read whole.
	v, n := &inventory{}, 0
	return v, filepath.WalkDir(o.file, func(path string, entry fs.DirEntry, err error) error {
		isManifest := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) || path == o.file
		if err != nil || entry.IsDir() || !isManifest {
			return err
		}
		n++
		if n > most {
			return fmt.Errorf("--file %s: more than %d files: name a smaller folder", o.file, most)
		}
		text, err := files.Read(ctx, path, strictyaml.MaxFile)
		if err != nil {
			return err
		}
		for _, d := range strictyaml.Documents(path, text) {
			if err := v.add(d, cmp.Or(o.namespace, metav1.NamespaceDefault)); err != nil {
				v.unread = append(v.unread, err.Error())
			}
		}
		return nil
	})
}

// add adds the object of a document. Other kinds are skipped.
func (v *inventory) add(d strictyaml.Document, namespace string) error {
	object := &unstructured.Unstructured{}
	switch _, known := kinds()[d.Text("kind")]; {
	case d.Broken != nil:
		return d.Broken.Err()
	case strings.HasSuffix(d.Text("kind"), "List"):
		return d.Err("a list is not read: write a document for each object, separated by ---")
	case !known:
		return nil
	}
	if err := d.Decode(&object.Object); err != nil {
		return d.Err(err.Error())
	}
	object.SetNamespace(cmp.Or(object.GetNamespace(), namespace))
	v.objects = append(v.objects, object)
	return nil
}

// workloads are those that are scaled or have GPUs, sorted by namespace and name.
func (v *inventory) workloads() []*row {
	rows, forecasts := map[leadtime.Workload]*row{}, []*v1alpha1.Forecast(nil)
	at := func(w leadtime.Workload) *row {
		key := leadtime.Workload{Namespace: w.Namespace, Name: w.Ref()} // Whatever the version.
		if rows[key] == nil {
			rows[key] = &row{
				Namespace: w.Namespace,
				Workload:  w.Kind + "/" + w.Name,
				Name:      w.Name + "-inflight",
				ref:       w,
			}
		}
		return rows[key]
	}
	for _, object := range v.objects {
		switch object.GetKind() {
		case v1alpha1.ForecastKind:
			f, err := &v1alpha1.Forecast{}, manifest.CheckQuantities(object.Object)
			if err == nil && runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, f) == nil {
				forecasts = append(forecasts, f)
			}
		case "HorizontalPodAutoscaler", "ScaledObject":
			v.autoscaled(object, at)
		default:
			if gpus := countGPUs(object.Object["spec"]); gpus > 0 && !isPart(object) {
				at(leadtime.Workload{
					Namespace: object.GetNamespace(), APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Name: object.GetName(),
				}).gpus = gpus
			}
		}
	}
	return settle(rows, forecasts)
}

// autoscaled adds an autoscaler to its workload. One that another object owns does not count: its owner does.
func (v *inventory) autoscaled(object *unstructured.Unstructured, at func(leadtime.Workload) *row) {
	switch outline, err := autoscaler.OutlineOf(object); {
	case err != nil:
		v.unread = append(v.unread, object.GetNamespace()+"/"+outline.Ref+" is not read: "+err.Error())
	case outline.Owner == "":
		r := at(outline.Workload)
		r.outlines, r.ScaledBy = append(r.outlines, outline), append(r.ScaledBy, outline.Ref)
	}
}

// isPart reports whether a workload belongs to a LeaderWorkerSet, which counts in its place.
func isPart(object *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(object)
	return owner != nil && owner.Kind == "LeaderWorkerSet"
}

// settle sorts the workloads, and leaves out those that have a Forecast, or whose Forecast's name another one has.
func settle(rows map[leadtime.Workload]*row, forecasts []*v1alpha1.Forecast) []*row {
	out, taken := slices.Collect(maps.Values(rows)), map[string]bool{}
	slices.SortFunc(out, func(a, b *row) int {
		return cmp.Or(
			cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Workload, b.Workload),
		)
	})
	for _, f := range forecasts {
		taken[f.Namespace+"/"+f.Name] = true
	}
	for _, r := range out {
		slices.Sort(r.ScaledBy)
		i := slices.IndexFunc(forecasts, func(f *v1alpha1.Forecast) bool {
			return f.Namespace == r.Namespace && manifest.IsWorkload(f, r.ref.Ref())
		})
		key := r.Namespace + "/" + r.Name
		switch {
		case i >= 0:
			r.LeftOut = "it has a Forecast already: " + forecasts[i].Name
		case taken[key]:
			r.LeftOut = "another workload has the Forecast " + r.Name
		}
		taken[key] = true
	}
	return out
}

// countGPUs adds up the accelerators in the limits of containers. Kubernetes takes requests of them only with equal limits.
func countGPUs(node any) (n int64) {
	switch v := node.(type) {
	case []any:
		for _, child := range v {
			n += countGPUs(child)
		}
	case map[string]any:
		if size, found := v["size"].(int64); found && v["workerTemplate"] != nil { // A LeaderWorkerSet's group.
			return size * countGPUs(v["workerTemplate"])
		}
		for key, child := range v {
			amount, err := strconv.ParseUint(fmt.Sprint(child), 10, 16)
			if err == nil &&
				slices.ContainsFunc(accelerators(), func(name string) bool { return strings.HasPrefix(key, name) }) {
				n += int64(amount)
			} else if key != "requests" &&
				key != "initContainers" {
				n += countGPUs(child)
			}
		}
	}
	return n
}

// accelerators are how the names of such resources begin.
func accelerators() []string {
	return []string{
		"nvidia.com/", "amd.com/gpu", "gpu.intel.com/", "habana.ai/gaudi", "google.com/tpu", "aws.amazon.com/neuron",
	}
}

// create creates the Forecasts that were written. One that is there stays as it is.
func (v *inventory) create(ctx context.Context, rows []*row) error {
	if v.blind {
		return errors.New(
			"--apply needs the right to list forecasts.forewarm.dev, so that no workload gets a second one: " +
				"nothing was created",
		)
	}
	var problems []error
	for _, r := range rows {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(r.Manifest), &object.Object); err != nil || r.Manifest == "" {
			continue
		}
		_, err := v.cluster.Resource(kinds()[v1alpha1.ForecastKind]).Namespace(r.Namespace).
			Create(ctx, object, metav1.CreateOptions{FieldManager: "forewarm-init"})
		if r.Created = err == nil; err != nil {
			problems = append(problems, fmt.Errorf("create Forecast %s/%s: %w", r.Namespace, r.Name, err))
		}
	}
	return errors.Join(problems...)
}
