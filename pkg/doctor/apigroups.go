package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/kube/client"
)

// apiService has the fields of an APIService (apiregistration.k8s.io/v1) that are used here.
type apiService struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec   apiServiceSpec   `json:"spec"`
	Status apiServiceStatus `json:"status,omitzero"`
}

type apiServiceSpec struct {
	Group                 string            `json:"group"`
	Service               *serviceReference `json:"service,omitempty"`
	CABundle              []byte            `json:"caBundle,omitempty"`
	InsecureSkipTLSVerify bool              `json:"insecureSkipTLSVerify,omitempty"`
}

type serviceReference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Port      int32  `json:"port,omitempty"`
}

type apiServiceStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// leadsTo is the service behind it.
func (a *apiService) leadsTo() aggregation.Service {
	return aggregation.Service(a.Spec.Service.Namespace + "/" + a.Spec.Service.Name)
}

// apiGroup is a group that Forewarm can serve.
type apiGroup struct {
	name string
	// flag switches it off.
	flag string
	// without is what does not work without it.
	without string
}

func apiGroups() []apiGroup {
	return []apiGroup{
		{aggregation.External, "serve-external-metrics", "an HPA cannot read a Forecast as an External metric"},
		{aggregation.Custom, "serve-custom-metrics", "an HPA cannot read a Forecast as an Object metric"},
		{aggregation.Inspect, "serve-inspect", "kubectl get outlooks and forewarm inspect do not work"},
	}
}

// resourceMetrics is the group of CPU and memory, which Forewarm does not serve.
const resourceMetrics = "metrics.k8s.io"

// readAPIServices reads those of Forewarm's groups, and of the resource metrics, that have a service behind them.
func (d *Doctor) readAPIServices(ctx context.Context) ([]apiService, error) {
	all, err := client.ListAll(ctx, d.objects.Resource(schema.GroupVersionResource{
		Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices",
	}))
	if err != nil {
		return nil, err
	}
	var out []apiService
	for i := range all {
		var one apiService
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(all[i].Object, &one); err != nil {
			return nil, fmt.Errorf("APIService %s: %w", all[i].GetName(), err)
		}
		known := one.Spec.Group == resourceMetrics ||
			slices.ContainsFunc(apiGroups(), func(g apiGroup) bool { return g.name == one.Spec.Group })
		if known && one.Spec.Service != nil {
			out = append(out, one)
		}
	}
	return out, nil
}

// checkAPIGroups checks which service each group leads to, whether that service answers, and whether an HPA can reach Forewarm at all.
func checkAPIGroups(_ context.Context, d *Doctor, s *state) []Finding {
	const name = "APIGroups"
	if s.apiServicesErr != nil {
		return []Finding{unread(name, "APIServices", s.apiServicesErr)}
	}
	var out []Finding
	held := map[string]bool{}
	for _, g := range apiGroups() {
		found, ours := s.checkGroup(g, d.service(s))
		out = append(out, found...)
		held[g.name] = ours
	}
	if held[aggregation.External] || held[aggregation.Custom] || s.args["keda-address"] != "" {
		return out
	}
	return append(out, Finding{
		Check: name, Level: Error,
		Message: "no HPA can read a Forecast, because neither " + aggregation.External + " nor " + aggregation.Custom +
			" leads to " + string(d.service(s)),
		Remedy: "give Forewarm one of the two groups (docs/hpa.md#external-or-object-metric), or use KEDA's external " +
			"trigger (docs/keda.md)",
	})
}

// checkGroup examines the APIServices of one group. ours is true where all of them lead to Forewarm.
func (s *state) checkGroup(g apiGroup, own aggregation.Service) (out []Finding, ours bool) {
	var holders []aggregation.Service
	for i := range s.apiServices {
		a := &s.apiServices[i]
		if a.Spec.Group != g.name {
			continue
		}
		if !slices.Contains(holders, a.leadsTo()) {
			holders = append(holders, a.leadsTo())
		}
		out = append(out, a.available(own))
	}
	f := Finding{Check: "APIGroups", Level: OK, Object: g.name}
	switch {
	case len(holders) == 1 && holders[0] == own:
		return out, true
	case len(holders) > 1:
		f.Level = Error
		f.Message = fmt.Sprintf(
			"its versions lead to %d different services (%s), so the HPA controller may read the wrong one",
			len(holders),
			joinServices(holders),
		)
		f.Remedy = "keep one service: delete the APIServices of the others, or set --" + g.flag + "=false"
	case s.args[g.flag] == "false":
		f.Message = "is not served, because --" + g.flag + " is false"
	case len(holders) == 0:
		f.Level, f.Message = Warning, "no server serves it, so "+g.without
		f.Remedy = "wait until Forewarm's leader takes over the group, at most ten minutes after the other server " +
			"gave it up; if the leader does not take it over, see the log of the leader; if you do not need the " +
			"group, set --" + g.flag + "=false"
	case g.name == aggregation.Inspect:
		f.Level, f.Message = Error, fmt.Sprintf("leads to %s and not to %s", joinServices(holders), own)
		f.Remedy = "if two Forewarms are installed, keep one of them; otherwise correct --namespace or the APIService"
	case s.args[g.flag] == string(aggregation.Required):
		f.Level, f.Message = Error, fmt.Sprintf("leads to %s, but --%s=true requires that Forewarm serves it",
			joinServices(holders), g.flag)
		f.Remedy = "delete the APIServices of that group, so that Forewarm takes it over, or set --" + g.flag + "=auto"
	default:
		f.Message = fmt.Sprintf("leads to %s, so %s", joinServices(holders), g.without)
	}
	return append(out, f), false
}

// available is whether the kube-apiserver can use an APIService, by its condition.
func (a *apiService) available(own aggregation.Service) Finding {
	f := Finding{
		Check: "APIGroups", Level: OK, Object: "APIService " + a.Name,
		Message: "leads to " + string(a.leadsTo()) + " and is available",
	}
	c := meta.FindStatusCondition(a.Status.Conditions, "Available")
	switch {
	case c == nil:
		f.Level, f.Message = Error, "the kube-apiserver has not checked it yet"
		f.Remedy = "wait a moment"
	case c.Status != metav1.ConditionTrue:
		f.Level = Error
		f.Message = fmt.Sprintf(
			"is not available (%s): %.*s; until this is fixed, no namespace of the cluster can be deleted", c.Reason,
			client.MaxMessage, strings.TrimSuffix(c.Message, "."),
		)
		f.Remedy = a.remedy(c, a.leadsTo() == own)
	}
	return f
}

// remedy says what to do about an APIService that is not available.
func (a *apiService) remedy(c *metav1.Condition, ours bool) string {
	service := a.Spec.Service
	switch {
	case c.Reason == "ServiceNotFound" && !ours:
		return "if that server was uninstalled: kubectl delete apiservice " + a.Name + "; otherwise install it again"
	case c.Reason == "ServiceNotFound":
		return reinstall
	case strings.Contains(c.Message, "signed by unknown authority"),
		strings.Contains(c.Message, "certificate is valid for"):
		if ours {
			return "its caBundle does not match the certificate of the server, although Forewarm's leader should " +
				"keep it up to date: see the other findings for the reason"
		}
		return "correct its caBundle by applying the manifests of " + string(a.leadsTo())
	case strings.Contains(c.Message, "has expired or is not yet valid"):
		return fmt.Sprintf("compare the clocks of the nodes, then kubectl rollout restart deployment -n %s %s",
			service.Namespace, service.Name)
	case strings.Contains(c.Message, "no endpoints"), c.Reason == "MissingEndpoints", c.Reason == "EndpointsNotFound":
		return "none of its pods is ready: kubectl get pods -n " + service.Namespace
	}
	return fmt.Sprintf(
		"kubectl logs -n %s deployment/%s; check whether a NetworkPolicy or firewall blocks the kube-apiserver",
		service.Namespace,
		service.Name,
	)
}

// leftoverGroups is who holds Forewarm's groups where it is not installed, and whether they answer.
func leftoverGroups(s *state) []Finding {
	if s.apiServicesErr != nil {
		return []Finding{unread("APIGroups", "APIServices", s.apiServicesErr)}
	}
	var out []Finding
	for i := range s.apiServices {
		if a := &s.apiServices[i]; a.Spec.Group != resourceMetrics {
			out = append(out, a.available(""))
		}
	}
	return out
}

func joinServices(all []aggregation.Service) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = string(s)
	}
	return strings.Join(words, " and ")
}
