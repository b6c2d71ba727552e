package signal

import (
	"fmt"
	"regexp"
	"strconv"
)

// scope is the workload that a template is rendered for. Its methods are the words that templates are written in.
type scope struct {
	namespace string
	target    Target
}

// selector is one metric with matchers of its own ("" for none), as it stands in a template.
type selector struct {
	metric   string
	matchers string
	// over is a range function applied to the selector, "rate" or "delta"; empty for an instant selector. It runs over
	// the range in window.
	over   string
	window string
}

// series is the metric in the Forecast's namespace with the workload's pod in the label pod, however it was scraped.
//
// An exporter such as dcgm-exporter or kube-state-metrics reports namespace and pod of others. Scraped with
// honorLabels: true they stay in namespace and pod; with false those labels are the exporter's own, and the reported
// ones arrive as exported_namespace and exported_pod. A series is of one kind or the other, so both halves can stand
// side by side: the first takes what has an exported_namespace, the second what has none. The exporter's own pod, which
// an idle GPU carries in pod, is no pod of the target and falls out at the join with the owners.
func (s scope) series(sel selector) string {
	matchers := sel.matchers
	if matchers != "" {
		matchers += ","
	}
	namespace := strconv.Quote(s.namespace)
	exported := sel.apply(matchers + "exported_namespace=" + namespace)
	own := sel.apply(matchers + `exported_namespace="",namespace=` + namespace)
	return fmt.Sprintf(`(label_replace(%s, "pod", "$1", "exported_pod", "(.+)") or %s)`, exported, own)
}

func (sel selector) apply(matchers string) string {
	plain := sel.metric + "{" + matchers + "}"
	if sel.over == "" {
		return plain
	}
	return fmt.Sprintf("%s(%s[%s])", sel.over, plain, sel.window)
}

// total is the sum of a per-pod expression over the target's pods. The expression may have several series for a pod.
func (s scope) total(perPod string) string {
	return fmt.Sprintf(`sum(%s * on (pod) group_left () %s)`, perPod, s.pods())
}

// pods is 1 for every pod of the target, in the label pod. group makes it 1 and one series per pod whatever the number
// of kube-state-metrics that report it.
func (s scope) pods() string {
	kind := s.target.Kind
	switch kind {
	case "Deployment":
		return `group by (pod) (` + s.viaReplicaSet() + `)`
	case "StatefulSet", "ReplicaSet", "DaemonSet", "Job":
		return `group by (pod) (` + s.directly(kind) + `)`
	case "LeaderWorkerSet":
		return `group by (pod) (` + s.directly(kind) + ` or ` + s.directly("StatefulSet") + ` or ` + s.workers() + `)`
	default: // A kind that we do not know owns its pods directly or, as an Argo Rollout does, through ReplicaSets.
		return `group by (pod) (` + s.directly(kind) + ` or ` + s.viaReplicaSet() + `)`
	}
}

// directly is the pods whose owner is of that kind and has the target's name.
func (s scope) directly(kind string) string {
	return `group by (pod, owner_name) (` + s.series(selector{
		metric:   "kube_pod_owner",
		matchers: fmt.Sprintf("owner_kind=%q,owner_name=%q", kind, s.target.Name),
	}) + `)`
}

// viaReplicaSet is the pods whose ReplicaSet is owned by the target.
func (s scope) viaReplicaSet() string {
	pods := s.series(selector{metric: "kube_pod_owner", matchers: `owner_kind="ReplicaSet"`})
	sets := s.series(selector{
		metric:   "kube_replicaset_owner",
		matchers: fmt.Sprintf("owner_kind=%q,owner_name=%q", s.target.Kind, s.target.Name),
	})
	return fmt.Sprintf(`group by (pod, owner_name) (%s) * on (owner_name) group_left ()
		group by (owner_name) (label_replace(%s, "owner_name", "$1", "replicaset", "(.+)"))`, pods, sets)
}

// workers is the worker pods of a LeaderWorkerSet. It keeps its leaders in a StatefulSet of its own name, and the
// workers of the leader pod NAME-i in a StatefulSet NAME-i. That the leader pod is there tells them from an unrelated
// StatefulSet that happens to be called so.
func (s scope) workers() string {
	sets := s.series(selector{
		metric: "kube_pod_owner",
		matchers: fmt.Sprintf(`owner_kind="StatefulSet",owner_name=~%q`,
			regexp.QuoteMeta(s.target.Name)+"-[0-9]+"),
	})
	return fmt.Sprintf(`group by (pod, owner_name) (%s) * on (owner_name) group_left ()
		group by (owner_name) (label_replace(%s, "owner_name", "$1", "pod", "(.+)"))`, sets, s.directly("StatefulSet"))
}
