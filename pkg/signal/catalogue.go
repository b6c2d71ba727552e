package signal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknown means that there is no preset of that name. Errors that wrap it suggest similar names.
var ErrUnknown = errors.New("unknown preset")

// Source is a server or an exporter with the presets for its metrics.
type Source struct {
	// Name is the first part of its presets' names.
	Name string
	// Title is its product name.
	Title string
	// Note applies to all of its presets: versions, required settings, limits.
	Note    string
	Presets []Preset
	// Lateness are presets for the share of requests that waited too long, for objective.measured. They are not demand.
	Lateness    []Preset
	Unsupported []Unsupported
}

// Unsupported is a signal without a preset, because the source does not report it.
type Unsupported struct {
	Signal string
	// Reason is why, and what to use instead.
	Reason string
}

// Sources lists all sources, sorted by name.
func Sources() []Source {
	all := []Source{
		dcgm(),
		nvml(),
		vllm(),
		sglang(),
		triton(),
		trtllm(),
		tgi(),
		lmdeploy(),
		llamacpp(),
		rayServe(),
		gateway(),
		dynamo(),
		kserve(),
	}
	slices.SortFunc(all, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Presets lists all presets, sorted by name.
func Presets() []Preset {
	var all []Preset
	for _, source := range Sources() {
		all = append(all, source.Presets...)
	}
	slices.SortFunc(all, func(a, b Preset) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// PresetNames lists the names of all presets, sorted.
func PresetNames() []string {
	all := Presets()
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	return names
}

// Lookup returns a preset by its name. The error for an unknown name wraps ErrUnknown, and has similar names or the
// reason why that source has no such preset.
func Lookup(name string) (Preset, error) {
	for _, p := range Presets() {
		if p.Name == name {
			return p, nil
		}
	}
	if reason := unsupportedReason(name); reason != "" {
		return Preset{}, fmt.Errorf("%w %q: %s", ErrUnknown, clip(name), reason)
	}
	if near := SimilarNames(name); len(near) > 0 {
		return Preset{}, fmt.Errorf("%w %q: did you mean %s?", ErrUnknown, clip(name), strings.Join(near, ", "))
	}
	return Preset{}, fmt.Errorf("%w %q: run `forewarm presets` to list all presets, or write your own query",
		ErrUnknown, clip(name))
}

// unsupportedReason says why a source has no preset of that name; empty if the reason is not known.
func unsupportedReason(name string) string {
	source, signal, _ := strings.Cut(name, "/")
	for _, s := range Sources() {
		for _, l := range s.Unsupported {
			if s.Name == source && l.Signal == signal {
				return l.Reason
			}
		}
	}
	return ""
}

// SimilarNames lists presets with a similar name, the most similar first, at most five: presets of a source or a signal
// of that name, and names with a few characters different.
func SimilarNames(name string) []string {
	const most = 5
	name = strings.ToLower(clip(name))
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, known := range PresetNames() {
		source, signal, _ := strings.Cut(known, "/")
		d := min(EditDistance(name, known), EditDistance(name, source), EditDistance(name, signal))
		if d <= max(1, len(name)/4) {
			near = append(near, candidate{known, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	names := make([]string, 0, most)
	for _, c := range near[:min(most, len(near))] {
		names = append(names, c.name)
	}
	return names
}

// EditDistance is the number of bytes to insert, delete or replace to turn one word into the other (Levenshtein, 1966).
func EditDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// kvCacheSummary is the summary for most servers.
const kvCacheSummary = "KV cache in use, in units of one replica's cache: the mean usage over the engines of each " +
	"replica, added up over the replicas. The value cannot exceed the number of replicas, so use it as a second " +
	"metric in addition to the requests in flight."

// Presets that several servers have.

func inflightPreset(source string, template func(scope) string) Preset {
	return Preset{
		Name:  source + "/inflight",
		Brief: "for scaling, shows all demand",
		Summary: "Requests in flight on the target's pods, running and waiting. The value grows without limit while the " +
			"service is saturated, so it hides no demand. This is the first choice for scaling.",
		Target:   "requests in flight that one replica serves at full load with good latency",
		Unit:     "requests",
		template: template,
	}
}

func offeredPreset(source string, template func(scope) string) Preset {
	return Preset{
		Name:  source + "/offered",
		Brief: "for simulations, correct while requests wait",
		Summary: "Offered load: the requests that would be in flight if no request had to wait. It is the number of " +
			"running requests, plus the growth rate of the queue since the last step, multiplied by the mean service " +
			"time of the last two minutes (Little, 1961). While no requests wait, it equals the requests in flight. " +
			"A request that waits counts once, when it arrives, so the lateness that forewarm simulate reports is " +
			"also correct under saturation. Do not scale on this preset, because it does not ask for the replicas " +
			"that empty a queue. Scale on the requests in flight instead.",
		Target:   "requests in flight that one replica serves at full load with good latency",
		Unit:     "requests",
		template: template,
	}
}

func arrivalsPreset(source, summary string, template func(scope) string) Preset {
	return Preset{
		Name:    source + "/arrivals",
		Brief:   "arriving demand, for requests of similar size",
		Summary: summary,
		Target:  "requests per second that one replica completes at full load",
		Unit:    "requests/s", Rate: true, template: template,
	}
}

func queuePreset(source string, template func(scope) string) Preset {
	return Preset{
		Name:  source + "/queue",
		Brief: "second metric, or signal.saturated",
		Summary: "Requests that wait on the target's pods. The queue is empty until it is too late to add replicas, so it cannot be " +
			"forecast. Use it as a second, reactive metric of the HPA, or to mark another signal as saturated (spec.signal.saturated).",
		Target:   "the number of requests per replica that are allowed to wait, which should be small",
		Unit:     "requests",
		template: template,
	}
}

func kvCachePreset(source string, template func(scope) string) Preset {
	return Preset{
		Name:    source + "/kv-cache",
		Brief:   "second metric if memory is the limit",
		Summary: kvCacheSummary,
		Target:  "the usable share of a replica's cache: 0.8",
		Unit:    "KV caches", template: template,
	}
}

// withSummary replaces a preset's summary, for a server whose value has a different meaning.
func (p Preset) withSummary(summary string) Preset {
	p.Summary = summary
	return p
}
