package pools

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/kube/informer"
	"github.com/forewarm/forewarm/pkg/kube/members"
)

// Workloads has what the snapshot does not have of a Forecast: its workload's replicas, starts and autoscalers.
type Workloads interface {
	members.Workloads

	// Starts returns the lead times of starts on existing nodes and of starts with a new node; measured is false if there are none.
	Starts(forecast snapshot.Key, now time.Time) (parts leadtime.Estimates, measured bool)
}

// poolsByMember has the pools that list each member, without invalid and deleted pools.
type poolsByMember map[snapshot.Key][]*Pool

func groupByMember(pools []*Pool) poolsByMember {
	by := poolsByMember{}
	for _, p := range pools {
		if p.Problem != "" || p.DeletionTimestamp != nil {
			continue
		}
		for _, m := range p.Resolved.Members {
			key := p.memberKey(m.Forecast)
			by[key] = append(by[key], p)
		}
	}
	return by
}

// membership has the members of a pool at a step, and their problems.
type membership struct {
	members []warmpool.Member
	// reason is the reason of the first problem; empty if there is none. problems say what to do.
	reason   string
	problems []string
	// remarks are informational. They do not affect this pool.
	remarks []string
	// unreliable lists the members with unreliable forecasts, for example "llama is stale: …".
	unreliable []string
}

func (r *membership) addProblem(reason, text string) {
	r.reason = cmp.Or(r.reason, reason)
	r.problems = append(r.problems, text)
}

// resolveMembers resolves the members of a pool. It skips members that belong to an older pool. A member that cannot be resolved is
// unreliable: nothing is planned for it, and nothing is released.
func (c *Controller) resolveMembers(now time.Time, newest *snapshot.Snapshot, p *Pool, by poolsByMember) membership {
	var r membership
	for _, m := range p.Resolved.Members {
		key := p.memberKey(m.Forecast)
		rivals := by[key]
		if len(rivals) == 0 {
			rivals = []*Pool{p}
		}
		if oldest := slices.MinFunc(rivals, informer.CompareAge); oldest.UID != p.UID {
			r.addProblem(v1alpha1.PoolReasonMemberOfOlderPool, fmt.Sprintf(
				"%s is also a member of the older pool %s, and only that pool plans for it: remove it from one of "+
					"the two pools",
				m.Forecast,
				oldest.Name,
			))
			continue
		}
		for _, rival := range rivals {
			if rival.UID != p.UID {
				r.remarks = append(r.remarks, fmt.Sprintf(
					"%s is also a member of the newer pool %s, which does not plan for it", m.Forecast, rival.Name))
			}
		}
		member := warmpool.Member{Name: m.Forecast, Chunks: m.Chunks}
		member.Outlook = warmpool.OutlookOf(newest.Get(key), now)
		scaling, problem := members.Resolve(key, newest.Get(key), c.Workloads)
		member.Target, member.MinReplicas, member.MaxReplicas = scaling.Target, scaling.Min, scaling.Max
		member.Placed, member.Waiting = scaling.Placed, scaling.Waiting
		if problem.Reason != "" {
			r.addProblem(problem.Reason, m.Forecast+" "+problem.Advice)
			member.Outlook.Unreliable = problem.Doubt
		} else if member.Outlook.Unreliable != "" {
			r.unreliable = append(r.unreliable, m.Forecast+" "+member.Outlook.Unreliable)
		}
		r.members = append(r.members, member)
	}
	return r
}

// joinFirst joins the first few texts of a list.
func joinFirst(all []string) string {
	const most = 6
	text := strings.Join(all[:min(most, len(all))], "; ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// leadTimes has the lead time of a pod on an existing node, the lead time of a new node, and the sources of both.
type leadTimes struct {
	pod, node time.Duration
	source    string
}

// leadTimesOf returns the longest lead times of a pool's members, because the pool must be ready for each of them. For a member with too
// few starts on existing nodes, the lead time of its Forecast is used, which is not shorter.
func (c *Controller) leadTimesOf(now time.Time, newest *snapshot.Snapshot, p *Pool) leadTimes {
	var l leadTimes
	var placed, waited int64
	for _, m := range p.Resolved.Members {
		key := p.memberKey(m.Forecast)
		parts, measured := c.Workloads.Starts(key, now)
		entry := newest.Get(key)
		switch {
		case measured && parts.Placed.Known:
			l.pod = max(l.pod, parts.Placed.Lead)
			placed += parts.Placed.Starts
		case entry != nil:
			l.pod = max(l.pod, entry.Lead)
		}
		if node := parts.Node(); p.Resolved.MeasureLeadTime && measured && node.Known {
			l.node = max(l.node, node.Lead)
			waited += node.Starts
		}
	}
	l.source = "pod: the lead times of the members' Forecasts (too few measured starts on existing nodes)"
	if placed > 0 {
		l.source = fmt.Sprintf("pod: p%.0f of %d starts on existing nodes", 100*leadtime.Quantile, placed)
	}
	l.source += "; " + nodeSource(p, waited)
	if waited == 0 {
		l.node = p.Resolved.Pool.Node
	}
	return l
}

func nodeSource(p *Pool, waited int64) string {
	switch named := formatDuration(p.Resolved.Pool.Node); {
	case !p.Resolved.MeasureLeadTime:
		return "node: fixed " + named
	case waited == 0:
		return "node: fallback " + named + " (too few measured starts that waited for a new node)"
	}
	return fmt.Sprintf("node: p%.0f of %d starts that waited for a new node, minus the lead time of a pod",
		100*leadtime.Quantile, waited)
}

// formatDuration formats a duration as it is written in the objects.
func formatDuration(d time.Duration) string { return model.Duration(d.Round(time.Second)).String() }
