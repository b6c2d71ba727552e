package signal

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// revisionNumber is the number of a Knative revision: at least five digits.
const revisionNumber = "[0-9]{5,}"

// generatedSuffix is the suffix that Kubernetes appends to generated names: five of these characters.
const generatedSuffix = "[bcdfghjklmnpqrstvwxz2456789]{5}"

// owner is the owner of pods or ReplicaSets: its kind, and a regular expression for the part of its name after the target's name.
type owner struct{ kind, suffix string }

// matchers returns the matchers for an owner of the target, under each present and former name of the target.
func (s scope) matchers(o owner) string {
	return fmt.Sprintf("owner_kind=%q,", o.kind) + s.named("owner_name", o.suffix)
}

// named matches a label against a name of the target, followed by a regular expression.
func (s scope) named(label, suffix string) string {
	names := []string{regexp.QuoteMeta(s.target.Name)}
	for _, former := range s.target.FormerNames {
		names = append(names, regexp.QuoteMeta(former))
	}
	switch {
	case len(names) > 1:
		return fmt.Sprintf("%s=~%q", label, "("+strings.Join(names, "|")+")"+suffix)
	case regexp.QuoteMeta(suffix) == suffix:
		return fmt.Sprintf("%s=%q", label, s.target.Name+suffix)
	}
	return fmt.Sprintf("%s=~%q", label, names[0]+suffix)
}

// Metrics of kube-state-metrics that report the owners of pods and of ReplicaSets.
const (
	PodOwner        = "kube_pod_owner"
	ReplicaSetOwner = "kube_replicaset_owner"
)

const (
	// ownersFor is how long an owner counts after kube-state-metrics last reported it. A pod never gets another owner. A rate still contains
	// the requests that a deleted pod served, for the length of its window, and in VictoriaMetrics for another
	// -search.minStalenessInterval=5m. A short outage of kube-state-metrics also has no effect.
	ownersFor = 10 * time.Minute
	// ghostsFor is how long Forewarm remembers that a pod was deleted. dcgm-exporter reports pods for up to half an hour after their deletion.
	ghostsFor = 2 * time.Hour
)

// ownerSeries is the series of PodOwner or ReplicaSetOwner.
func (s scope) ownerSeries(name, matchers string, by ...string) string {
	return s.series("max", name, metric{matchers: matchers, over: "last_over_time", window: ownersFor}, by...)
}

// ownedAtAll is 1 for every pod that kube-state-metrics reports, with or without an owner.
func (s scope) ownedAtAll() string { return `group by (pod) (` + s.ownerSeries(PodOwner, "") + `)` }

// unlessUnknown drops a value while there are reporting pods that kube-state-metrics has never known, because it is behind or down, or one
// of its shards is. Some of these pods may belong to the target, and the value would be too small.
func (s scope) unlessUnknown(value, perPod string) string {
	return fmt.Sprintf(`(%s unless on () (%s unless on (pod) %s))`, value, perPod, s.knownPods())
}

// knownPods is the pods with a known owner, or with no owner. If the owner is a ReplicaSet, its own owner must also be known. Ghosts are
// known, too.
func (s scope) knownPods() string {
	pods := s.ownerSeries(PodOwner, `owner_kind="ReplicaSet"`, "owner_name")
	sets := s.ownerSeries(ReplicaSetOwner, "", "replicaset")
	return fmt.Sprintf(`(group by (pod) (%s or %s or %s) unless on (pod) (%s unless on (owner_name)
		label_replace(%s, "owner_name", "$1", "replicaset", "(.+)")))`, noPod, s.ownedAtAll(), s.deletedPods(), pods, sets)
}

// deletedPods is the pods that an instance of kube-state-metrics knew and no longer reports, although it reports other pods. An exporter
// may still report such pods for a while. They are ghosts and have no demand. If the instance that knew a pod is down, it is not known
// whether the pod was deleted.
func (s scope) deletedPods() string {
	known := s.series("group", PodOwner, metric{over: "last_over_time", window: ghostsFor}, "instance")
	reporting := s.series("group", PodOwner, metric{}, "instance")
	return fmt.Sprintf(`%s and on (instance) %s`, known, reporting)
}

// noPod is an expression for a series without the label pod and without an owner.
const noPod = "vector(1)"

// pods is 1 for every pod of the target, in the label pod. group makes the value 1 and leaves one series per pod, even if several instances
// of kube-state-metrics report it.
func (s scope) pods() string { return `group by (pod) (` + s.ownedPods() + `)` }

// Pods is PromQL with 1 for every pod of the target, in the label pod, by what the namespace's own kube-state-metrics reports.
func (t Target) Pods(namespace string) string {
	return scope{namespace: namespace, target: t}.pods()
}

// podsWithReplica is the pods with their replica in the label replica. The replica is the pod itself, or the leader of its group.
func (s scope) podsWithReplica() string {
	if gang, ok := s.leaderWorkerSet(); ok {
		return fmt.Sprintf(`group by (pod, replica) (label_replace(%s, "replica", "$1", "owner_name", "(.+)") or
			label_replace(%s, "replica", "$1", "pod", "(.+)"))`, s.workerPods(gang), s.replicaPods())
	}
	return `label_replace(` + s.pods() + `, "replica", "$1", "pod", "(.+)")`
}

// leaderWorkerSet returns the part of the LeaderWorkerSet's name after the target's name, if the target can have a LeaderWorkerSet.
func (s scope) leaderWorkerSet() (suffix string, ok bool) {
	switch s.target.Kind {
	case "LeaderWorkerSet":
		return "", true
	case "LLMInferenceService":
		return "-kserve-mn", true
	}
	return "", false
}

// replicaPods has one pod for each replica: the leaders in a LeaderWorkerSet, or else all pods.
func (s scope) replicaPods() string {
	gang, ok := s.leaderWorkerSet()
	leaders := s.ownedBy(owner{"LeaderWorkerSet", gang}) + ` or ` + s.ownedBy(owner{"StatefulSet", gang})
	switch {
	case s.target.Kind == "LLMInferenceService":
		return s.viaReplicaSet(owner{"Deployment", "-kserve"}) + ` or ` + leaders
	case ok:
		return leaders
	case s.target.Kind == "InferenceService": // The workers of a multi-node predictor are parts of its replicas.
		return s.viaReplicaSet(predictor(""))
	}
	return s.ownedPods()
}

// predictor is the Deployment that KServe creates for an InferenceService, or that Knative creates for a revision of it. Older versions
// append "-default".
func predictor(worker string) owner {
	return owner{"Deployment", "-predictor(-default)?(" + worker + "-" + revisionNumber + "-deployment)?"}
}

// ownedPods is the pods of the target. Some may occur several times. kube-state-metrics reports only direct owners, so objects between a
// target and its pods are matched by the names that their controllers give to them.
func (s scope) ownedPods() string {
	switch kind := s.target.Kind; kind {
	case "Deployment":
		return s.viaReplicaSet(owner{kind: kind})
	case "StatefulSet", "ReplicaSet", "DaemonSet", "Job", "RayCluster":
		return s.ownedBy(owner{kind: kind})
	case "LeaderWorkerSet",
		"LLMInferenceService": // KServe, for one node or several; separate prefill pods have their own demand.
		gang, _ := s.leaderWorkerSet()
		return s.replicaPods() + ` or ` + s.workerPods(gang)
	case "RayService": // It has one RayCluster, or two during a replacement; "-raycluster" until KubeRay 1.3.
		return s.ownedBy(owner{"RayCluster", "(-raycluster)?-" + generatedSuffix})
	case "InferenceService":
		return s.viaReplicaSet(predictor("-worker|"))
	case "Service": // Knative, with a Deployment for each revision.
		return s.viaReplicaSet(owner{"Deployment", "-" + revisionNumber + "-deployment"})
	case "Revision": // Knative.
		return s.viaReplicaSet(owner{"Deployment", "-deployment"})
	default: // Other kinds own their pods directly or, like an Argo Rollout, through ReplicaSets.
		return s.ownedBy(owner{kind: kind}) + ` or ` + s.viaReplicaSet(owner{kind: kind})
	}
}

// ownedBy is the pods with that owner.
func (s scope) ownedBy(o owner) string {
	return `group by (pod, owner_name) (` + s.ownerSeries(PodOwner, s.matchers(o), "owner_name") + `)`
}

// viaReplicaSet is the pods whose ReplicaSet has that owner.
func (s scope) viaReplicaSet(o owner) string {
	pods := s.ownerSeries(PodOwner, `owner_kind="ReplicaSet"`, "owner_name")
	sets := s.ownerSeries(ReplicaSetOwner, s.matchers(o), "replicaset")
	return fmt.Sprintf(`group by (pod, owner_name) (%s) * on (owner_name) group_left ()
		group by (owner_name) (label_replace(%s, "owner_name", "$1", "replicaset", "(.+)"))`, pods, sets)
}

// workerPods is the worker pods of a LeaderWorkerSet, with their leader's name in owner_name. gang is the part of its name after the
// target's name. The leaders are in a StatefulSet with the name of the LeaderWorkerSet, and the workers of the leader pod NAME-i are in a
// StatefulSet NAME-i. The leader pod must exist, so that an unrelated StatefulSet with such a name does not match.
func (s scope) workerPods(gang string) string {
	sets := s.ownedBy(owner{"StatefulSet", gang + "-[0-9]+"})
	leaders := s.ownedBy(owner{"StatefulSet", gang})
	return fmt.Sprintf(`%s * on (owner_name) group_left ()
		group by (owner_name) (label_replace(%s, "owner_name", "$1", "pod", "(.+)"))`, sets, leaders)
}

// errNoReplica means that the replicas of a target cannot be counted by its pods.
var errNoReplica = errors.New("pods of a Ray cluster are not the replicas of the Ray Serve deployments on it")

// ReadyReplicas is PromQL for the number of ready replicas of a workload, from the metrics of kube-state-metrics: pods,
// or groups of a LeaderWorkerSet, by their leaders. It is one series, and none if the workload has no pod.
func ReadyReplicas(namespace string, target Target, trust Trust) (string, error) {
	err := checkNames(namespace, target)
	if target.Kind == "RayService" || target.Kind == "RayCluster" {
		err = errors.Join(err, errNoReplica)
	}
	if err != nil {
		return "", fmt.Errorf("ready replicas: %w", err)
	}
	s := scope{namespace: namespace, target: target, trust: trust}
	return s.formatQuery(fmt.Sprintf(`sum(max by (pod) (%s) * on (pod) group_left () group by (pod) (%s))`,
		s.instantSeries("kube_pod_status_ready", `condition="true"`), s.replicaPods()))
}

// UnknownOwner returns PromQL for the number of pods that report metrics of a rendered preset and have no owner in
// kube-state-metrics. The PromQL has no series if all owners are known. UnknownOwner is empty if the expression does not depend on
// owners.
func UnknownOwner(expr string) string {
	b := firstOn(expr, parser.LUNLESS)
	if b == nil {
		return ""
	}
	return "count(" + b.RHS.String() + ")"
}

// NotReporting returns PromQL for the number of ready replicas of a workload that have no sample in a rendered preset. The PromQL
// has no series if all replicas report. NotReporting is empty if the preset does not add up pods, or if the replicas of the workload
// cannot be counted.
func NotReporting(expr, namespace string, target Target, trust Trust) string {
	b := firstOn(expr, parser.MUL, "pod")
	ready, err := ReadyReplicas(namespace, target, trust)
	if b == nil || err != nil {
		return ""
	}
	return "count(" + strings.TrimPrefix(ready, "sum") + " == 1 unless on (pod) " + b.LHS.String() + ")"
}

// firstOn returns the first operation of an expression on exactly these labels; nil if there is none.
func firstOn(expr string, op parser.ItemType, labels ...string) (first *parser.BinaryExpr) {
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return nil
	}
	parser.Inspect(root, func(node parser.Node, _ []parser.Node) error {
		if b, ok := node.(*parser.BinaryExpr); ok && first == nil && b.Op == op && b.VectorMatching != nil &&
			b.VectorMatching.On && slices.Equal(b.VectorMatching.MatchingLabels, labels) {
			first = b
		}
		return nil
	})
	return first
}

// Deleted is PromQL for the pods that report to a rendered preset although they are deleted, a series for each; empty for an expression
// that does not depend on kube-state-metrics.
func Deleted(expr, namespace string, trust Trust) string {
	b := firstOn(expr, parser.LUNLESS)
	if b == nil {
		return ""
	}
	unknown, ok := withoutParens(b.RHS).(*parser.BinaryExpr)
	if !ok || unknown.Op != parser.LUNLESS {
		return ""
	}
	s := scope{namespace: namespace, trust: trust}
	deleted, err := s.formatQuery(fmt.Sprintf(`group by (pod) (%s and on (pod) (%s) unless on (pod) %s)`,
		unknown.LHS, s.deletedPods(), s.ownedAtAll()))
	if err != nil {
		return ""
	}
	return deleted
}

func withoutParens(expr parser.Expr) parser.Expr { //nolint:ireturn // The parser's own sum type.
	for {
		p, ok := expr.(*parser.ParenExpr)
		if !ok {
			return expr
		}
		expr = p.Expr
	}
}

// Lookback is how long one bad sample can affect the expression's value: its longest range plus the ranges of the
// sub-queries around it. It is 0 if every selector is instant, and if the expression does not parse.
func Lookback(expr string) time.Duration {
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return 0
	}
	return lookback(root)
}

func lookback(node parser.Node) time.Duration {
	longest := time.Duration(0)
	for child := range parser.ChildrenIter(node) {
		longest = max(longest, lookback(child))
	}
	switch n := node.(type) {
	case *parser.MatrixSelector:
		if s, ok := n.VectorSelector.(*parser.VectorSelector); ok && (s.Name == PodOwner || s.Name == ReplicaSetOwner) {
			return 0 // Owners are not a part of the value.
		}
		return n.Range
	case *parser.SubqueryExpr:
		return n.Range + longest
	}
	return longest
}
