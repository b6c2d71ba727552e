package pods

import (
	"cmp"
	"slices"
	"sort"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// The measures of a process.
const (
	didBusy = iota
	didBandwidth
	measures
)

// work is the sum of some processes' own figures.
type work [measures]float64

func (w *work) add(p gpu.Process) {
	w[didBusy] += ratio(p.Busy)
	w[didBandwidth] += ratio(p.Bandwidth)
}

// shares is the work of a device's processes, by holder.
type shares struct {
	holders []work
	// seen are the holders with a process, untold those with a process that the driver does not measure.
	seen, untold []bool
	// all is the work of all processes, of no holder's too.
	all work
	// open is the work of processes that may be any holder's.
	open work
	// openUntold: the driver does not measure such a process, so its work is unknown.
	openUntold bool
}

// shareByHolder sums a device's processes by holder. Holders are sorted.
func shareByHolder(processes []gpu.Process, holders []Holding, owner func(pid int) (Container, bool)) shares {
	s := shares{
		holders: make([]work, len(holders)), seen: make([]bool, len(holders)), untold: make([]bool, len(holders)),
	}
	for _, p := range sorted(processes) {
		container, known := owner(p.PID)
		holder, holds := sort.Find(len(holders), func(i int) int { return container.Compare(holders[i].Container) })
		holds = holds && container != Container{}
		switch {
		case !known && !p.Known:
			s.openUntold = true
		case !known:
			s.open.add(p)
		case holds && !p.Known:
			s.untold[holder] = true
		case holds:
			s.seen[holder] = true
			s.holders[holder].add(p)
		}
		if p.Known {
			s.all.add(p)
		}
	}
	return s
}

// figure is a holder's part of a device's figure.
//
// All holders of an idle device are idle. A holder with work has at least that work; the work of a process that ended
// before its owner was read is attributed to no holder. A holder without work is idle only where no such process may
// have been its own, and one without a process only where others account for the device's use.
func (s shares) figure(holder int, device Figure, measure int) Figure {
	own, all := s.holders[holder][measure], s.all[measure]
	switch {
	case !device.Known || device.Value == 0:
		return device
	case s.untold[holder]:
		return Figure{}
	case own > 0:
		return Figure{Value: own * min(1, device.Value/all), Known: true}
	case s.open[measure] > 0 || s.openUntold:
		return Figure{}
	}
	return Figure{Known: all > 0 || s.seen[holder]}
}

// sorted sorts processes, so that their sum is the same to the bit in any order of the driver's.
func sorted(processes []gpu.Process) []gpu.Process {
	all := slices.Clone(processes)
	slices.SortFunc(all, func(a, b gpu.Process) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Busy, b.Busy), cmp.Compare(a.Bandwidth, b.Bandwidth))
	})
	return all
}
