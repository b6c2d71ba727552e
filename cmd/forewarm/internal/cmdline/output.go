package cmdline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/printable"
)

// Output formats of -o in addition to a command's own format for people, with kubectl's names: two for scripts, a table with more columns,
// and only the names.
const (
	JSON = "json"
	YAML = "yaml"
	Wide = "wide"
	Name = "name"
)

// Output is the form in which a command prints what it found; the zero value is its own for people. It is the flag -o.
type Output struct {
	form  string
	forms []string
}

// AddFlags adds -o with the forms besides JSON and YAML that the command has, and --json, which is -o json.
func (o *Output) AddFlags(flags *pflag.FlagSet, what string, further ...string) {
	o.forms = append([]string{JSON, YAML}, further...)
	flags.VarP(o, "output", "o", "`format` of the output: "+strings.Join(o.forms, ", "))
	flags.BoolFunc("json", what+" as JSON, as -o json does", func(text string) error {
		on, err := strconv.ParseBool(text)
		if err == nil && on {
			o.form = JSON
		}
		return err
	})
}

// Set implements pflag.Value.
func (o *Output) Set(form string) error {
	if !slices.Contains(o.forms, form) {
		return fmt.Errorf("write one of %s", strings.Join(o.forms, ", "))
	}
	o.form = form
	return nil
}

// String implements pflag.Value.
func (o *Output) String() string { return o.form }

// Type implements pflag.Value.
func (*Output) Type() string { return "string" }

// Forms are the forms of -o that the command has.
func (o *Output) Forms() []string { return o.forms }

// Is reports whether the form is the given one.
func (o *Output) Is(form string) bool { return o.form == form }

// ForScripts reports whether the form is one that Write writes.
func (o *Output) ForScripts() bool { return o.form == JSON || o.form == YAML }

// Write writes a value as YAML, or as JSON: indented, with <, > and & as they are. The fields are the same.
func (o *Output) Write(out io.Writer, value any) error {
	if o.form == YAML {
		text, err := yaml.Marshal(value)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// Selection is which objects a command lists, by kubectl's flags.
type Selection struct {
	// Namespace is empty where it is not given.
	Namespace string
	All       bool
	// Labels is a label selector.
	Labels string
	Watch  bool
}

// AddFlags adds -n, -A, -l and -w.
func (s *Selection) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&s.Namespace, "namespace", "n", "", "namespace to show")
	flags.BoolVarP(&s.All, "all-namespaces", "A", false, "show all namespaces")
	flags.StringVarP(&s.Labels, "selector", "l", "", "label `selector`, for example inspect.forewarm.dev/state=Stale")
	flags.BoolVarP(&s.Watch, "watch", "w", false, "keep running after the first output, and print each change")
}

// Validate returns every problem at once. One object is named where a name is given.
func (s *Selection) Validate(named bool) error {
	var problems []error
	if s.All && s.Namespace != "" {
		problems = append(problems, errors.New("--all-namespaces contradicts --namespace: keep one"))
	}
	if s.Labels != "" && named {
		problems = append(problems, errors.New("--selector is for the table: leave out the name or the flag"))
	}
	if _, err := labels.Parse(s.Labels); err != nil {
		problems = append(problems,
			fmt.Errorf("--selector %.200q is not a label selector, write for example NAME=VALUE: %w", s.Labels, err))
	}
	return errors.Join(problems...)
}

// Page is the width of what people read, in columns, where no terminal has another.
const Page = 100

// Table writes lines of cells below heads, which tabs part, in one line or several; nothing where there are no lines.
func Table(out io.Writer, heads string, lines [][]string) error {
	if len(lines) == 0 {
		return nil
	}
	var table [][]string
	for line := range strings.SplitSeq(heads, "\n") {
		table = append(table, strings.Split(line, "\t"))
	}
	const gap = 3 // The same as kubectl's.
	_, err := io.WriteString(out, printable.Table(append(table, lines...), math.MaxInt, gap))
	return err
}

// Note is an item of a list, in lines of a page.
func Note(text string) string {
	const most = 1000
	return printable.Wrap("- ", printable.Line(printable.Clip(text, most)), "  ", Page)
}
