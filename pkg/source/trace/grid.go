package trace

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
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
		if step = resample.Milliseconds(); step < own*9/10 { // Jitter may lengthen the median a little.
			return Trace{}, fmt.Errorf("trace: --resample %s is finer than the file, whose step is %s: set --resample %s",
				asFlag(step), asFlag(own), asFlag(roundStep(own)))
		}
		moved := s.resample(step)
		notes = append(notes, fmt.Sprintf("%d of %d samples were moved to steps of %s: each value is the mean of the "+
			"samples nearest to it", moved.off, moved.all, asFlag(step)))
		if len(s.all) < minRows {
			return Trace{}, fmt.Errorf("trace: --resample %s leaves %d value, want a shorter one", asFlag(step), len(s.all))
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
			return nil, fmt.Errorf("trace: %s %d: %v after the first row, which is not a multiple of the step %s; "+
				"resample the trace to an even step with --resample %s",
				s.row, one.line, inMilliseconds(after), asFlag(step), asFlag(roundStep(step)))
		}
		values[(one.at-start)/step] = one.value
	}
	return values, nil
}

// moves counts the samples before a resampling, and those off its steps.
type moves struct{ off, all int }

// resample moves every sample to the nearest whole step since the epoch. Several of one step become their mean, gaps
// left out: jitter moves a sample to either side of its step.
func (s *samples) resample(step int64) moves {
	m := moves{all: len(s.all)}
	kept, count := s.all[:0], 0.0
	for _, one := range s.all {
		at := (one.at + step/2) / step * step
		if at != one.at {
			m.off++
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
	return m
}

func inMilliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// roundStep is a step as people write it: what jitter adds is left out.
func roundStep(step int64) int64 {
	for _, unit := range []time.Duration{time.Minute, time.Second} {
		if ms := unit.Milliseconds(); step >= ms*9/10 {
			return (step + ms/2) / ms * ms
		}
	}
	return step
}

// asFlag is a duration as flags take it.
func asFlag(ms int64) string {
	text := inMilliseconds(ms).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// medianStep is the median distance between rows in milliseconds, at least 1 because times rise.
func medianStep(samples []sample) int64 {
	gaps := make([]int64, len(samples)-1)
	for i := range gaps {
		gaps[i] = samples[i+1].at - samples[i].at
	}
	slices.Sort(gaps)
	return gaps[(len(gaps)-1)/2]
}
