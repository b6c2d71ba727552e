package manifest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/printable"
)

// Fields reads the fields of one object and collects their problems. Each method reads one field, and returns the
// zero value where the field has a problem.
type Fields struct {
	Problems field.ErrorList
}

// Add records a problem. It clips long texts: problems are shown in statuses, events and logs.
func (f *Fields) Add(problem *field.Error) {
	const longest = 200
	if text := reflect.ValueOf(problem.BadValue); text.Kind() == reflect.String && text.Len() > longest {
		problem.BadValue = printable.Clip(text.String(), longest)
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

// Namespace reads the namespace of an object. The Kubernetes API checks it, too; for objects in a folder this is the
// only check.
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

// JoinProblems returns all problems in one line.
func JoinProblems(problems field.ErrorList) string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Error()
	}
	return strings.Join(texts, "; ")
}
