package leadtime

import "strings"

// Workload names what a Forecast scales. It is comparable.
type Workload struct {
	Namespace string
	// APIVersion is group/version, or the version alone for the core group: "apps/v1".
	APIVersion string
	// Kind is CamelCase: "Deployment".
	Kind string
	Name string
}

// Ref returns the workload within its namespace, without a version, so that it stays the same across API versions:
// "Deployment.apps/llama".
func (w Workload) Ref() string {
	group, _, grouped := strings.Cut(w.APIVersion, "/")
	if !grouped {
		return w.Kind + "/" + w.Name
	}
	return w.Kind + "." + group + "/" + w.Name
}
