package signal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// DefaultWait is the wait of a lateness preset that is shown without an objective.
const DefaultWait = 30 * time.Second

// measuredOver is the range of the rates in a lateness preset. Forewarm queries it at the same interval, so that each request counts once.
const measuredOver = 5 * time.Minute

// histogram has the name of a histogram of times, without its suffix, and how many of its units make a second. twin is the twin of the
// metric.
type histogram struct {
	name      string
	perSecond int64
	twin      *metric
	// classic is true if no native histogram of this name is read.
	classic bool
}

func inSeconds(name string) histogram { return histogram{name: name, perSecond: 1} }

// latenessPreset returns a preset for the share of requests whose time was above the wait. total adds up an expression by pod.
func latenessPreset(name, brief, summary string, total func(scope, string) string, names ...histogram) Preset {
	return Preset{
		Name:  name,
		Brief: brief,
		Summary: summary + " If no bucket of the histogram ends at the allowed wait, Forewarm uses the next larger " +
			"bucket bound, and the share is too low.",
		Unit: "share",
		Rate: true,
		wait: DefaultWait,
		template: func(s scope) string {
			var within, all []string
			for i, h := range names {
				name := suffixed("_bucket", []string{h.name})[0]
				m := metric{names: []string{name}, twin: h.twin, over: "rate", window: max(measuredOver, s.window())}
				native := m
				m.matchers = `le="+Inf"`
				all = append(all, s.perPod(m))
				m.matchers = "le=~" + strconv.Quote(atLeast(h.perSecond*int64(math.Ceil(s.wait.Seconds()))))
				smallest := fmt.Sprintf(`min by (pod, job) (sum by (pod, job, le) (%s))`, s.perScrape(name, m))
				within = append(within, `max by (pod) (`+smallest+`)`)
				if i > 0 || h.classic {
					continue
				}
				// A store may convert classic histograms to native ones with custom buckets. Only the newest name is read, because the query is long.
				native.names, native.native = []string{h.name}, "histogram_count(%s)"
				all = append(all, s.perPod(native))
				native.native = fmt.Sprintf("histogram_fraction(-Inf, %g, %%[1]s) * histogram_count(%%[1]s)",
					float64(h.perSecond)*s.wait.Seconds())
				within = append(within, s.perPod(native))
			}
			return fmt.Sprintf(`clamp_min(1 - %s / %s, 0)`, total(s, "("+strings.Join(within, " or ")+")"),
				total(s, "("+strings.Join(all, " or ")+")"))
		},
	}
}

// atLeast returns a regular expression for the finite decimal numbers that are at least n, in the forms that exposition formats use: 30,
// 30.0, 1e+06. n is a positive integer.
func atLeast(n int64) string {
	const aMillion = 1e6
	digits := strconv.FormatInt(n, 10)
	whole := []string{
		digits,
		fmt.Sprintf(`[1-9][0-9]{%d,}`, len(digits)),
	} // The number itself, and numbers with more digits.
	for i, d := range digits {
		if d < '9' { // Equal up to this digit, and greater.
			whole = append(whole, fmt.Sprintf(`%s[%c-9][0-9]{%d}`, digits[:i], d+1, len(digits)-i-1))
		}
	}
	out := "(" + strings.Join(whole, "|") + `)(\.[0-9]+)?`
	if n <= aMillion {
		out += `|[0-9.]+e\+[0-9]+`
	}
	return out
}

// LookupLateness returns a lateness preset by its name, for a wait: the share of requests that waited longer. The error for an
// unknown name wraps ErrUnknown, and has the reason why that source has no such preset, or the names of all.
func LookupLateness(name string, wait time.Duration) (Preset, error) {
	var names []string
	for _, s := range Sources() {
		for _, p := range s.Lateness {
			if p.Name == name {
				p.wait = wait
				return p, nil
			}
			names = append(names, p.Name)
		}
	}
	reason := unsupportedReason(name)
	if reason == "" {
		reason = "the presets for lateness are " + strings.Join(names, ", ")
	}
	return Preset{}, fmt.Errorf("%w %q: %s; you can also write your own query", ErrUnknown, clip(name), reason)
}

// queueTimePreset and firstTokenPreset return the lateness presets that several servers have.
func queueTimePreset(source string, names ...histogram) Preset {
	return latenessPreset(
		source+"/queue-time",
		"measured lateness: time in the queue",
		"Share of the requests that spent longer than the allowed wait in the server's queue. A request counts when the server records it, "+
			"which some servers do only when the request is done.",
		scope.sumOverPods,
		names...)
}

func firstTokenPreset(source string, names ...histogram) Preset {
	return latenessPreset(
		source+"/time-to-first-token",
		"measured lateness: time to the first token",
		"Share of the requests that waited longer than the allowed wait for their first token. This includes the time in the queue and the time "+
			"to process the prompt.",
		scope.sumOverPods,
		names...)
}
