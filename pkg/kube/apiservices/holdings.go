package apiservices

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// The groups in which an HPA finds a metric.
const (
	External = "external.metrics.k8s.io"
	Custom   = "custom.metrics.k8s.io"
	Inspect  = "inspect.forewarm.dev"
)

// groups are those that forewarm can serve.
func groups() []string { return []string{External, Custom, Inspect} }

// Service is where requests for a group go, NAMESPACE/NAME; empty where nobody has it.
type Service string

// Validate says what is wrong with a service's name.
func (s Service) Validate() error {
	namespace, name, ok := cut(s)
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1035Label(name)) > 0 {
		return fmt.Errorf("%.100q is no service, write NAMESPACE/NAME, for example forewarm-system/forewarm", string(s))
	}
	return nil
}

func cut(s Service) (namespace, name string, ok bool) { return strings.Cut(string(s), "/") }

// Holdings are the services behind each group. A group's versions may lead to different ones, which is a fault by itself:
// the HPA controller asks for the version that the cluster prefers, whoever is behind it.
type Holdings map[string][]Service

// add takes down that one version of a group leads to a service.
func (h Holdings) add(group string, service Service) {
	if !slices.Contains(h[group], service) {
		h[group] = append(h[group], service)
		slices.Sort(h[group])
	}
}

// holds says whether a group leads to a service, in all of its versions.
func (h Holdings) holds(group string, service Service) bool {
	return len(h[group]) == 1 && h[group][0] == service
}

// say is the holder of a group in words.
func (h Holdings) say(group string, own Service) string {
	if h.holds(group, own) {
		return "leads here"
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

// The reasons of the condition.
const (
	reasonReachable = "Reachable"
	reasonExternal  = "AsExternalMetric"
	reasonObject    = "AsObjectMetric"
	reasonTaken     = "HeldByOthers"
	reasonMissing   = "NoAPIService"
)

// condition says to a Forecast's reader whether an HPA can reach its metric, and who is in the way.
func (h Holdings) condition(own Service) snapshot.Condition {
	external, custom := h.holds(External, own), h.holds(Custom, own)
	c := snapshot.Condition{
		Type: snapshot.ConditionReachable, True: external || custom, Reason: reasonReachable,
		Message: fmt.Sprintf("%s %s, %s %s", External, h.say(External, own), Custom, h.say(Custom, own)),
	}
	switch {
	case external && custom:
	case external:
		c.Reason = reasonExternal
		c.Message += ": use an External metric"
	case custom:
		c.Reason = reasonObject
		c.Message += ": use an Object metric, or KEDA's external trigger"
	case len(h[External])+len(h[Custom]) == 0:
		c.Reason = reasonMissing
		c.Message += ": no HPA reaches this metric, apply forewarm's APIServices (deploy/apiservice)"
	default:
		c.Reason = reasonTaken
		c.Message += ": no HPA reaches this metric; use KEDA's external trigger, or give forewarm one of the groups"
	}
	return c
}

// change is a group that changed hands.
type change struct {
	group string
	// lost says that it led here before; gained, that it does now.
	lost, gained bool
	words        string
}

// changes are the groups that lead elsewhere than before, in their order. What was never known did not change.
func changes(before, now Holdings, own Service) []change {
	if before == nil {
		return nil
	}
	var out []change
	for _, group := range groups() {
		if slices.Equal(before[group], now[group]) {
			continue
		}
		out = append(out, change{
			group: group, lost: before.holds(group, own), gained: now.holds(group, own),
			words: fmt.Sprintf("%s %s; before, it %s", group, now.say(group, own),
				strings.Replace(before.say(group, own), "leads", "led", 1)),
		})
	}
	return out
}
