package aggregation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Reasons of the condition Reachable.
const (
	// reasonReachable (True): the API groups external.metrics.k8s.io and custom.metrics.k8s.io point to Forewarm.
	reasonReachable = "Reachable"
	// reasonExternalMetricOnly (True): only external.metrics.k8s.io points to Forewarm.
	//
	// Fix: use an External metric.
	reasonExternalMetricOnly = "ExternalMetricOnly"
	// reasonObjectMetricOnly (True): only custom.metrics.k8s.io points to Forewarm.
	//
	// Fix: use an Object metric (docs/hpa.md#external-or-object-metric), or KEDA (docs/keda.md).
	reasonObjectMetricOnly = "ObjectMetricOnly"
	// reasonOwnedByOthers (False): both API groups point to other servers.
	//
	// Fix: use KEDA (docs/keda.md), or give Forewarm one of the groups.
	reasonOwnedByOthers = "OwnedByOthers"
	// reasonAPIServiceUnavailable (False): an API group points to Forewarm, but the kube-apiserver cannot reach Forewarm.
	//
	// Fix: see the error of the kube-apiserver in the message. Check the certificate, NetworkPolicies and the pods.
	reasonAPIServiceUnavailable = "APIServiceUnavailable"
	// reasonNoAPIService (False): neither API group exists in the cluster.
	//
	// Fix: check the log of Forewarm's leader. Unless the flag for a group is false, the leader takes the group if no other server has
	// it. If something prevents this, the log says what.
	reasonNoAPIService = "NoAPIService"
)

// The API groups that Forewarm can serve.
const (
	External = "external.metrics.k8s.io"
	Custom   = "custom.metrics.k8s.io"
	Inspect  = "inspect.forewarm.dev"
)

// groups returns the API groups that Forewarm can serve.
func groups() []string { return []string{External, Custom, Inspect} }

// Service is where requests for a group go, NAMESPACE/NAME.
type Service string

// Validate returns what is wrong with a service's name.
func (s Service) Validate() error {
	namespace, name, ok := split(s)
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1035Label(name)) > 0 {
		return fmt.Errorf("%.100q is not a service: write NAMESPACE/NAME, for example forewarm-system/forewarm",
			string(s))
	}
	return nil
}

func split(s Service) (namespace, name string, ok bool) { return strings.Cut(string(s), "/") }

// GroupOwners are the services behind each group. Different services behind the versions of a group are a
// misconfiguration: the HPA controller requests the version that the cluster prefers, from whichever service.
type GroupOwners map[string][]Service

// add records that one version of a group leads to a service.
func (h GroupOwners) add(group string, service Service) {
	if !slices.Contains(h[group], service) {
		h[group] = append(h[group], service)
		slices.Sort(h[group])
	}
}

// ownedBy reports whether all versions of a group lead to a service.
func (h GroupOwners) ownedBy(group string, service Service) bool {
	return len(h[group]) == 1 && h[group][0] == service
}

// describe returns a text that says who owns a group.
func (h GroupOwners) describe(group string, own Service) string {
	if h.ownedBy(group, own) {
		return "leads to Forewarm"
	}
	if len(h[group]) == 0 {
		return "leads nowhere"
	}
	names := make([]string, len(h[group]))
	for i, s := range h[group] {
		names[i] = string(s)
	}
	return "leads to " + strings.Join(names, " and ")
}

// condition says whether an HPA can reach the metric of a Forecast, and who owns the groups. unavailable says why the kube-apiserver cannot
// reach a group that leads here.
func (h GroupOwners) condition(own Service, unavailable map[string]string) snapshot.Condition {
	external, custom := h.ownedBy(External, own), h.ownedBy(Custom, own)
	c := snapshot.Condition{
		Type: snapshot.ConditionReachable, True: external || custom, Reason: reasonReachable,
		Message: fmt.Sprintf("%s %s, %s %s", External, h.describe(External, own), Custom, h.describe(Custom, own)),
	}
	for _, group := range []string{External, Custom} {
		if why := unavailable[group]; why != "" && h.ownedBy(group, own) {
			c.True, c.Reason = false, reasonAPIServiceUnavailable
			c.Message += fmt.Sprintf(", but the kube-apiserver cannot reach Forewarm (%s): check the certificate and "+
				"NetworkPolicies, and run kubectl describe apiservice %s", why, Names()[group])
			return c
		}
	}
	switch {
	case external && custom:
	case external:
		c.Reason = reasonExternalMetricOnly
		c.Message += ": use an External metric"
	case custom:
		c.Reason = reasonObjectMetricOnly
		c.Message += ": use an Object metric, or KEDA's external trigger"
	case len(h[External])+len(h[Custom]) == 0:
		c.Reason = reasonNoAPIService
		c.Message += ", so no HPA can reach this metric: wait until Forewarm's leader takes over a free group, or " +
			"read in its log what prevents it"
	default:
		c.Reason = reasonOwnedByOthers
		c.Message += ", so no HPA can reach this metric: use KEDA's external trigger, or give Forewarm one of the groups"
	}
	return c
}

// change is a group with a new owner.
type change struct {
	group string
	// lost is true if the group led here before, gained if it leads here now.
	lost, gained bool
	message      string
}

// changesSince returns the groups whose owner changed, in the order of the groups. It returns none if the previous owners are unknown.
func changesSince(before, now GroupOwners, own Service) []change {
	if before == nil {
		return nil
	}
	var out []change
	for _, group := range groups() {
		if slices.Equal(before[group], now[group]) {
			continue
		}
		out = append(out, change{
			group: group, lost: before.ownedBy(group, own), gained: now.ownedBy(group, own),
			message: fmt.Sprintf("%s now %s; previously it %s", group, now.describe(group, own),
				strings.Replace(before.describe(group, own), "leads", "led", 1)),
		})
	}
	return out
}
