package signal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknown says that there is no preset of that name; the error that wraps it names the near ones.
var ErrUnknown = errors.New("unknown preset")

// Source is a server or an exporter with the presets on what it reports.
type Source struct {
	// Name is the first half of its presets' names.
	Name string
	// Title is what people call it.
	Title string
	// Note says what holds for all of its presets: versions, what must be switched on, what it cannot know.
	Note    string
	Presets []Preset
	Lacks   []Lack
}

// Lack is a signal that a source does not report, so that there is no preset for it.
type Lack struct {
	Signal string
	// Reason says why, and what to use instead.
	Reason string
}

// Sources lists everything that there are presets for, in the order of names.
func Sources() []Source {
	all := []Source{
		dcgm(), nvml(), vllm(), sglang(), triton(), trtllm(), tgi(), rayServe(), gateway(), kserve(),
	}
	slices.SortFunc(all, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Presets lists all presets in the order of their names.
func Presets() []Preset {
	var all []Preset
	for _, source := range Sources() {
		all = append(all, source.Presets...)
	}
	slices.SortFunc(all, func(a, b Preset) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Names lists the names of all presets, sorted.
func Names() []string {
	all := Presets()
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	return names
}

// Lookup finds a preset by its name. The error of an unknown one wraps ErrUnknown and names the near ones, or the reason
// why that source has no such preset.
func Lookup(name string) (Preset, error) {
	for _, p := range Presets() {
		if p.Name == name {
			return p, nil
		}
	}
	if reason := lack(name); reason != "" {
		return Preset{}, fmt.Errorf("%w %q: %s", ErrUnknown, clip(name), reason)
	}
	if near := Near(name); len(near) > 0 {
		return Preset{}, fmt.Errorf("%w %q: did you mean %s?", ErrUnknown, clip(name), strings.Join(near, ", "))
	}
	return Preset{}, fmt.Errorf("%w %q: `forewarm presets` lists all of them; or write a query of your own",
		ErrUnknown, clip(name))
}

// lack is the reason why a source has no preset of that name, "" where nothing is said of it.
func lack(name string) string {
	source, signal, _ := strings.Cut(name, "/")
	for _, s := range Sources() {
		for _, l := range s.Lacks {
			if s.Name == source && l.Signal == signal {
				return l.Reason
			}
		}
	}
	return ""
}

// Near lists the presets that a name may have been meant for, the nearest first, at most five: those of a source or a
// signal that is called so, and those that a few typing errors lead to.
func Near(name string) []string {
	const most = 5
	name = strings.ToLower(clip(name))
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, known := range Names() {
		source, signal, _ := strings.Cut(known, "/")
		d := min(distance(name, known), distance(name, source), distance(name, signal))
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

// distance is how many bytes must be put in, taken out or replaced to make one word of the other (Levenshtein, 1966).
func distance(a, b string) int {
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
