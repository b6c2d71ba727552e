package aggregation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Mode says whether Forewarm serves an API group and creates its APIService. It is a value of pflag.
type Mode string //nolint:recvcheck // Only Set changes it.

const (
	// Auto serves a group, and takes it if no other server has it.
	Auto Mode = "auto"
	// Required is like Auto, but it is an error if another server has the group.
	Required Mode = "true"
	// Off does not serve a group, and releases it.
	Off Mode = "false"
)

// Served reports whether Forewarm serves the group.
func (m Mode) Served() bool { return m == Auto || m == Required }

// String implements pflag.Value.
func (m *Mode) String() string { return string(*m) }

// Set implements pflag.Value.
func (m *Mode) Set(text string) error {
	switch mode := Mode(text); mode {
	case Auto, Required, Off:
		*m = mode
		return nil
	}
	return fmt.Errorf("%.40q: write auto, true or false", text)
}

// Type implements pflag.Value.
func (*Mode) Type() string { return "auto|true|false" }

// vacancy is how long a group must be free, after another server had it, before Auto takes it. A server that is being reinstalled gets its
// group back this way.
const vacancy = 10 * time.Minute

// Kind and version of the owner of the APIServices that Forewarm creates. Kubernetes deletes them together with their owner. The owner is a
// ClusterRole, because it is deleted when Forewarm is uninstalled, and because a namespaced object cannot own a cluster-scoped one.
const (
	ownerVersion = "rbac.authorization.k8s.io/v1"
	ownerKind    = "ClusterRole"
)

// apiService has the fields of an APIService that Forewarm uses.
type apiService struct {
	name, group, version string
	// service serves the group; empty if the kube-apiserver serves the group itself.
	service Service
	// bundle is the field caBundle as it is in the object; insecure is insecureSkipTLSVerify.
	bundle   string
	insecure bool
	owners   []metav1.OwnerReference
	// available is true if the kube-apiserver reaches the service. unavailable says why it does not; empty if it has not tried.
	available   bool
	unavailable string
}

// read reads the APIService of one of our groups. Fields that are missing or have an unexpected type are empty.
func read(object *unstructured.Unstructured) *apiService {
	text := func(path ...string) string {
		value, _, err := unstructured.NestedString(object.Object, path...)
		if err != nil {
			return ""
		}
		return value
	}
	out := &apiService{
		name: object.GetName(), group: text("spec", "group"), version: object.GetResourceVersion(),
		owners: object.GetOwnerReferences(), bundle: text("spec", caBundle),
	}
	out.available, out.unavailable = availability(object)
	if !slices.Contains(groups(), out.group) {
		return nil
	}
	if name := text("spec", "service", "name"); name != "" {
		out.service = Service(text("spec", "service", "namespace") + "/" + name)
	}
	if is, _, err := unstructured.NestedBool(object.Object, "spec", insecure); err == nil {
		out.insecure = is
	}
	return out
}

// availability reports whether the kube-apiserver reaches the server of an APIService, and if not, why.
func availability(object *unstructured.Unstructured) (is bool, why string) {
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return false, ""
	}
	for _, item := range conditions {
		switch c, ok := item.(map[string]any); {
		case !ok || c["type"] != "Available":
		case c["status"] == "True":
			return true, ""
		case c["status"] == "False":
			return false, fmt.Sprintf("%v: %v", c["reason"], c["message"])
		}
	}
	return false, ""
}

// ownedBy reports whether a ClusterRole owns the APIService.
func (s apiService) ownedBy(clusterRole string) bool {
	return slices.ContainsFunc(s.owners, func(o metav1.OwnerReference) bool { return isOwner(o, clusterRole) })
}

func isOwner(o metav1.OwnerReference, clusterRole string) bool {
	return o.APIVersion == ownerVersion && o.Kind == ownerKind && o.Name == clusterRole
}

// Names are the APIServices that Forewarm may write, by group.
func Names() map[string]string {
	return map[string]string{
		External: "v1beta1." + External,
		Custom:   "v1beta2." + Custom,
		Inspect:  "v1alpha1." + Inspect,
	}
}

// situation is the input of the leader's decision.
type situation struct {
	own   Service
	modes map[string]Mode // by group
	owner string          // the ClusterRole
	// all are the cluster's APIServices of the groups.
	all []apiService
	// bundle is the caBundle that they should have, encoded. trust is true if Forewarm knows this bundle. If there is neither, Forewarm waits.
	// If there is only trust, the kube-apiserver verifies with the authorities of its machine.
	bundle string
	trust  bool
	// verifyAll is true if APIServices that are not verified should be verified from now on.
	verifyAll bool
	// vacant has the groups that another server had a short time ago.
	vacant map[string]bool
}

// act is one write to an APIService.
type act struct {
	verb verb
	name string
	// group is set for create. For the other verbs, of is the APIService.
	group string
	of    apiService
}

type verb string

const (
	register verb = "create"
	remove   verb = "delete"  // The APIService leads here, and Forewarm does not serve the group.
	trust    verb = "verify"  // The APIService leads here with another caBundle.
	adopt    verb = "adopt"   // The APIService leads here and would outlive Forewarm.
	release  verb = "release" // The APIService leads to another server and would be deleted with Forewarm.
)

// decide returns the writes that are due, and the problems that keep Forewarm from serving groups that it should serve.
func decide(s *situation) (acts []act, problems []string) {
	names := Names()
	for _, group := range groups() {
		held := slices.DeleteFunc(slices.Clone(s.all), func(a apiService) bool { return a.group != group })
		if len(held) == 0 && s.modes[group].Served() && s.trust && (s.modes[group] == Required || !s.vacant[group]) {
			acts = append(acts, act{verb: register, name: names[group], group: group})
		}
		for _, a := range held {
			if a.name == names[group] {
				acts = append(acts, s.update(a)...)
			}
		}
		if problem := s.problem(group, held); problem != "" {
			problems = append(problems, problem)
		}
	}
	return acts, problems
}

// update returns the writes that an existing APIService needs.
func (s *situation) update(a apiService) (acts []act) {
	owned := a.ownedBy(s.owner)
	write := func(v verb) { acts = append(acts, act{verb: v, name: a.name, of: a}) }
	switch {
	case a.service != s.own:
		if owned {
			write(release)
		}
		return acts
	case !s.modes[a.group].Served():
		write(remove)
		return acts
	}
	if s.bundle != "" && (a.insecure && s.verifyAll || !a.insecure && a.bundle != s.bundle) {
		write(trust)
	}
	if !owned {
		write(adopt)
	}
	return acts
}

// problem says why Forewarm does not serve a group that it should serve. It is empty if there is no problem.
func (s *situation) problem(group string, held []apiService) string {
	others := map[string]bool{}
	for _, a := range held {
		switch a.service {
		case s.own:
		case "":
			others["the kube-apiserver itself ("+a.name+")"] = true
		default:
			others[fmt.Sprintf("%s (%s)", a.service, a.name)] = true
		}
	}
	holders := strings.Join(slices.Sorted(maps.Keys(others)), " and ")
	switch {
	case holders == "":
		return ""
	case group == Inspect:
		return fmt.Sprintf(
			"another Forewarm serves this cluster (%s leads to %s), and both write the statuses of all Forecasts: "+
				"uninstall one of them", group, holders)
	case s.modes[group] == Required:
		return fmt.Sprintf(
			"%s leads to %s, and Forewarm does not take API groups from other servers: delete that APIService, or set the flag "+
				"for this group to auto or false",
			group,
			holders,
		)
	}
	return ""
}
