package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/forewarm/forewarm/pkg/printable"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// placeholder is a name that is used instead of a target's name.
const placeholder = "forewarm-placeholder"

// ownedAs returns the workloads to which the pods of a target of a kind belong, according to kube-state-metrics: their kind, and a regular
// expression whose group is the target's name.
func ownedAs(kind string) map[string][]*regexp.Regexp {
	out := map[string][]*regexp.Regexp{}
	for _, s := range promexpr.Selectors(signal.Target{Kind: kind, Name: placeholder}.Pods("any")) {
		kind, name := matcher(s, "owner_kind"), matcher(s, "owner_name")
		if kind == nil || name == nil || kind.Type != labels.MatchEqual {
			continue
		}
		pattern := name.Value
		if name.Type == labels.MatchEqual {
			pattern = regexp.QuoteMeta(pattern)
		}
		pattern = strings.Replace(pattern, regexp.QuoteMeta(placeholder), "(?P<name>.+?)", 1)
		if re, bad := regexp.Compile("^(?:" + pattern + ")$"); bad == nil {
			out[kind.Value] = append(out[kind.Value], re)
		}
	}
	return out
}

// targetNames returns the names that a target of the same kind would need to own the pods of a workload.
func (f finder) targetNames(workload string) (names []string) {
	kind, name, _ := strings.Cut(workload, "/")
	for _, re := range f.ownedAs[kind] {
		if m := re.FindStringSubmatch(name); m != nil {
			names = append(names, m[re.SubexpIndex("name")])
		}
	}
	return names
}

// isOwn reports whether the pods of a workload belong to the target.
func (f finder) isOwn(workload string) bool {
	return slices.ContainsFunc(f.targetNames(workload), func(name string) bool {
		return name == f.Target.Name || slices.Contains(f.Target.FormerNames, name)
	})
}

// ownPods counts the pods of workloads that belong to the target.
func (f finder) ownPods(workloads map[string]float64) (n float64) {
	for workload, pods := range workloads {
		if f.isOwn(workload) {
			n += pods
		}
	}
	return n
}

// similar returns the workload that was probably meant, in the form for targetRef; empty if no name is similar. Of two that are equally
// similar, it returns the one whose pods report.
func (f finder) similar(workloads, reporting map[string]float64) string {
	best, least := "", math.Inf(1)
	consider := func(text, name string, distance float64) {
		distance += f.distance(name)
		if distance < least || distance == least && text < best {
			best, least = text, distance
		}
	}
	const otherKind, silent = 0.5, 0.25 // A name is misspelled more often than a kind.
	for workload := range workloads {
		kind, name, _ := strings.Cut(workload, "/")
		further := silent
		if reporting[workload] > 0 {
			further = 0
		}
		for _, of := range f.targetNames(workload) {
			consider(of, of, further)
		}
		if kind != f.Target.Kind && !slices.Contains(strings.Split(noOwner, "|"), kind) {
			consider(workload, name, further+otherKind)
		}
	}
	return safe(best)
}

// distance returns how different a name is from the target's name; infinite if the two are not easily confused.
func (q Query) distance(name string) float64 {
	own := q.Target.Name
	changed := signal.EditDistance(own, name)
	shorter, longer := own, name
	if len(shorter) > len(longer) {
		shorter, longer = longer, shorter
	}
	const contained = 3
	if changed <= max(1, len(own)/3) || len(shorter) >= contained && strings.Contains(longer, shorter) {
		return float64(changed)
	}
	return math.Inf(1)
}

func (q Query) target() string { return q.Target.Kind + "/" + safe(q.Target.Name) }

func (q Query) server() string {
	server, _, _ := strings.Cut(q.Preset, "/")
	return server
}

// The grammar of counts.

func count(n float64, noun string) string {
	if n != 1 && noun != "series" {
		noun += "s"
	}
	return fmt.Sprintf("%.0f %s", n, noun)
}

func verb(n float64, plural string) string {
	if n == 1 {
		return plural + "s"
	}
	return plural
}

func have(n float64) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

func pods(n float64, plural string) string { return count(n, "pod") + " " + verb(n, plural) }

// listWorkloads lists up to three workloads, those with the most pods first.
func listWorkloads(workloads map[string]float64) string {
	const most = 3
	names := slices.SortedFunc(maps.Keys(workloads), func(a, b string) int {
		return cmp.Or(cmp.Compare(workloads[b], workloads[a]), strings.Compare(a, b))
	})
	var out []string
	for _, name := range names[:min(most, len(names))] {
		if name == "/" || strings.HasPrefix(name, "<none>") {
			name = "no workload"
		}
		out = append(out, safe(name))
	}
	if len(names) > most {
		out = append(out, fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(out, ", ")
}

// safe returns a printable name from a label, which may contain anything.
func safe(name string) string {
	const most = 100
	return printable.Clip(printable.Line(name), most)
}
