package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/kube/client"
)

// right is what an account may do: verbs on one resource of one group, written RESOURCE/SUBRESOURCE; with a name on that object
// only, with a namespace in that only.
type right struct {
	group, resource, subresource, name, namespace string

	verbs []string
}

// ownNamespace stands for the namespace of Forewarm.
const ownNamespace = "."

// component is a part of Forewarm that needs rights.
type component struct {
	name string
	// level of a finding when some are missing, and what does not work then.
	level   Level
	without string
	rights  []right
}

func reading() []string { return []string{"get", "list", "watch"} }

// serverComponents are the rights of each replica. A test compares them with the manifests.
func (s *state) serverComponents() []component {
	lease := cmp.Or(s.args["lease-name"], ownName)
	role := cmp.Or(s.args["api-service-owner"], ownName+":server")
	const registration, leases = "apiregistration.k8s.io", "coordination.k8s.io"
	var written []right
	for _, name := range slices.Sorted(maps.Values(aggregation.Names())) {
		written = append(written, right{
			group: registration, resource: "apiservices", name: name, verbs: []string{"patch", "delete"},
		})
	}
	return []component{
		{"Forecasts", Error, "Forewarm serves no Forecast", []right{
			{group: v1alpha1.GroupName, resource: "forecasts", verbs: reading()},
			{group: v1alpha1.GroupName, resource: "forecasts", subresource: "status", verbs: []string{"update"}},
		}},
		{"warm pools", Warning, "Forewarm does not plan WarmPools", []right{
			{group: v1alpha1.GroupName, resource: "warmpools", verbs: reading()},
			{group: v1alpha1.GroupName, resource: "warmpools", subresource: "status", verbs: []string{"update"}},
		}},
		{"leader", Error, "no replica can become the leader, which writes the status of objects", []right{
			{group: leases, resource: "leases", namespace: ownNamespace, verbs: []string{"create"}},
			{group: leases, resource: "leases", name: lease, namespace: ownNamespace, verbs: []string{"get", "update"}},
		}},
		{"certificates", Error, "the kube-apiserver cannot verify Forewarm", written},
		{"API groups", Warning, "Forewarm does not take over API groups or report which server serves them", []right{
			{group: registration, resource: "apiservices", verbs: append(reading(), "create")},
			{group: "rbac.authorization.k8s.io", resource: "clusterroles", name: role, verbs: []string{"get"}},
		}},
		{"autoscalers", Warning, "Forewarm calibrates objectives only with spec.scaling", []right{
			{group: "autoscaling", resource: "horizontalpodautoscalers", verbs: reading()},
			{group: "keda.sh", resource: "scaledobjects", verbs: reading()},
		}},
		{"lead times", Warning, "Forewarm cannot measure lead times and uses the fallback", []right{
			{group: "*", resource: "*", subresource: "scale", verbs: []string{"get"}},
			{resource: "pods", verbs: []string{"list", "watch"}},
		}},
		{
			"events",
			Warning,
			"Forewarm writes no events",
			[]right{{resource: "events", verbs: []string{"create", "patch"}}},
		},
	}
}

// authorityComponent is the rights to the Secret of the authority that signs Forewarm's certificates.
func (s *state) authorityComponent() component {
	return component{"certificate authority", Error, "the kube-apiserver cannot verify Forewarm", []right{{
		resource: "secrets", name: cmp.Or(s.args["tls-ca-secret"], ownSecret), namespace: ownNamespace,
		verbs: append(reading(), "update"),
	}}}
}

// delegation is what every aggregated API server needs; the cluster's own roles grant it.
func delegation() component {
	const without = "Forewarm cannot authenticate and authorize requests, and does not start"
	return component{"authentication", Error, without, []right{
		{group: "authentication.k8s.io", resource: "tokenreviews", verbs: []string{"create"}},
		{group: "authorization.k8s.io", resource: "subjectaccessreviews", verbs: []string{"create"}},
		{
			resource: "configmaps", name: "extension-apiserver-authentication", namespace: "kube-system",
			verbs: []string{"get"},
		},
	}}
}

// enforcing is the component that holds capacity.
const enforcing = "warm pools in mode Enforce"

// poolComponent is the rights to hold WarmPools in mode Enforce, which may be granted in their namespace only.
func poolComponent(namespace string) component {
	holding := []string{"get", "list", "create", "patch", "delete"}
	c := component{enforcing, Error, "WarmPools hold no capacity", []right{
		{group: v1alpha1.GroupName, resource: "warmpools", verbs: []string{"patch"}},
		{group: v1alpha1.GroupName, resource: "warmpools", subresource: "finalizers", verbs: []string{"update"}},
		{group: "apps", resource: "deployments", verbs: holding},
		{resource: "pods", verbs: []string{"patch"}},
		{resource: "resourcequotas", verbs: []string{"list"}},
		{group: "autoscaling.x-k8s.io", resource: "capacitybuffers", verbs: holding},
		{resource: "podtemplates", verbs: holding},
	}}
	for i := range c.rights {
		c.rights[i].namespace = namespace
	}
	c.rights = append(c.rights, right{group: "scheduling.k8s.io", resource: "priorityclasses", verbs: []string{"get"}})
	return c
}

// kedaComponent is the rights to keep KEDA's client certificate in a Secret, NAMESPACE/NAME.
func kedaComponent(secret string) component {
	namespace, name, _ := strings.Cut(secret, "/")
	return component{"KEDA's client certificate", Error, "KEDA cannot query Forewarm", []right{
		{resource: "secrets", name: name, namespace: namespace, verbs: []string{"get", "update"}},
	}}
}

// isSet reports whether a flag without a value is set.
func (s *state) isSet(flag string) bool { return s.args[flag] != "" && s.args[flag] != "false" }

// fleetComponents are the rights to plan GPUFleets, and to count their GPUs.
func (s *state) fleetComponents() (out []component) {
	const without = "GPUFleets that need them serve nothing"
	for _, c := range []struct {
		flag string
		component
	}{
		{"fleets", component{"GPUFleets", Error, "Forewarm does not plan GPUFleets", []right{
			{group: v1alpha1.GroupName, resource: "gpufleets", verbs: reading()},
			{group: v1alpha1.GroupName, resource: "gpufleets", subresource: "status", verbs: []string{"update"}},
		}}},
		{"fleet-nodes", component{"the nodes of GPUFleets", Error, without, []right{{resource: "nodes", verbs: reading()}}}},
		{"fleet-cluster-queues", component{"the ClusterQueues of GPUFleets", Error, without, []right{
			{group: "kueue.x-k8s.io", resource: "clusterqueues", verbs: reading()},
		}}},
	} {
		if s.isSet(c.flag) {
			out = append(out, c.component)
		}
	}
	return out
}

// components are those that this installation uses.
func (s *state) components() []component {
	out := append(s.serverComponents(), delegation())
	if s.args["tls-cert-file"] == "" {
		out = append(out, s.authorityComponent())
	}
	out = append(out, s.fleetComponents()...)
	if s.isSet("demand-events") {
		out = append(out, component{"DemandEvents", Error, "DemandEvents have no effect", []right{
			{group: v1alpha1.GroupName, resource: "demandevents", verbs: reading()},
			{group: v1alpha1.GroupName, resource: "demandevents", subresource: "status", verbs: []string{"update"}},
		}})
	}
	if s.args["keda-address"] != "" && s.args["keda-tls-cert-file"] == "" && s.args["keda-plaintext"] == "" {
		out = append(out, kedaComponent(cmp.Or(s.args["keda-client-secret"], "keda/forewarm-client")))
	}
	var namespaces []string
	for i := range s.pools {
		mode, _, err := unstructured.NestedString(s.pools[i].Object, "spec", "mode")
		namespace := s.pools[i].GetNamespace()
		if err == nil && mode == string(v1alpha1.PoolEnforce) && !slices.Contains(namespaces, namespace) {
			namespaces = append(namespaces, namespace)
			out = append(out, poolComponent(namespace))
		}
	}
	return out
}

// checkRights: has Forewarm's account the rights that each of its components needs?
func checkRights(ctx context.Context, d *Doctor, s *state) []Finding {
	const name = "Rights"
	account := s.name
	if s.deployment != nil && s.deployment.Spec.Template.Spec.ServiceAccountName != "" {
		account = s.deployment.Spec.Template.Spec.ServiceAccountName
	}
	object := "account " + d.Namespace + "/" + account
	var out []Finding
	for _, c := range s.components() {
		missing, err := d.missing(ctx, account, c.rights)
		if err != nil {
			f := unread(name, "the permissions of the "+object, err)
			if apierrors.IsForbidden(err) {
				f.Message = "you are not allowed to check the permissions of the " + object + ": " + client.APIMessage(
					err,
				)
			}
			return append(out, f)
		}
		f := Finding{Check: name, Level: OK, Object: object, Message: "has all permissions for " + c.name}
		if len(missing) > 0 {
			f.Level, f.Message = c.level, fmt.Sprintf(
				"lacks permissions for %s (%s), so %s",
				c.name,
				join(missing),
				c.without,
			)
			f.Remedy = reinstall
			if c.name == enforcing {
				f.Remedy = "grant them (docs/warm-pools.md#rights)"
			}
		}
		out = append(out, f)
	}
	return out
}

// missing returns those of an account's rights that it does not have, in words.
func (d *Doctor) missing(ctx context.Context, account string, rights []right) ([]string, error) {
	var out []string
	for _, r := range rights {
		var verbs []string
		for _, verb := range r.verbs {
			attributes := authorizationv1.ResourceAttributes{
				Verb: verb, Group: r.group, Resource: r.resource, Subresource: r.subresource, Name: r.name,
				Namespace: r.namespace,
			}
			if attributes.Namespace == ownNamespace {
				attributes.Namespace = d.Namespace
			}
			review, err := d.clients.AuthorizationV1().SubjectAccessReviews().Create(ctx,
				&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
					User: "system:serviceaccount:" + d.Namespace + ":" + account,
					Groups: []string{
						"system:serviceaccounts", "system:serviceaccounts:" + d.Namespace, "system:authenticated",
					},
					ResourceAttributes: &attributes,
				}}, metav1.CreateOptions{})
			if err != nil {
				return nil, err
			}
			if !review.Status.Allowed {
				verbs = append(verbs, verb)
			}
		}
		if len(verbs) > 0 {
			out = append(out, strings.Join(verbs, ",")+" "+r.String())
		}
	}
	return out, nil
}

// String is the resource as kubectl auth can-i writes it.
func (r right) String() string {
	text := r.resource
	if r.group != "" && r.group != "*" {
		text += "." + r.group
	}
	if r.subresource != "" {
		text += "/" + r.subresource
	}
	if r.name != "" {
		text += " " + r.name
	}
	return text
}
