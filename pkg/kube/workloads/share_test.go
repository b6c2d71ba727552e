package workloads //nolint:testpackage // One decision, without a cluster.

import (
	"strconv"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// A namespace with thousands of workloads takes no place from one with a few, whatever they are called.
func TestNamespacesShareThePlaces(t *testing.T) {
	var wanted []leadtime.Workload
	for namespace, n := range map[string]int{"aaa": 2_900, "team-a": 60, "team-z": 40} {
		for i := range n {
			wanted = append(wanted, leadtime.Workload{Namespace: namespace, Kind: "Deployment", Name: strconv.Itoa(i)})
		}
	}
	watched := map[string]int{}
	got := share(append(wanted, wanted[0]), maxWorkloads)
	for workload, podsToo := range got {
		if podsToo {
			watched[workload.Namespace]++
		}
	}
	if len(got) != 3_000 || watched["aaa"] != 900 || watched["team-a"] != 60 || watched["team-z"] != 40 {
		t.Errorf("%d workloads; the pods are watched of %v", len(got), watched)
	}
}
