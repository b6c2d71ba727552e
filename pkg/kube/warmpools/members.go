package warmpools

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
)

// Workloads are what the snapshot does not say of a Forecast: what it scales has started, and how it is scaled.
type Workloads interface {
	// Places says how many replicas have a place on a node, and how many wait for one; known is false while nobody knows.
	Places(forecast snapshot.Key) (placed, waiting int, known bool)
	// Starts are the lead times on nodes that were there, and where a node came first; measured is false for none.
	Starts(forecast snapshot.Key, now time.Time) (parts leadtime.Parts, measured bool)
	// Scalings are the autoscalers by which the Forecast's value becomes replicas.
	Scalings(forecast snapshot.Key) []decide.Scaling
}

// claims are the pools that name each member, those that are invalid or on their way out left out.
type claims map[snapshot.Key][]*Pool

func claimsOf(pools []*Pool) claims {
	by := claims{}
	for _, p := range pools {
		if p.Problem != "" || p.DeletionTimestamp != nil {
			continue
		}
		for _, m := range p.Resolved.Members {
			key := p.member(m.Forecast)
			by[key] = append(by[key], p)
		}
	}
	return by
}

// holder is the pool that a member counts for: of several that name it, the oldest.
func (c claims) holder(member snapshot.Key) *Pool {
	all := c[member]
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, byAge)
}

// roll is a pool's members at a moment, and what is wrong with them.
type roll struct {
	members []warmpool.Member
	// reason of the first fault; empty where there is none. faults say what is wrong, and what to do.
	reason string
	faults []string
	// remarks are of no harm to this pool.
	remarks []string
	// doubts are the members whose forecasts are not fit to plan by: "llama is stale: …".
	doubts []string
}

func (r *roll) fault(reason, text string) {
	r.reason = cmp.Or(r.reason, reason)
	r.faults = append(r.faults, text)
}

// The reasons of a member that is not resolved.
const (
	reasonUnknown  = "UnknownForecast"
	reasonNoTarget = "NoScalingTarget"
	reasonPlaces   = "ReplicasUnknown"
	reasonTaken    = "MemberOfAnOlderPool"
)

// call gathers the members of a pool. One that an older pool has is left out; of one that cannot be resolved nothing is
// planned, and nothing given back either: it is in doubt.
func (c *Controller) call(now time.Time, newest *snapshot.Snapshot, p *Pool, by claims) roll {
	var r roll
	for _, m := range p.Resolved.Members {
		key := p.member(m.Forecast)
		if holder := by.holder(key); holder != nil && holder.UID != p.UID {
			r.fault(reasonTaken, fmt.Sprintf(
				"%s counts for the older pool %s: take it out of one of the two", m.Forecast, holder.Name))
			continue
		}
		for _, rival := range by[key] {
			if rival.UID != p.UID {
				r.remarks = append(r.remarks, fmt.Sprintf(
					"%s counts here, and not for the younger pool %s, which names it, too", m.Forecast, rival.Name))
			}
		}
		member := warmpool.Member{Name: m.Forecast, Chunks: m.Chunks}
		member.Outlook = warmpool.OutlookOf(newest.Get(key), now)
		reason, doubt, advice := c.resolve(newest.Get(key), key, &member)
		if reason != "" {
			r.fault(reason, m.Forecast+" "+advice)
			member.Outlook.Doubt = doubt
		} else if member.Outlook.Doubt != "" {
			r.doubts = append(r.doubts, m.Forecast+" is "+member.Outlook.Doubt)
		}
		r.members = append(r.members, member)
	}
	return r
}

// resolve finds out what a member's replicas are and how its demand becomes more of them. The doubt continues "llama is …",
// the advice "llama …".
func (c *Controller) resolve(
	entry *snapshot.Entry, key snapshot.Key, member *warmpool.Member,
) (reason, doubt, advice string) {
	if entry == nil {
		return reasonUnknown, "not there", "is no Forecast in " + key.Namespace + ": mend its name, or make one"
	}
	scalings := c.Workloads.Scalings(key)
	if len(scalings) == 0 {
		return reasonNoTarget, "without an autoscaler", "says not what a replica sustains: let a HorizontalPodAutoscaler or a " +
			"ScaledObject refer to it, or set its spec.scaling.target"
	}
	// The largest proposal of several wins.
	member.Target = scalings[0].Target()
	for _, s := range scalings {
		member.Target = min(member.Target, s.Target())
		member.MinReplicas = max(member.MinReplicas, int(s.HPA.Min))
		member.MaxReplicas = max(member.MaxReplicas, int(s.HPA.Max))
	}
	placed, waiting, known := c.Workloads.Places(key)
	if !known {
		return reasonPlaces, "not known by its replicas", "has replicas that are not counted: its leadTimeSource says why"
	}
	member.Placed, member.Waiting = placed, waiting
	return "", "", ""
}

// brief is a list in a sentence, of which the first few are told.
func brief(all []string) string {
	const most = 6
	text := strings.Join(all[:min(most, len(all))], "; ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
