package pods

import (
	"cmp"
	"slices"
	"sort"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// A measure of what a process did.
const (
	didBusy = iota
	didBandwidth
	measures
)

// work is what some processes did of a device, by their own figures.
type work [measures]float64

func (w *work) add(p gpu.Process) {
	w[didBusy] += ratio(p.Busy)
	w[didBandwidth] += ratio(p.Bandwidth)
}

// shares is what a device's processes did, by whose they are.
type shares struct {
	holders []work
	// seen are the holders with a process, untold those with one that the driver does not tell.
	seen, untold []bool
	// all that was done, nobody's too.
	all work
	// open is what was done by processes that may be any holder's.
	open work
	// openUntold: the driver does not tell such a process either, so that it may have done anything.
	openUntold bool
}

// share adds up a device's processes by their holders, which are sorted.
func share(processes []gpu.Process, holders []Holding, owner func(pid int) (Container, bool)) shares {
	s := shares{
		holders: make([]work, len(holders)), seen: make([]bool, len(holders)), untold: make([]bool, len(holders)),
	}
	for _, p := range sorted(processes) {
		container, known := owner(p.PID)
		holder, holds := sort.Find(len(holders), func(i int) int { return container.Compare(holders[i].Container) })
		holds = holds && container != Container{}
		switch {
		case !known && !p.Told:
			s.openUntold = true
		case !known:
			s.open.add(p)
		case holds && !p.Told:
			s.untold[holder] = true
		case holds:
			s.seen[holder] = true
			s.holders[holder].add(p)
		}
		if p.Told {
			s.all.add(p)
		}
	}
	return s
}

// of is the part of a device's figure that a holder did.
//
// A device that did nothing did nothing for anyone. A holder that did something did at least that: what may be its own
// beyond that, by a process that ended before it could be asked about, is nobody's. A holder that did nothing is idle only
// where no such process may have worked for it, and one without a process only where others did what the device did.
func (s shares) of(holder int, device Figure, measure int) Figure {
	own, all := s.holders[holder][measure], s.all[measure]
	switch {
	case !device.Told || device.Value == 0:
		return device
	case s.untold[holder]:
		return Figure{}
	case own > 0:
		return Figure{Value: own * min(1, device.Value/all), Told: true}
	case s.open[measure] > 0 || s.openUntold:
		return Figure{}
	}
	return Figure{Told: all > 0 || s.seen[holder]}
}

// sorted processes add up to the same bits in whatever order the driver gave them.
func sorted(processes []gpu.Process) []gpu.Process {
	all := slices.Clone(processes)
	slices.SortFunc(all, func(a, b gpu.Process) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Busy, b.Busy), cmp.Compare(a.Bandwidth, b.Bandwidth))
	})
	return all
}
