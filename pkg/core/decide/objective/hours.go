package objective

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// clockHour holds the sums of one clock hour in replica-hours, and the highest demand.
type clockHour struct {
	arrived, late, paid              float64
	capped, peak, deferrable, missed float32
	// judged: enough of the hour is known to say whether it was bad. recorded: Forewarm served for half of it or more.
	judged, recorded bool
}

// hourLog has the newest hours, without a part of an hour at its begin.
type hourLog struct {
	// begin of what is known, and the end of the newest hour.
	begin, end time.Time
	ring       series.Ring[clockHour]
	// past is the sum of the hours, and packed the record of those that Forewarm served. Both are computed again after an hour has changed.
	past   *past
	packed *Record
}

// past is what the hours of a report come to.
type past struct {
	Account

	capped, peak, deferrable, missed float64
	hours, judged, recorded          int
	bad                              BadHours
}

// BadHours are the bad hours of a period.
type BadHours struct {
	// Count is how many hours were bad, and Share the share of the demand that arrived in them.
	Count int
	Share float64
	// Judged is how many hours are known well enough, and Recorded in how many Forewarm served. The others are replayed.
	Judged, Recorded int
	// Busy is the share of the demand in a busy hour: one of ten hours has more. 0 without demand.
	Busy float64
	// Worth are those with at least a tenth of the mean hour's demand, oldest first. The others count as well.
	Worth []BadHour
}

// BadHour is an hour in which more than a tenth of the demand was late.
type BadHour struct {
	// Start of the clock hour, in UTC.
	Start time.Time
	// Late is the share of its demand that was late, and Demand its share of the period's demand.
	Late, Demand float64
	// Replayed: Forewarm did not serve, and this is what it would have done.
	Replayed bool
}

func newHourLog(c Config) hourLog {
	return hourLog{
		begin: c.Start.Add(-c.Step), ring: series.NewGrowingRing[clockHour](int(c.period() / time.Hour)),
	}
}

// push adds the hour that begins at a time: the next one, unless it is the first.
func (l *hourLog) push(start time.Time, h clockHour) {
	if l.ring.Len() == 0 && start.Before(l.begin) {
		return
	}
	if h.recorded {
		h = unpackHour(packHour(h), h)
	}
	l.ring.Grow(1)
	l.ring.Push(h)
	l.end, l.past, l.packed = start.Add(time.Hour), nil, nil
}

// at is the hour that begins at a time; nil where it is not kept.
func (l *hourLog) at(start time.Time) *clockHour {
	ago := int(l.end.Sub(start)/time.Hour) - 1
	if ago < 0 || ago >= l.ring.Len() {
		return nil
	}
	return l.ring.Ref(ago)
}

// set replaces the hour that begins at a time, if it is kept, and reports whether that changed something.
func (l *hourLog) set(start time.Time, h clockHour) bool {
	kept := l.at(start)
	if kept == nil || *kept == h {
		return false
	}
	*kept, l.past, l.packed = h, nil, nil
	return true
}

// sum is what the newest hours come to.
func (l *hourLog) sum(hours int) *past {
	if l.past != nil && l.past.hours == hours {
		return l.past
	}
	out := &past{hours: hours}
	for ago := hours - 1; ago >= 0; ago-- {
		out.add(l.ring.Ref(ago))
	}
	for ago := hours - 1; ago >= 0; ago-- {
		h := l.ring.Ref(ago)
		if !h.isBad() {
			continue
		}
		if h.arrived*float64(out.hours) >= worthNaming*out.Arrived {
			start := l.end.Add(-time.Duration(ago+1) * time.Hour)
			out.bad.Worth = append(
				out.bad.Worth,
				BadHour{start, h.late / h.arrived, h.arrived / out.Arrived, !h.recorded},
			)
		}
	}
	out.bad.Judged, out.bad.Recorded = out.judged, out.recorded
	out.bad.Count, out.bad.Share = out.BadHours, out.BadShare()
	if out.Arrived > 0 {
		out.bad.Busy = l.busyHour(hours) / out.Arrived
	}
	l.past = out
	return out
}

// busyHour is the 0.9 quantile of the demand of the newest hours, one or more.
func (l *hourLog) busyHour(hours int) float64 {
	all := make([]float64, hours)
	for ago := range all {
		all[ago] = l.ring.Ref(ago).arrived
	}
	slices.Sort(all)
	return all[len(all)*9/10]
}

// NameBadHours names the bad hours of a simulation.
func NameBadHours(of *sim.BadHours) BadHours {
	out := BadHours{Count: of.Count, Share: of.Share(), Judged: of.Hours}
	for _, h := range of.List {
		if h.Arrived*float64(of.Hours) >= worthNaming*of.Arrived {
			out.Worth = append(
				out.Worth,
				BadHour{Start: h.Start, Late: h.Late / h.Arrived, Demand: h.Arrived / of.Arrived},
			)
		}
	}
	return out
}

// worthNaming is the least demand of an hour that is named, as a share of the mean hour's.
const worthNaming = 0.1

func (h *clockHour) isBad() bool { return h.judged && sim.IsBadHour(h.arrived, h.late) }

func (p *past) add(h *clockHour) {
	p.Arrived += h.arrived
	p.Late += h.late
	p.ReplicaHours += h.paid
	if h.judged {
		p.judged++
		p.Judged += h.arrived
	}
	if h.isBad() {
		p.Bad += h.arrived
		p.BadHours++
	}
	if h.recorded {
		p.recorded++
	}
	p.capped += float64(h.capped)
	p.deferrable += float64(h.deferrable)
	p.missed += float64(h.missed)
	p.peak = math.Max(p.peak, float64(h.peak))
}

// account of the newest hours, at most those that are kept.
func (l *hourLog) account(hours int) Account {
	var out past
	for ago := range min(hours, l.ring.Len()) {
		out.add(l.ring.Ref(ago))
	}
	return out.Account
}

// namedHours is how many bad hours a sentence or an alert names.
const namedHours = 3

// Worst returns the hours in which the most demand was late, at most three.
func (b *BadHours) Worst() []BadHour {
	all := slices.SortedFunc(slices.Values(b.Worth), func(a, b BadHour) int {
		return cmp.Compare(b.Late*b.Demand, a.Late*a.Demand)
	})
	return all[:min(namedHours, len(all))]
}

// String says how many hours were bad, and lists the worst ones. It is empty before an hour is judged.
func (b *BadHours) String() string {
	if b.Judged == 0 {
		return ""
	}
	verb := "were"
	if b.Count == 1 {
		verb = "was"
	}
	text := fmt.Sprintf("%d of %s %s bad", b.Count, humanize.Plural(b.Judged, "hour"), verb)
	if b.Count == 0 {
		return text
	}
	text += fmt.Sprintf(", with %s of the demand", humanize.LateShare(b.Share))
	var names []string
	for _, h := range b.Worst() {
		names = append(names, h.String())
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names, "; ")
	}
	if more := b.Count - len(names); more > 0 && len(names) > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// String writes an hour with its lateness: "Mon 16 Nov 07:00 to 08:00 UTC (43% late)".
func (h BadHour) String() string {
	text := fmt.Sprintf("%s to %s UTC (%s late", h.Start.UTC().Format("Mon 2 Jan 15:04"),
		h.Start.Add(time.Hour).UTC().Format("15:04"), humanize.LateShare(h.Late))
	if h.Replayed {
		text += ", replayed"
	}
	return text + ")"
}
