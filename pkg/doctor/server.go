package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/kube/client"
	"github.com/forewarm/forewarm/pkg/kube/peers"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// checkServer: do replicas of Forewarm run, with a source, and does one of them lead?
func checkServer(ctx context.Context, d *Doctor, s *state) []Finding {
	const name = "Deployment"
	object := "Deployment " + d.Namespace + "/" + s.name
	if s.missing {
		return []Finding{{
			Check: name, Level: Error, Object: object, Message: "does not exist",
			Remedy: reinstall + ", or select Forewarm's namespace with --namespace",
		}}
	}
	if s.deployment == nil {
		return d.checkLeader(ctx, s)
	}
	f := Finding{Check: name, Level: OK, Object: object}
	want, ready := int32(1), s.deployment.Status.ReadyReplicas
	if s.deployment.Spec.Replicas != nil {
		want = *s.deployment.Spec.Replicas
	}
	f.Message = fmt.Sprintf("%d of %d replicas are ready", ready, want)
	switch {
	case want == 0:
		f.Level, f.Remedy = Error, fmt.Sprintf("kubectl scale -n %s deployment/%s --replicas=2", d.Namespace, s.name)
	case ready < want:
		f.Level = Warning
		if ready == 0 {
			f.Level = Error
		}
		why, remedy := d.whyNotReady(ctx, s)
		f.Message, f.Remedy = f.Message+why, remedy
	}
	return append([]Finding{f, d.sourceFlag(s)}, d.checkLeader(ctx, s)...)
}

// sourceFlag is whether Forewarm has a source of history.
func (d *Doctor) sourceFlag(s *state) Finding {
	f := Finding{Check: "Source", Level: OK, Object: "Deployment " + d.Namespace + "/" + s.name}
	switch url := s.args["prometheus-url"]; {
	case url != "":
		f.Message = "reads history from " + prometheus.RedactedURL(url)
	case s.args["sources-file"] != "":
		f.Message = "reads history from the sources that are granted to each namespace (--sources-file)"
	case s.args["scrape-config"] != "":
		f.Message = "stores its own history (--scrape-config)"
	default:
		f.Level, f.Message = Error, "has no history, because none of --prometheus-url, --sources-file and --scrape-config is set"
		f.Remedy = "set --prometheus-url to your Prometheus, Thanos, Mimir or VictoriaMetrics"
	}
	return f
}

// whyNotReady is the first reason that a pod of Forewarm has, and what to do.
func (d *Doctor) whyNotReady(ctx context.Context, s *state) (why, remedy string) {
	remedy = fmt.Sprintf(
		"kubectl get pods -n %s; kubectl logs -n %s deployment/%s; /readyz?verbose shows what it is waiting for",
		d.Namespace,
		d.Namespace,
		s.name,
	)
	selector := metav1.FormatLabelSelector(s.deployment.Spec.Selector)
	pods, err := d.clients.CoreV1().Pods(d.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return "", remedy
	}
	for i := range pods.Items {
		if why, special := podProblem(&pods.Items[i], remedy); why != "" {
			return why, special
		}
	}
	if len(pods.Items) == 0 && s.deployment.Status.ReadyReplicas == 0 {
		return ": there are no pods", fmt.Sprintf("kubectl describe replicaset -n %s shows the reason", d.Namespace)
	}
	return "", remedy
}

// podProblem is why a pod does not run, and what to do: a remedy of its own, or another; empty where it runs.
func podProblem(p *corev1.Pod, otherwise string) (why, remedy string) {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			why = fmt.Sprintf(": the pod %s is waiting for a node: %.*s", p.Name, client.MaxMessage, c.Message)
			return why, "free capacity on a node, or add a node"
		}
	}
	for i := range p.Status.ContainerStatuses {
		if w := p.Status.ContainerStatuses[i].State.Waiting; w != nil && w.Reason != "ContainerCreating" {
			return fmt.Sprintf(": the pod %s does not start: %s: %.*s", p.Name, w.Reason, client.MaxMessage, w.Message),
				remedyOf(w.Reason, otherwise)
		}
	}
	return "", ""
}

func remedyOf(reason, otherwise string) string {
	if strings.Contains(reason, "Image") {
		return "use an image that the nodes can pull (deploy/README.md)"
	}
	return otherwise
}

// leaseLate is the age of a lease at which its holder is no longer the leader. A leader renews it every few seconds.
const leaseLate = time.Minute

// checkLeader: one replica writes statuses, certificates and warm pools, by a lease. By the same lease the replicas compare themselves.
func (d *Doctor) checkLeader(ctx context.Context, s *state) []Finding {
	name := cmp.Or(s.args["lease-name"], s.name)
	object := "Lease " + d.Namespace + "/" + name
	lease, err := d.clients.CoordinationV1().Leases(d.Namespace).Get(ctx, name, metav1.GetOptions{})
	f := Finding{
		Check:  "Leader",
		Level:  Error,
		Object: object,
		Remedy: "check the pods of Forewarm, and its permissions (the check Rights)",
	}
	switch {
	case isAbsent(err):
		f.Message = "no replica has ever been the leader, so Forewarm writes no status and no certificates"
	case err != nil:
		f = unread("Leader", "the "+object, err)
		f.Object = object
	case !live(lease, s.now(d)):
		f.Message = "no replica is the leader, so Forewarm writes no status and no certificates"
	default:
		f.Level, f.Remedy, f.Message = OK, "", "is held by "+*lease.Spec.HolderIdentity
		return append([]Finding{f}, compareReplicas(lease)...)
	}
	return []Finding{f}
}

// compareReplicas: do the replicas differ in what decides the values that they serve? Those of a version that does not say so are left
// out.
func compareReplicas(lease *coordinationv1.Lease) []Finding {
	var out []Finding
	f := Finding{Check: "Replicas", Level: Warning, Object: "Lease " + lease.Namespace + "/" + lease.Name}
	all := peers.Read(lease)
	for _, difference := range peers.Compare(all) {
		f.Message, f.Remedy = difference.Reason+": "+difference.Message, difference.Remedy()
		out = append(out, f)
	}
	if len(out) == 0 && len(all) > 1 {
		f.Level, f.Message = OK, fmt.Sprintf("the %d replicas have the same version, settings and clock", len(all))
		out = append(out, f)
	}
	return out
}

func live(lease *coordinationv1.Lease, now time.Time) bool {
	spec := &lease.Spec
	return spec.HolderIdentity != nil && *spec.HolderIdentity != "" && spec.RenewTime != nil &&
		now.Sub(spec.RenewTime.Time) < leaseLate
}

// checkOthers: a cluster has one Forewarm. Two write the same statuses and fight for the API groups.
func checkOthers(ctx context.Context, d *Doctor, s *state) []Finding {
	const name = "OneForewarm"
	var namespaces []string
	add := func(namespace string) {
		if namespace != d.Namespace && !slices.Contains(namespaces, namespace) {
			namespaces = append(namespaces, namespace)
		}
	}
	all, err := d.clients.AppsV1().Deployments("").List(ctx, metav1.ListOptions{LabelSelector: ownLabel})
	if err != nil {
		return []Finding{
			unread(name, "the Deployments of all namespaces, so a second Forewarm would not be found", err),
		}
	}
	for i := range all.Items {
		add(all.Items[i].Namespace)
	}
	leases, err := d.clients.CoordinationV1().
		Leases("").
		List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + ownName})
	if err == nil { // Else the Deployments must do.
		for i := range leases.Items {
			if live(&leases.Items[i], s.now(d)) {
				add(leases.Items[i].Namespace)
			}
		}
	}
	if len(namespaces) == 0 {
		return []Finding{{Check: name, Level: OK, Message: "there is no other Forewarm in the cluster"}}
	}
	return []Finding{
		{
			Check:  name,
			Level:  Error,
			Object: "namespace " + join(namespaces),
			Message: "contains a second Forewarm, in addition to the one in " + d.Namespace + ", so both write the status of all " +
				"Forecasts and the capacity of warm pools is held twice",
			Remedy: "keep one of them (docs/operations.md#uninstall)",
		},
	}
}
