package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// Fields reads the fields of one object and collects their problems. Each method reads one field, and returns the
// zero value where the field has a problem.
type Fields struct {
	Problems field.ErrorList
}

// Add records a problem. It clips long texts: problems are shown in statuses, events and logs.
func (f *Fields) Add(problem *field.Error) {
	if text := reflect.ValueOf(problem.BadValue); text.Kind() == reflect.String && text.Len() > maxText {
		problem.BadValue = clip(text.String())
	}
	f.Problems = append(f.Problems, problem)
}

// Invalid records what is wrong with a value, and what to write instead.
func (f *Fields) Invalid(path *field.Path, value any, format string, args ...any) {
	f.Add(field.Invalid(path, value, fmt.Sprintf(format, args...)))
}

// AddMessages records the messages of Kubernetes' own checks of a value.
func (f *Fields) AddMessages(path *field.Path, value string, messages []string) {
	for _, message := range messages {
		f.Add(field.Invalid(path, value, message))
	}
}

// Name reads the name of an object, which is required. missing is the message where there is none.
func (f *Fields) Name(path *field.Path, name, missing string) {
	if name == "" {
		f.Add(field.Required(path, missing))
		return
	}
	f.AddMessages(path, name, validation.IsDNS1123Subdomain(name))
}

// Namespace reads the namespace of an object. For objects in a folder this is the only check.
func (f *Fields) Namespace(namespace string) {
	f.AddMessages(field.NewPath("metadata", "namespace"), namespace, validation.IsDNS1123Label(namespace))
}

// Kind reads the kind of a workload, which is required. missing is the message where there is none.
func (f *Fields) Kind(path *field.Path, kind, missing string) {
	switch {
	case kind == "":
		f.Add(field.Required(path, missing))
	case len(validation.IsDNS1035Label(strings.ToLower(kind))) > 0:
		f.Invalid(path, kind, "is not a kind, write for example Deployment")
	}
}

// LeadTime returns the lead time of an object's spec and its path: the duration in mode Fixed, which requires one,
// the fallback in mode Auto. The path is nil where there is none.
func (f *Fields) LeadTime(
	path *field.Path, lead *v1alpha1.LeadTime, needed string,
) (at *field.Path, text v1alpha1.Duration) {
	fallback, duration := path.Child("fallback"), path.Child("duration")
	switch lead.Mode {
	case v1alpha1.LeadTimeAuto:
		if lead.Duration != "" {
			f.Add(field.Forbidden(duration, "is for mode Fixed: add mode: Fixed, or write fallback instead"))
		}
		return fallback, lead.Fallback
	case v1alpha1.LeadTimeFixed:
		if lead.Fallback != "" {
			f.Add(field.Forbidden(fallback, "is for mode Auto: remove it"))
		}
		if lead.Duration != "" {
			return duration, lead.Duration
		}
		f.Add(field.Required(duration, "mode Fixed needs "+needed+", for example 4m"))
	default:
		modes := []v1alpha1.LeadTimeMode{v1alpha1.LeadTimeAuto, v1alpha1.LeadTimeFixed}
		f.Add(field.NotSupported(path.Child("mode"), lead.Mode, modes))
	}
	return nil, ""
}

// ParseDecimal reads digits with a point, as the schemas allow them: no sign, exponent, hexadecimal or NaN.
func ParseDecimal(text string) (value float64, ok bool) {
	if strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil
}

// unfitForName matches characters that the name of an object cannot have.
var unfitForName = regexp.MustCompile(`[^a-z0-9-]+`)

// FreeName turns words into an object's name that is not taken; empty if the words have no letter or digit of ASCII.
func FreeName(words string, taken func(name string) bool) string {
	const longest = 57 // A number may follow, and KEDA limits the names of triggers to 63 characters.
	base := strings.Trim(unfitForName.ReplaceAllString(strings.ToLower(words), "-"), "-")
	base = strings.Trim(base[:min(len(base), longest)], "-")
	name := base
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// JoinProblems returns all problems in one line.
func JoinProblems(problems field.ErrorList) string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Error()
	}
	return strings.Join(texts, "; ")
}

// Problem is one thing wrong with a file.
type Problem struct {
	File string
	// Line counts from 1; 0 where it is not known.
	Line int
	// Text names the field and says what to write instead.
	Text string
}

// String is file:line: text.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return p.File + ":" + strconv.Itoa(p.Line) + ": " + p.Text
}

// Err is the same as an error.
func (p Problem) Err() error { return errors.New(p.String()) }

// Header is what objects of every kind have. Metadata and status accept everything that the API server writes.
type Header struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Status     any            `json:"status"`
}

// KindReader reads documents of a kind, or refuses them; without either they are skipped.
type KindReader[T any] struct {
	Read    func(RawDocument) (T, error)
	Refused string
	// SkippedAs is what a skipped document is called in errors.
	SkippedAs string
}

// ReadKinds reads the documents of a file. kindOf returns how each is read. The error has every problem of every document,
// with its line; nothing is returned then. others lists the skipped documents in words.
func ReadKinds[T any](
	file string, data []byte, kindOf func(RawDocument) KindReader[T],
) (found []T, others string, err error) {
	var problems []error
	var passed []string
	for _, d := range RawDocuments(file, data) {
		if d.Broken != nil {
			problems = append(problems, d.Broken.Err())
			continue
		}
		switch kind := kindOf(d); {
		case !d.IsObject():
			problems = append(problems, d.Err("is not an object: write apiVersion, kind, metadata and spec"))
		case strings.HasSuffix(d.Text("kind"), "List"):
			problems = append(problems, d.Err(fmt.Sprintf(
				"kind %.64s has no items: add them, or write a document for each object", d.Text("kind"))))
		case kind.Refused != "":
			problems = append(problems, d.Err(kind.Refused))
		case kind.Read != nil:
			one, err := kind.Read(d)
			found, problems = append(found, one), append(problems, err)
		default:
			passed = append(passed, kind.SkippedAs)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, "", err
	}
	return found, describeSkipped(passed), nil
}

// describeSkipped lists the skipped documents of a file.
func describeSkipped(others []string) string {
	const most = 10
	if len(others) == 0 {
		return "it is empty"
	}
	text := "it holds " + strings.Join(others[:min(most, len(others))], ", ")
	if more := len(others) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Workload returns the workload of an object, and whether its starts are measured.
func Workload(object *v1alpha1.Forecast) (workload leadtime.Workload, measured bool) {
	spec := withDefaults(&object.Spec)
	return workloadOf(object.Namespace, spec), spec.LeadTime.Mode == v1alpha1.LeadTimeAuto
}

// VariantWorkloads returns the workloads of an object's variants alongside its own, the zero value for one in another cluster.
func VariantWorkloads(object *v1alpha1.Forecast) []leadtime.Workload {
	out := make([]leadtime.Workload, len(object.Spec.Variants))
	for i := range out {
		out[i] = variantWorkload(object.Namespace, &object.Spec.Variants[i])
	}
	return out
}

// IsWorkload reports whether a reference (leadtime.Workload.Ref) is the workload of an object, or one of its former names.
func IsWorkload(object *v1alpha1.Forecast, ref string) bool {
	workload, _ := Workload(object)
	for _, name := range append([]string{workload.Name}, object.Spec.FormerNames...) {
		if workload.Name = name; workload.Ref() == ref {
			return true
		}
	}
	return false
}

// workloadOf returns the workload of a spec with defaults.
func workloadOf(namespace string, spec *v1alpha1.ForecastSpec) leadtime.Workload {
	ref := spec.TargetRef
	return leadtime.Workload{Namespace: namespace, APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}
}
