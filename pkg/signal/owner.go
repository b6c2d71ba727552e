package signal

import (
	"errors"
	"fmt"
	"regexp"
)

// ordinal is the number that Knative counts revisions by: five digits at least.
const ordinal = "[0-9]{5,}"

// random is the suffix that Kubernetes generates for names: five of these characters, no vowels among them.
const random = "[bcdfghjklmnpqrstvwxz2456789]{5}"

// owner is a matcher on what owns pods or ReplicaSets.
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
func (s scope) pods() string { return `group by (pod) (` + s.owned() + `)` }

// replicas is pods with the replica that each belongs to in the label replica: the pod itself, or the leader of its
// group.
func (s scope) replicas() string {
	if gang := s.gang(); gang != "" {
		return fmt.Sprintf(`group by (pod, replica) (label_replace(%s, "replica", "$1", "owner_name", "(.+)") or
			label_replace(%s, "replica", "$1", "pod", "(.+)"))`, s.workers(gang), s.heads())
	}
	return `label_replace(` + s.pods() + `, "replica", "$1", "pod", "(.+)")`
}

// gang is the name of the LeaderWorkerSet that a target is or may be made of, "" where it is none.
func (s scope) gang() string {
	switch s.target.Kind {
	case "LeaderWorkerSet":
		return s.target.Name
	case "LLMInferenceService":
		return s.target.Name + "-kserve-mn"
	}
	return ""
}

// heads are the pods of which each stands for a replica: those of a gang that lead a group, else all.
func (s scope) heads() string {
	gang := s.gang()
	leaders := s.directly(owner{kind: "LeaderWorkerSet", name: gang}) + ` or ` +
		s.directly(owner{kind: "StatefulSet", name: gang})
	switch {
	case s.target.Kind == "LLMInferenceService":
		return s.viaReplicaSet(owner{kind: "Deployment", name: s.target.Name + "-kserve"}) + ` or ` + leaders
	case gang != "":
		return leaders
	case s.target.Kind == "InferenceService": // The workers of a predictor over several nodes are parts of its replicas.
		return s.viaReplicaSet(s.predictor(""))
	}
	return s.owned()
}

// predictor is KServe's Deployment of an InferenceService, or Knative's for a revision of it; older ones add "-default".
func (s scope) predictor(worker string) owner {
	return owner{"Deployment", s.target.Name, "-predictor(-default)?(" + worker + "-" + ordinal + "-deployment)?"}
}

func (s scope) owner(kind string) owner { return owner{kind: kind, name: s.target.Name} }

// owned is the pods of the target, perhaps several times. kube-state-metrics names direct owners only, so what stands
// between a target and its pods is known by the name that its controller gives it.
func (s scope) owned() string {
	switch kind := s.target.Kind; kind {
	case "Deployment":
		return s.viaReplicaSet(s.owner(kind))
	case "StatefulSet", "ReplicaSet", "DaemonSet", "Job", "RayCluster":
		return s.directly(s.owner(kind))
	case "LeaderWorkerSet",
		"LLMInferenceService": // KServe's, for one node or for several; what prefills apart has a demand of its own.
		return s.heads() + ` or ` + s.workers(s.gang())
	case "RayService": // A RayCluster at a time, two while it is replaced; "-raycluster" until KubeRay 1.3.
		return s.directly(owner{"RayCluster", s.target.Name, "(-raycluster)?-" + random})
	case "InferenceService":
		return s.viaReplicaSet(s.predictor("-worker|"))
	case "Service": // Knative's: a Deployment for each revision.
		return s.viaReplicaSet(owner{"Deployment", s.target.Name, "-" + ordinal + "-deployment"})
	case "Revision": // Knative's.
		return s.viaReplicaSet(owner{kind: "Deployment", name: s.target.Name + "-deployment"})
	default: // A kind that we do not know owns its pods directly or, as an Argo Rollout does, through ReplicaSets.
		return s.directly(s.owner(kind)) + ` or ` + s.viaReplicaSet(s.owner(kind))
	}
}

// directly is the pods whose owner is that one.
func (s scope) directly(o owner) string {
	return `group by (pod, owner_name) (` + s.fact("kube_pod_owner", o.matchers()) + `)`
}

// viaReplicaSet is the pods whose ReplicaSet is owned by that one.
func (s scope) viaReplicaSet(o owner) string {
	pods := s.fact("kube_pod_owner", `owner_kind="ReplicaSet"`)
	sets := s.fact("kube_replicaset_owner", o.matchers())
	return fmt.Sprintf(`group by (pod, owner_name) (%s) * on (owner_name) group_left ()
		group by (owner_name) (label_replace(%s, "owner_name", "$1", "replicaset", "(.+)"))`, pods, sets)
}

// workers is the worker pods of a LeaderWorkerSet, with their leader's name in owner_name. It keeps its leaders in a
// StatefulSet of its own name, and the workers of the leader pod NAME-i in a StatefulSet NAME-i. That the leader pod is
// there tells them from an unrelated StatefulSet that happens to be called so.
func (s scope) workers(gang string) string {
	sets := s.directly(owner{kind: "StatefulSet", name: gang, suffix: "-[0-9]+"})
	leaders := s.directly(owner{kind: "StatefulSet", name: gang})
	return fmt.Sprintf(`%s * on (owner_name) group_left ()
		group by (owner_name) (label_replace(%s, "owner_name", "$1", "pod", "(.+)"))`, sets, leaders)
}

// errNoReplica says that a target's pods do not tell its replicas.
var errNoReplica = errors.New("a pod of a Ray cluster is no replica of what Ray Serve runs on it")

// ReadyReplicas is PromQL for how many replicas of a workload are ready, from what kube-state-metrics says of its pods and
// their owners: pods, or for a gang its groups, by their leaders. It is one series, and none where the workload has no pod.
func ReadyReplicas(namespace string, target Target) (string, error) {
	err := checkNames(namespace, target)
	if target.Kind == "RayService" || target.Kind == "RayCluster" {
		err = errors.Join(err, errNoReplica)
	}
	if err != nil {
		return "", fmt.Errorf("ready replicas: %w", err)
	}
	s := scope{namespace: namespace, target: target}
	ready := s.fact("kube_pod_status_ready", `condition="true"`)
	return render(fmt.Sprintf(`sum(max by (pod) (%s) * on (pod) group_left () group by (pod) (%s))`, ready, s.heads()))
}
