package convertcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/files"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/server"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/terminal"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/signal"
)

// converted is a Forecast, or an autoscaler to apply after the handover.
type converted struct {
	Object string `json:"object"`
	From   string `json:"from"`
	// Why has a sentence for each choice.
	Why      []string `json:"why"`
	Manifest string   `json:"manifest"`
	After    bool     `json:"afterHandover,omitempty"`
}

var unfit = regexp.MustCompile(`[^a-z0-9-]+`)

// write completes a Forecast, checks it as Forewarm does, and adds it. Its name is made one that no other has.
func (c *conversion) write(
	f *v1alpha1.Forecast, expr parser.Expr, before apiresource.Quantity, from string, why []string,
) error {
	const longest = 57 // Two digits follow where it is taken, and KEDA's triggers take 63.
	name := strings.Trim(unfit.ReplaceAllString(strings.ToLower(f.Name), "-"), "-")
	name = strings.Trim(name[:min(len(name), longest)], "-")
	taken := func(name string) bool {
		return slices.ContainsFunc(
			c.Converted,
			func(o converted) bool { return o.Object == "Forecast "+f.Namespace+"/"+name },
		)
	}
	f.Name = name
	for n := 2; taken(f.Name); n++ {
		f.Name = fmt.Sprintf("%s-%d", name, n)
	}
	f.APIVersion, f.Kind = v1alpha1.GroupVersion().String(), v1alpha1.ForecastKind
	confined := c.confined(expr, f.Namespace)
	f.Spec.Signal.Query, f.Spec.Serve = total(expr), v1alpha1.ServeShadow
	f.Spec.Scaling = &v1alpha1.Scaling{Before: &v1alpha1.BeforeScaling{Target: before}}
	why = append(
		why,
		"serve: Shadow serves the observed demand, so the replicas stay as they are while the forecast is judged.",
		"scaling.before: the target until now, to compare with.",
	)
	catalogue := server.Catalogue{Label: c.tenant, Trust: signal.DefaultTrust()}
	if !confined {
		catalogue.Free = []string{f.Namespace}
		const free = "Not every selector of the query has %s=%q. Forewarm adds that, or refuses another, unless " +
			"--cluster-query-namespaces lists the namespace: compare the values in shadow mode."
		why = append(why, fmt.Sprintf(free, c.tenant, f.Namespace))
	}
	text, err := yaml.Marshal(f)
	if err != nil {
		return err
	}
	var problems []error
	for _, d := range manifest.Parse(f.Name, text) {
		for _, p := range d.Problems {
			problems = append(problems, errors.New(p.Text))
		}
		if d.Object != nil {
			_, wrong := manifest.NewResolver(catalogue).Resolve(d.Object)
			problems = append(problems, wrong.ToAggregate())
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("its Forecast would be invalid: %w: write one by hand", err)
	}
	c.Converted = append(
		c.Converted,
		converted{"Forecast " + f.Namespace + "/" + f.Name, from, why, string(text), false},
	)
	return nil
}

// confined reports whether every selector demands the namespace. A pattern that is the namespace's name becomes the name.
func (c *conversion) confined(expr parser.Expr, namespace string) bool {
	all := true
	for _, selector := range parser.ExtractSelectors(expr) {
		own := slices.ContainsFunc(selector, func(m *labels.Matcher) bool {
			if m.Name == c.tenant && m.Type == labels.MatchRegexp && m.Value == namespace {
				*m = *labels.MustNewMatcher(labels.MatchEqual, c.tenant, namespace)
			}
			return m.Name == c.tenant && m.Type == labels.MatchEqual && m.Value == namespace
		})
		all = all && own
	}
	return all
}

// after adds an autoscaler with another spec.
func (c *conversion) after(object *unstructured.Unstructured, spec any, why []string) {
	kept := map[string]any{"name": object.GetName(), "namespace": object.GetNamespace()}
	if set := object.GetLabels(); len(set) > 0 {
		kept["labels"] = set
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "metadata": kept, "spec": spec,
	})
	if err != nil {
		c.leave(nameOf(object), "", err.Error()+": edit it by hand")
		return
	}
	c.Converted = append(c.Converted, converted{nameOf(object), nameOf(object), why, string(text), true})
}

// text is a document with its reasons as comments. What is for later is a comment as a whole, so that the stream can be applied.
func (o *converted) text(later string) string {
	const columns = 100
	var text strings.Builder
	text.WriteString("---\n" + terminal.Wrap(o.Object+", from "+o.From+":", "# ", columns))
	for _, reason := range o.Why {
		text.WriteString("# - " + strings.TrimPrefix(terminal.Wrap(reason, "#   ", columns), "#   "))
	}
	if o.After && later != "" {
		text.WriteString(
			terminal.Wrap("Apply this after the handover, without the # at the beginning of its lines:", "# ", columns),
		)
	}
	for line := range strings.Lines(o.Manifest) {
		if o.After {
			text.WriteString(later)
		}
		text.WriteString(line)
	}
	return text.String()
}

// print writes the stream, or a folder with a file for each object; those for after the handover in a folder of their own.
func (c *conversion) print(out io.Writer, folder string) error {
	for i := range c.Converted {
		o := &c.Converted[i]
		if folder == "" {
			if _, err := io.WriteString(out, o.text("# ")); err != nil {
				return err
			}
			continue
		}
		dir := folder
		if o.After {
			dir = filepath.Join(folder, "after-handover")
		}
		// Both parts of the name were checked, so it is that of a file.
		name := strings.NewReplacer("/", ".", " ", "-").Replace(strings.ToLower(o.Object)) + ".yaml"
		err := errors.Join(os.MkdirAll(dir, 0o755), files.Write(filepath.Join(dir, name), out, []byte(o.text(""))))
		if err != nil {
			return err
		}
	}
	return nil
}
