// Package adopt helps a cluster adopt Forewarm. Propose writes a Forecast for a workload, from its autoscaler and the series of its
// server. Convert writes the Forecasts that replace the metrics of prometheus-adapter and of KEDA's prometheus triggers. Both start from
// the objects of a cluster or of manifests, and return documents to commit, with a sentence for each choice. Create is the only function
// that changes a cluster.
package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
)

// Objects is what was read.
type Objects struct {
	Objects []*unstructured.Unstructured
	// Unread are sentences about what was not read, and why; Forbidden the kinds that the user may not list.
	Unread, Forbidden []string
	// Client is the cluster's; nil for manifests.
	Client dynamic.Interface
}

// Kinds are kinds of objects, by their names.
type Kinds map[string]schema.GroupVersionResource

// AutoscalerKinds are those that Convert reads.
func AutoscalerKinds() Kinds {
	return Kinds{
		hpa.KindHPA: autoscaler.HPAs(), hpa.KindScaledObject: autoscaler.ScaledObjects(),
		kindScaledJob: autoscaler.ScaledObjects().GroupVersion().WithResource("scaledjobs"),
		kindCronHPA: {
			Group: "autoscaling.alibabacloud.com", Version: "v1beta1", Resource: "cronhorizontalpodautoscalers",
		},
	}
}

// kindScaledJob is KEDA's object that starts jobs.
const kindScaledJob = "ScaledJob"

// WorkloadKinds are those that Workloads reads.
func WorkloadKinds() Kinds {
	kinds := AutoscalerKinds()
	delete(kinds, kindScaledJob)
	delete(kinds, kindCronHPA)
	maps.Copy(kinds, Kinds{
		"Deployment":          {Group: "apps", Version: "v1", Resource: "deployments"},
		"StatefulSet":         {Group: "apps", Version: "v1", Resource: "statefulsets"},
		"LeaderWorkerSet":     {Group: "leaderworkerset.x-k8s.io", Version: "v1", Resource: "leaderworkersets"},
		v1alpha1.ForecastKind: v1alpha1.GroupVersion().WithResource("forecasts"),
	})
	return kinds
}

// ReadCluster reads the objects of kinds in a namespace, or in all of them (metav1.NamespaceAll). The cluster may lack a kind, and the
// user may lack the right to list it.
func ReadCluster(ctx context.Context, cluster dynamic.Interface, namespace string, kinds Kinds) (*Objects, error) {
	found, scope := &Objects{Client: cluster}, "-n "+namespace
	if namespace == metav1.NamespaceAll {
		scope = "-A"
	}
	for kind, resource := range kinds {
		all, err := client.ListAll(ctx, cluster.Resource(resource).Namespace(namespace))
		switch {
		case apierrors.IsForbidden(err) && kind == kindCronHPA: // Few clusters have it, and the others answer the same.
		case apierrors.IsForbidden(err):
			const unread = "%ss are not read: you are not allowed to list them (kubectl auth can-i list %s %s)"
			found.Forbidden = append(found.Forbidden, kind)
			found.Unread = append(found.Unread, fmt.Sprintf(unread, kind, resource.GroupResource(), scope))
		case err != nil && !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("list %s: %w", resource.GroupResource(), err)
		}
		for i := range all {
			found.Objects = append(found.Objects, &all[i])
		}
	}
	slices.Sort(found.Unread)
	slices.SortFunc(found.Objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()),
			cmp.Compare(a.GetKind(), b.GetKind()))
	})
	return found, nil
}

// ManifestFiles are a file, or the YAML and JSON files below a folder.
func ManifestFiles(path string) (files []string, err error) {
	const most = 2_000 // If the path is wrong, for example a home directory, not everything is read.
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		isManifest := file == path || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file))
		if err != nil || entry.IsDir() || !isManifest {
			return err
		}
		if files = append(files, file); len(files) > most {
			return fmt.Errorf("--file %s: more than %d files: choose a smaller folder", path, most)
		}
		return nil
	})
	return files, err
}

// AddManifest adds the objects of a file that have one of the kinds, and skips the others. An object without a namespace is in the given
// one.
func (o *Objects) AddManifest(file string, text []byte, namespace string, kinds Kinds) {
	for _, d := range manifest.RawDocuments(file, text) {
		kind := d.Text("kind")
		if _, known := kinds[kind]; !known && d.Broken == nil && !strings.HasSuffix(kind, "List") {
			continue
		}
		if object, err := objectOf(d, namespace); err != nil {
			o.Unread = append(o.Unread, err.Error())
		} else {
			o.Objects = append(o.Objects, object)
		}
	}
}

// objectOf returns the object in a document.
func objectOf(d manifest.RawDocument, namespace string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	switch {
	case d.Broken != nil:
		return nil, d.Broken.Err()
	case strings.HasSuffix(d.Text("kind"), "List"):
		return nil, d.Err("a list without items: add them, or write a document for each object")
	}
	if err := d.Decode(&object.Object); err != nil {
		return nil, d.Err(err.Error())
	}
	object.SetNamespace(cmp.Or(object.GetNamespace(), namespace))
	// The names will be part of a file name.
	if validation.IsDNS1123Subdomain(object.GetName()) != nil ||
		validation.IsDNS1123Label(object.GetNamespace()) != nil {
		return nil, d.Err("its name or namespace is not valid in Kubernetes: correct it")
	}
	return object, nil
}

// objectName returns the name of an object for a sentence.
func objectName(o *unstructured.Unstructured) string {
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}

// Document is an object to commit, with a sentence for each choice.
type Document struct {
	// Object is its kind, namespace and name; From is what it was made of.
	Object string   `json:"object,omitempty"`
	From   string   `json:"from,omitempty"`
	Why    []string `json:"why,omitempty"`
	// Manifest is its YAML.
	Manifest string `json:"manifest,omitempty"`
	// After is true if it may be applied only after the handover.
	After bool `json:"afterHandover,omitempty"`
}

// forecastDocument returns a Forecast in shadow mode, read like Forewarm does. The error says what Forewarm would reject.
func forecastDocument(f *v1alpha1.Forecast, signals catalogue.Signals) (Document, error) {
	f.APIVersion, f.Kind, f.Spec.Serve = v1alpha1.GroupVersion().String(), v1alpha1.ForecastKind, v1alpha1.ServeShadow
	text, err := yaml.Marshal(f)
	if err != nil {
		return Document{}, err
	}
	var wrong []string
	for _, d := range manifest.Parse(f.Name, text) {
		if d.Object != nil {
			_, found := manifest.NewResolver(signals).Resolve(d.Object)
			d.Problems = append(d.Problems, d.Locate(found)...)
		}
		for _, p := range d.Problems {
			wrong = append(wrong, p.Text)
		}
	}
	if wrong != nil {
		return Document{}, errors.New(strings.Join(wrong, "; "))
	}
	return Document{Object: v1alpha1.ForecastKind + " " + f.Namespace + "/" + f.Name, Manifest: string(text)}, nil
}
