package peers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Reasons of the condition ReplicasAgree.
const (
	// reasonClocksDiffer (False): the clocks of two adapter replicas differ by more than ten seconds. Forewarm compares each clock with
	// the clock of a source that both replicas read. The message lists the replicas, and says by how much each clock differs from the
	// clock of the source.
	//
	// Fix: synchronize the clocks of the nodes (NTP).
	reasonClocksDiffer = "ClocksDiffer"
	// reasonVersionsDiffer (False): adapter replicas have been running different versions for ten minutes.
	//
	// Fix: complete the rollout, or undo it (kubectl rollout status, kubectl rollout undo).
	reasonVersionsDiffer = "VersionsDiffer"
	// reasonSettingsDiffer (False): adapter replicas have been running for ten minutes with different values of a flag that affects the
	// served values, or with different contents of the file that the flag refers to. The message lists the flags.
	//
	// Fix: complete the rollout, or undo it (kubectl rollout status, kubectl rollout undo).
	reasonSettingsDiffer = "SettingsDiffer"
)

// reasons returns all reasons, with the worst first.
func reasons() []string {
	return []string{reasonClocksDiffer, reasonVersionsDiffer, reasonSettingsDiffer}
}

// Difference is one subject on which adapter replicas differ.
type Difference struct{ Reason, Message string }

// Remedy says what to do.
func (d Difference) Remedy() string {
	if d.Reason == reasonClocksDiffer {
		return "synchronize the clocks of the nodes (NTP)"
	}
	return "during a rollout, wait; if this lasts, complete or undo the rollout (kubectl rollout status, kubectl rollout undo)"
}

// Compare returns the subjects on which adapter replicas differ, the worst first.
func Compare(all map[string]Statement) []Difference {
	var out []Difference
	for reason, message := range map[string]string{
		reasonClocksDiffer:   compareClocks(all),
		reasonVersionsDiffer: compareVersions(all),
		reasonSettingsDiffer: compareSettings(all),
	} {
		if message != "" {
			out = append(out, Difference{reason, message})
		}
	}
	slices.SortFunc(out, func(a, b Difference) int {
		return slices.Index(reasons(), a.Reason) - slices.Index(reasons(), b.Reason)
	})
	return out
}

// compareClocks describes the two adapter replicas whose clocks differ most.
func compareClocks(all map[string]Statement) (message string) {
	most := snapshot.MinClockDifference
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		for _, other := range names[i+1:] {
			source, apart := clockGap(all[name].Clocks, all[other].Clocks)
			if apart <= most {
				continue
			}
			most = apart
			message = fmt.Sprintf(
				"the clocks of the replicas %s and %s differ by %s: compared with the clock of the source, %s and %s",
				name, other, humanize.Span(apart.Round(snapshot.MinClockDifference)),
				sideOf(name, all[name].Clocks[source]), sideOf(other, all[other].Clocks[source]))
		}
	}
	return message
}

// clockGap returns the minimum difference between two clocks, and the source that shows it. A wrong clock differs from all sources by the
// same amount. Therefore the source with the smallest difference decides, so that one source with a wrong clock proves nothing.
func clockGap(a, b map[string]snapshot.ClockDifference) (closest string, gap time.Duration) {
	found := false
	for _, source := range slices.Sorted(maps.Keys(a)) {
		other, both := b[source]
		if !both {
			continue
		}
		if apart := max(a[source].Min-other.Max, other.Min-a[source].Max, 0); !found || apart < gap {
			closest, gap, found = source, apart, true
		}
	}
	return closest, gap
}

// sideOf says how the clock of an adapter replica differs from the clock of the source.
func sideOf(name string, source snapshot.ClockDifference) string {
	ahead := source.Least().Round(snapshot.MinClockDifference)
	switch {
	case ahead > 0:
		return name + " is " + humanize.Span(ahead) + " behind"
	case ahead < 0:
		return name + " is " + humanize.Span(-ahead) + " ahead"
	}
	return name + " is correct"
}

// compareVersions lists the versions, each with the adapter replicas that run it.
func compareVersions(all map[string]Statement) string {
	running := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		running[all[name].Version] = append(running[all[name].Version], name)
	}
	if len(running) < 2 {
		return ""
	}
	var parts []string
	for _, version := range slices.Sorted(maps.Keys(running)) {
		parts = append(parts, version+" ("+strings.Join(running[version], ", ")+")")
	}
	return "the replicas run different versions: " + strings.Join(parts, "; ")
}

// compareSettings lists the flags whose values differ from those of the first adapter replica by name.
func compareSettings(all map[string]Statement) string {
	names := slices.Sorted(maps.Keys(all))
	flags, others := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		one, other := all[names[0]].Settings, all[name].Settings
		for _, flag := range slices.Concat(slices.Collect(maps.Keys(one)), slices.Collect(maps.Keys(other))) {
			if one[flag] != other[flag] {
				flags["--"+flag], others[name] = true, true
			}
		}
	}
	if len(flags) == 0 {
		return ""
	}
	return fmt.Sprintf("the replicas run with different settings: %s differs between %s and %s",
		joined(flags), names[0], joined(others))
}

func joined(words map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(words)), ", ") }
