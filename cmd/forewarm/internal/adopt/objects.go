package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
)

// objectSource is a cluster that is read with the user's own rights, or manifests.
type objectSource struct {
	cmdline.Cluster

	// File is a file or a folder of manifests, or "-"; empty for the cluster.
	File      string
	Namespace string
	All       bool
}

// AddFlags adds the flags, with the names of kubectl's.
func (s *objectSource) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&s.Namespace, "namespace", "n", "", "namespace to read; with --file that of manifests without one")
	flags.BoolVarP(&s.All, "all-namespaces", "A", false, "read all namespaces")
	flags.StringVarP(&s.File, "file", "f", "", "file or folder of manifests to read instead of a cluster")
	s.Cluster.AddFlags(flags)
}

// Validate returns every problem.
func (s *objectSource) Validate() error {
	problems := []error{s.Cluster.Validate()}
	if s.All && s.Namespace != "" {
		problems = append(problems, errors.New("--all-namespaces contradicts --namespace: keep one"))
	}
	if s.File != "" && (s.Kubeconfig != "" || s.Context != "" || s.All) {
		problems = append(problems,
			errors.New("--file needs no cluster, leave out --kubeconfig, --context and --all-namespaces"))
	}
	return errors.Join(problems...)
}

// foundObjects is what was read.
type foundObjects struct {
	Objects []*unstructured.Unstructured
	// Unread are sentences about what was not read, and why; Forbidden the kinds that the user may not list.
	Unread, Forbidden []string
	// Client is the cluster's; nil for manifests.
	Client dynamic.Interface
}

// Read reads the objects of kinds, by their names. A cluster need not have a kind, nor the user the right.
func (s *objectSource) Read(
	ctx context.Context, in io.Reader, kinds map[string]schema.GroupVersionResource,
) (*foundObjects, error) {
	found := &foundObjects{}
	if s.File != "" {
		return found, s.readFiles(ctx, in, found, kinds)
	}
	objects, namespace, err := s.Client(ctx, "read")
	if err != nil {
		return nil, fmt.Errorf("%w; set one, or read manifests (--file DIR)", err)
	}
	scope := "-n " + cmp.Or(s.Namespace, namespace)
	if namespace = cmp.Or(s.Namespace, namespace); s.All {
		namespace, scope = metav1.NamespaceAll, "-A"
	}
	found.Client = objects
	for kind, resource := range kinds {
		all, err := client.ListAll(ctx, objects.Resource(resource).Namespace(namespace))
		switch {
		case apierrors.IsForbidden(err):
			const unread = "%ss are not read: you may not list them (kubectl auth can-i list %s %s)"
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

// readFiles reads a file, or the YAML and JSON below a folder.
func (s *objectSource) readFiles(
	ctx context.Context, in io.Reader, found *foundObjects, kinds map[string]schema.GroupVersionResource,
) error {
	const most = 2_000 // A wrong path, such as a home, is not read whole.
	read := func(path string) error {
		text, err := cmdline.ReadInput(ctx, in, path, manifest.MaxFile)
		for _, d := range manifest.RawDocuments(path, text) {
			found.add(d, cmp.Or(s.Namespace, metav1.NamespaceDefault), kinds)
		}
		return err
	}
	if s.File == cmdline.Stdout {
		return read(s.File)
	}
	n := 0
	return filepath.WalkDir(s.File, func(path string, entry fs.DirEntry, err error) error {
		isManifest := path == s.File || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path))
		if err != nil || entry.IsDir() || !isManifest {
			return err
		}
		n++
		if n > most {
			return fmt.Errorf("--file %s: more than %d files: name a smaller folder", s.File, most)
		}
		return read(path)
	})
}

// add adds the object of a document. Other kinds are skipped.
func (f *foundObjects) add(d manifest.RawDocument, namespace string, kinds map[string]schema.GroupVersionResource) {
	kind := d.Text("kind")
	if _, known := kinds[kind]; !known && d.Broken == nil && !strings.HasSuffix(kind, "List") {
		return
	}
	object, err := objectOf(d, namespace)
	if err != nil {
		f.Unread = append(f.Unread, err.Error())
		return
	}
	f.Objects = append(f.Objects, object)
}

// objectOf is the object of a document.
func objectOf(d manifest.RawDocument, namespace string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	switch {
	case d.Broken != nil:
		return nil, d.Broken.Err()
	case strings.HasSuffix(d.Text("kind"), "List"):
		return nil, d.Err("a list is not read: write a document for each object, separated by ---")
	}
	if err := d.Decode(&object.Object); err != nil {
		return nil, d.Err(err.Error())
	}
	object.SetNamespace(cmp.Or(object.GetNamespace(), namespace))
	// They will be the name of a file.
	if validation.IsDNS1123Subdomain(object.GetName()) != nil ||
		validation.IsDNS1123Label(object.GetNamespace()) != nil {
		return nil, d.Err("its name or namespace is none that Kubernetes has: correct it")
	}
	return object, nil
}

// objectDocument is an object to commit, with a sentence for each choice.
type objectDocument struct {
	// Object is its kind, namespace and name, see Name; From what it was made of.
	Object string   `json:"object,omitempty"`
	From   string   `json:"from,omitempty"`
	Why    []string `json:"why,omitempty"`
	// Manifest is its YAML.
	Manifest string `json:"manifest,omitempty"`
	// After is true where it may be applied only after the handover.
	After bool `json:"afterHandover,omitempty"`
}

// objectName names an object in a sentence.
func objectName(o *unstructured.Unstructured) string {
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}

// forecastDocument is a Forecast in shadow mode, as Forewarm reads it; the error is what it would refuse.
func forecastDocument(f *v1alpha1.Forecast, signals catalogue.Signals) (objectDocument, error) {
	f.APIVersion, f.Kind, f.Spec.Serve = v1alpha1.GroupVersion().String(), v1alpha1.ForecastKind, v1alpha1.ServeShadow
	text, err := yaml.Marshal(f)
	if err != nil {
		return objectDocument{}, err
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
		return objectDocument{}, errors.New(strings.Join(wrong, "; "))
	}
	return objectDocument{Object: v1alpha1.ForecastKind + " " + f.Namespace + "/" + f.Name, Manifest: string(text)}, nil
}

// text is the manifest with its reasons as comments. What is for later is a comment as a whole, so that a stream can be applied.
func (d *objectDocument) text(later string) string {
	var text strings.Builder
	text.WriteString("---\n" + printable.Wrap("# ", printable.Line(d.Object+", from "+d.From+":"), "# ", cmdline.Page))
	for _, reason := range d.Why {
		text.WriteString(printable.Wrap("# - ", printable.Line(reason), "#   ", cmdline.Page))
	}
	if !d.After {
		return text.String() + d.Manifest
	}
	if later != "" {
		text.WriteString("# Apply this after the handover, without the # at the beginning of its lines:\n")
	}
	for line := range strings.Lines(d.Manifest) {
		text.WriteString(later + line)
	}
	return text.String()
}

// writeObjects writes a stream, or a file for each document into a folder; those for after the handover into a folder of their own. A
// file that is there stays as it is.
func writeObjects(out io.Writer, folder string, all []objectDocument) error {
	var problems []error
	for i := range all {
		d, dir := &all[i], folder
		if folder == "" {
			_, err := io.WriteString(out, d.text("# "))
			problems = append(problems, err)
			continue
		}
		if d.After {
			dir = filepath.Join(folder, "after-handover")
		}
		// Each part of the name was checked, so it is that of a file.
		path := filepath.Join(dir, strings.NewReplacer("/", ".", " ", "-").Replace(strings.ToLower(d.Object))+".yaml")
		if _, err := os.Lstat(path); err == nil {
			problems = append(problems,
				fmt.Errorf("%s is there already and stays as it is: remove it, or name another folder", path))
			continue
		}
		problems = append(problems, os.MkdirAll(dir, 0o755), cmdline.WriteFile(path, out, []byte(d.text(""))))
	}
	return errors.Join(problems...)
}
