package trace

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// maxYears is the longest time from the first row to the last.
const maxYears = 100

// toGrid puts the rows on an even grid, of the file's own step or of another. Its own is the median distance of two rows.
func (s *samples) toGrid(resample time.Duration) (Trace, error) {
	if len(s.all) < minRows {
		return Trace{}, fmt.Errorf("trace: %d rows, want at least %d to know the step", len(s.all), minRows)
	}
	step, notes := medianStep(s.all), s.notes()
	if own := step; resample > 0 {
		if step = resample.Milliseconds(); step < max(1, own*9/10) { // Jitter may lengthen the median a little.
			return Trace{}, fmt.Errorf("trace: --resample %s is finer than the file, set --resample %s",
				resample, humanize.Span(inMilliseconds(own)))
		}
		all := len(s.all)
		moved := s.resample(step)
		notes = append(notes, fmt.Sprintf("%d of %d samples were moved to steps of %s: each value is the mean of the "+
			"samples nearest to it", moved, all, humanize.Span(resample)))
		if len(s.all) < minRows {
			return Trace{}, fmt.Errorf("trace: --resample %s leaves %d value, want a shorter one",
				humanize.Span(resample), len(s.all))
		}
	}
	values, err := s.values(step)
	if err != nil {
		return Trace{}, err
	}
	start := time.UnixMilli(s.all[0].at).UTC()
	series := forecast.Series{Start: start, Step: time.Duration(step) * time.Millisecond, Values: values}
	return Trace{Series: series, Notes: notes}, nil
}

// values are those of the grid from the first row to the last.
func (s *samples) values(step int64) ([]float64, error) {
	start, end := s.all[0].at, s.all[len(s.all)-1].at
	points := (end-start)/step + 1
	if points > maxPoints {
		return nil, fmt.Errorf("trace: %d steps of %v from the first row to the last, at most %d are allowed",
			points, inMilliseconds(step), maxPoints)
	}
	if years := (end - start) / (365 * 24 * time.Hour).Milliseconds(); years > maxYears {
		return nil, fmt.Errorf("trace: %d years from the first row to the last, at most %d are allowed: "+
			"check the times", years, maxYears)
	}
	values := make([]float64, points)
	for i := range values {
		values[i] = math.NaN()
	}
	for _, one := range s.all {
		if after := one.at - start; after%step != 0 {
			return nil, fmt.Errorf("trace: %s %d: %v after the first row, which is not a multiple of the step %v; "+
				"resample the trace to an even step with --resample %s",
				s.row, one.line, inMilliseconds(after), inMilliseconds(step), humanize.Span(inMilliseconds(step)))
		}
		values[(one.at-start)/step] = one.value
	}
	return values, nil
}

// resample moves every sample to the nearest whole step since the epoch. Several of one step become their mean, gaps
// left out: jitter moves a sample to either side of its step.
func (s *samples) resample(step int64) (moved int) {
	kept, count := s.all[:0], 0.0
	for _, one := range s.all {
		at := (one.at + step/2) / step * step
		if at != one.at {
			moved++
		}
		one.at = at
		if n := len(kept); n == 0 || kept[n-1].at != at {
			kept, count = append(kept, one), 0
		}
		if last := &kept[len(kept)-1]; !math.IsNaN(one.value) {
			count++
			if count == 1 {
				last.value = one.value
			}
			last.value += (one.value - last.value) / count
		}
	}
	s.all = kept
	return moved
}

func inMilliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// medianStep is the median distance between rows in milliseconds, at least 1 because times rise.
func medianStep(samples []sample) int64 {
	gaps := make([]int64, len(samples)-1)
	for i := range gaps {
		gaps[i] = samples[i+1].at - samples[i].at
	}
	slices.Sort(gaps)
	return gaps[(len(gaps)-1)/2]
}
