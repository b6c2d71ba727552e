package leadtime

import "strings"

// Workload is what a Forecast scales, by name. It is comparable.
type Workload struct {
	Namespace string
	// APIVersion is group/version, or a version alone for the core group: "apps/v1".
	APIVersion string
	// Kind is CamelCase: "Deployment".
	Kind string
	Name string
}

// Ref is the workload within its namespace, without a version: "Deployment.apps/llama". It stays when an API moves on.
func (w Workload) Ref() string {
	group, _, grouped := strings.Cut(w.APIVersion, "/")
	if !grouped {
		return w.Kind + "/" + w.Name
	}
	return w.Kind + "." + group + "/" + w.Name
}
