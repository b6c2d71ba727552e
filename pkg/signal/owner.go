package signal

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// revisionNumber is the number of a Knative revision: at least five digits.
const revisionNumber = "[0-9]{5,}"

// generatedSuffix is the suffix that Kubernetes generates for names: five of these characters.
const generatedSuffix = "[bcdfghjklmnpqrstvwxz2456789]{5}"

// owner matches the owner of pods or ReplicaSets.
type owner struct {
	kind string
	// name of the owner, and a regular expression of what may follow it.
	name, suffix string
}

func (o owner) matchers() string {
	if o.suffix == "" {
		return fmt.Sprintf("owner_kind=%q,owner_name=%q", o.kind, o.name)
	}
	return fmt.Sprintf("owner_kind=%q,owner_name=~%q", o.kind, regexp.QuoteMeta(o.name)+o.suffix)
}

// pods is 1 for every pod of the target, in the label pod. group makes it 1 and one series per pod whatever the number
// of kube-state-metrics that report it.
func (s scope) pods() string { return `group by (pod) (` + s.ownedPods() + `)` }

// podsWithReplica is pods with their replica in the label replica: the pod itself, or the leader of its group.
func (s scope) podsWithReplica() string {
	if gang := s.leaderWorkerSet(); gang != "" {
		return fmt.Sprintf(`group by (pod, replica) (label_replace(%s, "replica", "$1", "owner_name", "(.+)") or
			label_replace(%s, "replica", "$1", "pod", "(.+)"))`, s.workerPods(gang), s.replicaPods())
	}
	return `label_replace(` + s.pods() + `, "replica", "$1", "pod", "(.+)")`
}

// leaderWorkerSet is the name of the LeaderWorkerSet of a target; empty if it cannot have one.
func (s scope) leaderWorkerSet() string {
	switch s.target.Kind {
	case "LeaderWorkerSet":
		return s.target.Name
	case "LLMInferenceService":
		return s.target.Name + "-kserve-mn"
	}
	return ""
}

// replicaPods has one pod for each replica: the leaders in a LeaderWorkerSet, else all pods.
func (s scope) replicaPods() string {
	gang := s.leaderWorkerSet()
	leaders := s.ownedBy(owner{kind: "LeaderWorkerSet", name: gang}) + ` or ` +
		s.ownedBy(owner{kind: "StatefulSet", name: gang})
	switch {
	case s.target.Kind == "LLMInferenceService":
		return s.viaReplicaSet(owner{kind: "Deployment", name: s.target.Name + "-kserve"}) + ` or ` + leaders
	case gang != "":
		return leaders
	case s.target.Kind == "InferenceService": // Workers of a multi-node predictor are parts of its replicas.
		return s.viaReplicaSet(s.predictor(""))
	}
	return s.ownedPods()
}

// predictor is KServe's Deployment of an InferenceService, or Knative's for a revision of it; older ones add
// "-default".
func (s scope) predictor(worker string) owner {
	return owner{
		"Deployment", s.target.Name, "-predictor(-default)?(" + worker + "-" + revisionNumber + "-deployment)?",
	}
}

func (s scope) ownerOfKind(kind string) owner { return owner{kind: kind, name: s.target.Name} }

// ownedPods is the pods of the target, some several times. kube-state-metrics reports direct owners only, so objects
// between a target and its pods are matched by the names that their controllers give them.
func (s scope) ownedPods() string {
	switch kind := s.target.Kind; kind {
	case "Deployment":
		return s.viaReplicaSet(s.ownerOfKind(kind))
	case "StatefulSet", "ReplicaSet", "DaemonSet", "Job", "RayCluster":
		return s.ownedBy(s.ownerOfKind(kind))
	case "LeaderWorkerSet",
		"LLMInferenceService": // KServe's, for one node or several; separate prefill pods have their own demand.
		return s.replicaPods() + ` or ` + s.workerPods(s.leaderWorkerSet())
	case "RayService": // One RayCluster, two during a replacement; "-raycluster" until KubeRay 1.3.
		return s.ownedBy(owner{"RayCluster", s.target.Name, "(-raycluster)?-" + generatedSuffix})
	case "InferenceService":
		return s.viaReplicaSet(s.predictor("-worker|"))
	case "Service": // Knative's: a Deployment for each revision.
		return s.viaReplicaSet(owner{"Deployment", s.target.Name, "-" + revisionNumber + "-deployment"})
	case "Revision": // Knative's.
		return s.viaReplicaSet(owner{kind: "Deployment", name: s.target.Name + "-deployment"})
	default: // Other kinds own their pods directly or, like an Argo Rollout, through ReplicaSets.
		return s.ownedBy(s.ownerOfKind(kind)) + ` or ` + s.viaReplicaSet(s.ownerOfKind(kind))
	}
}

// ownedBy is the pods with that owner.
func (s scope) ownedBy(o owner) string {
	return `group by (pod, owner_name) (` + s.instantSeries("kube_pod_owner", o.matchers(), "owner_name") + `)`
}

// viaReplicaSet is the pods whose ReplicaSet has that owner.
func (s scope) viaReplicaSet(o owner) string {
	pods := s.instantSeries("kube_pod_owner", `owner_kind="ReplicaSet"`, "owner_name")
	sets := s.instantSeries("kube_replicaset_owner", o.matchers(), "replicaset")
	return fmt.Sprintf(`group by (pod, owner_name) (%s) * on (owner_name) group_left ()
		group by (owner_name) (label_replace(%s, "owner_name", "$1", "replicaset", "(.+)"))`, pods, sets)
}

// workerPods is the worker pods of a LeaderWorkerSet, with their leader's name in owner_name. The leaders are in a
// StatefulSet of its name, and the workers of the leader pod NAME-i in a StatefulSet NAME-i. The leader pod must exist,
// so that an unrelated StatefulSet of such a name does not match.
func (s scope) workerPods(gang string) string {
	sets := s.ownedBy(owner{kind: "StatefulSet", name: gang, suffix: "-[0-9]+"})
	leaders := s.ownedBy(owner{kind: "StatefulSet", name: gang})
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
	ready := s.instantSeries("kube_pod_status_ready", `condition="true"`)
	return s.formatQuery(
		fmt.Sprintf(`sum(max by (pod) (%s) * on (pod) group_left () group by (pod) (%s))`, ready, s.replicaPods()),
	)
}

// Silent is PromQL for the number of ready replicas of a workload of which a rendered preset has no sample: no series if all
// report. It is empty for a preset that does not add up pods, and for a workload whose replicas cannot be counted.
func Silent(expr, namespace string, target Target, trust Trust) string {
	root, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	ready, unknown := ReadyReplicas(namespace, target, trust)
	if err != nil || unknown != nil {
		return ""
	}
	var reports string
	parser.Inspect(root, func(node parser.Node, _ []parser.Node) error {
		if b, ok := node.(*parser.BinaryExpr); ok && reports == "" && b.Op == parser.MUL &&
			b.VectorMatching != nil && b.VectorMatching.On && slices.Equal(b.VectorMatching.MatchingLabels, []string{"pod"}) {
			reports = b.LHS.String()
		}
		return nil
	})
	if reports == "" {
		return ""
	}
	return "count(" + strings.TrimPrefix(ready, "sum") + " == 1 unless on (pod) " + reports + ")"
}
