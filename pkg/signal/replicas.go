package signal

import (
	"errors"
	"fmt"
)

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
