package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/printable"
)

// Document is an object to commit, with a sentence for each choice.
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

// Name names an object in a sentence.
func objectName(o *unstructured.Unstructured) string {
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}

// Forecast is a Forecast in shadow mode, as Forewarm reads it; the error is what it would refuse.
func forecastDocument(f *v1alpha1.Forecast, catalogue serve.Catalogue) (objectDocument, error) {
	f.APIVersion, f.Kind, f.Spec.Serve = v1alpha1.GroupVersion().String(), v1alpha1.ForecastKind, v1alpha1.ServeShadow
	text, err := yaml.Marshal(f)
	if err != nil {
		return objectDocument{}, err
	}
	var wrong []string
	for _, d := range manifest.Parse(f.Name, text) {
		if d.Object != nil {
			_, found := manifest.NewResolver(catalogue).Resolve(d.Object)
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

// Write writes a stream, or a file for each document into a folder; those for after the handover into a folder of their own. A
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
