package fleets

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/members"
)

// Workloads has what the snapshot does not have of a Forecast: its workload's pods and autoscalers.
type Workloads interface {
	members.Workloads

	// Pods returns the UIDs of the pods of the replicas, those of all variants and those that are terminating, too; known is false while some
	// of them are unknown.
	Pods(forecast snapshot.Key) (uids []string, known bool)
}

// membership has the members of a fleet at a step, and their problems.
type membership struct {
	members []fleet.Member
	// minimums are the GPUs of all minimums.
	minimums float64
	// pods has the index of the member of each pod, by UID. groups are the names of the LeaderWorkerSets among their workloads, whose workers
	// are pods of members, too.
	pods   map[string]int
	groups map[string]bool
	// reason is the reason of the first problem; empty if there is none. problems say what to do.
	reason   string
	problems []string
}

// membersOf resolves the members of a fleet. A member that cannot be resolved counts with all replicas that it may have.
func (p *Planner) membersOf(now time.Time, newest *snapshot.Snapshot, f *Fleet) membership {
	r := membership{pods: map[string]int{}, groups: map[string]bool{}}
	for _, m := range f.Resolved.Members {
		key := f.memberKey(m.Forecast)
		if oldest := p.Fleets.Oldest(key); oldest != nil && oldest.UID != f.UID {
			const text = "%s is also a member of the older fleet %s, so both keep GPUs for it: " +
				"remove it from one of the two"
			r.add(v1alpha1.FleetReasonMemberOfOlderFleet, fmt.Sprintf(text, m.Forecast, oldest.Name))
		}
		entry := newest.Get(key)
		member := fleet.Member{Name: m.Forecast, GPUs: m.GPUs, Outlook: fleet.OutlookOf(entry, now)}
		scaling, problem := members.Resolve(key, entry, p.Workloads)
		member.Target, member.MinReplicas, member.MaxReplicas = scaling.Target, scaling.Min, scaling.Max
		if scaling.Unlimited {
			member.MaxReplicas = 0
		}
		pods, known := p.Workloads.Pods(key)
		if problem.Reason == "" && !known {
			problem = members.Uncounted()
		}
		if problem.Reason != "" {
			r.add(problem.Reason, m.Forecast+" "+problem.Advice)
			member.Unreliable = problem.Doubt
		}
		for _, uid := range pods {
			r.pods[uid] = len(r.members)
		}
		if entry != nil {
			r.groups[entry.Workload] = true
		}
		member.Present = len(pods) // Pods that an autoscaler asks for exist within seconds.
		r.minimums += m.GPUs * float64(member.MinReplicas)
		r.members = append(r.members, member)
	}
	return r
}

func (r *membership) add(reason, text string) {
	r.reason = cmp.Or(r.reason, reason)
	r.problems = append(r.problems, text)
}

// owns reports whether a pod in the fleet's namespace belongs to a member.
func (r *membership) owns(pod *Pod) bool {
	group := pod.Labels["leaderworkerset.sigs.k8s.io/name"]
	_, known := r.pods[pod.UID]
	return known || group != "" && r.groups["LeaderWorkerSet/"+group]
}

// checkRequests counts members whose pods request more GPUs than spec.members says with what the pods request.
func (r *membership) checkRequests(pods []*Pod, of corev1.ResourceName) {
	largest := make([]*Pod, len(r.members))
	for _, pod := range pods {
		i, known := r.pods[pod.UID]
		if !known || pod.Requests[of] <= r.members[i].GPUs*(1+1e-9) {
			continue
		}
		if largest[i] == nil || pod.Requests[of] > largest[i].Requests[of] {
			largest[i] = pod
		} else if pod.Requests[of] == largest[i].Requests[of] {
			largest[i] = firstByName(largest[i], pod)
		}
	}
	for i, pod := range largest {
		if pod == nil {
			continue
		}
		m := &r.members[i]
		m.GPUs = pod.Requests[of]
		const text = "%s: the pod %s requests %s, more than spec.members says: set gpus of the member to what " +
			"a replica requests"
		r.add(v1alpha1.FleetReasonMemberRequestsMore, fmt.Sprintf(text, m.Name, pod.Name, fleet.GPUCount(m.GPUs)))
	}
}
