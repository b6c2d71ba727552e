package trace

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// steps aggregates samples to whole steps since the epoch while they are read, in any order. A step gets the mean, the number, or the sum
// of its samples. The samples are not kept.
type steps struct {
	// length is the length of a step in milliseconds, and flag is the flag that sets it.
	length int64
	flag   string
	all    map[int64]*stepOf
	// rows counts the rows that were read, moved those that were not on a step, and merged those with the same time as the previous row.
	rows, moved, merged int
	last                int64
	// own has the times of the first rows. unsorted is true if they are not in order.
	own      []int64
	unsorted bool
}

// stepOf has the mean of the known values in a step, and their number.
type stepOf struct {
	mean  float64
	known int
}

// ownDistances is how many times are used to find the step of a file.
const ownDistances = 20_000

// newSteps returns nil if the file's own step is used.
func newSteps(o *Options) *steps {
	if o.step() == 0 {
		return nil
	}
	s := &steps{length: o.step().Milliseconds(), flag: "--resample", all: make(map[int64]*stepOf)}
	switch {
	case o.Count > 0:
		s.flag = "--count"
	case o.Sum > 0:
		s.flag = "--sum"
	}
	return s
}

// add adds a sample. Several samples in one step are averaged without gaps, because jitter may move a sample to either side of its step. An
// event counts in the step in which it lies.
func (s *steps) add(at int64, value float64) error {
	if s.rows > 0 && at == s.last {
		s.merged++
	}
	s.unsorted = s.unsorted || s.rows > 0 && at < s.last
	if len(s.own) < ownDistances {
		s.own = append(s.own, at)
	}
	s.rows++
	s.last = at
	on := at / s.length
	if s.flag == "--resample" {
		on = (at + s.length/2) / s.length
		if at%s.length != 0 {
			s.moved++
		}
	}
	of := s.all[on]
	if of == nil {
		if len(s.all) == maxRows {
			return fmt.Errorf("more than %d steps: set a longer step with %s", maxRows, s.flag)
		}
		of = &stepOf{}
		s.all[on] = of
	}
	if !math.IsNaN(value) {
		of.known++
		if of.known == 1 {
			of.mean = value
		}
		of.mean += (value - of.mean) / float64(of.known)
	}
	return nil
}

// values returns the values on the grid, beginning with the first step that has a sample.
func (s *steps) values(hint string) (start time.Time, values []float64, err error) {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for on := range s.all {
		first, last = min(first, on), max(last, on)
	}
	step := inMilliseconds(s.length)
	if len(s.all) < minRows {
		return start, nil, fmt.Errorf("trace: %s %s leaves only %s: set a shorter step", s.flag,
			humanize.Span(step), humanize.Plural(len(s.all), "value"))
	}
	own := medianOf(distancesOf(s.own))
	if s.unsorted && s.rows > ownDistances { // If rows are not in order, the first ones do not show the step.
		own = 0
	}
	if s.flag == "--resample" && own > 0 && s.length < max(1, own*9/10) { // Jitter may lengthen the median a little.
		return start, nil, fmt.Errorf("trace: --resample %s is shorter than the step of the file: set --resample "+
			"%s", step, humanize.Span(inMilliseconds(own)))
	}
	if err := checkSpan(first*s.length, last*s.length, s.length, s.rows, hint); err != nil {
		return start, nil, err
	}
	values = make([]float64, last-first+1)
	for i := range values {
		of := s.all[first+int64(i)]
		switch known := of != nil && of.known > 0; {
		case s.flag != "--resample" && !known:
			values[i] = 0
		case s.flag == "--count":
			values[i] = float64(of.known)
		case s.flag == "--sum":
			values[i] = of.mean * float64(of.known)
		case known:
			values[i] = of.mean
		default:
			values[i] = math.NaN()
		}
	}
	return time.UnixMilli(first * s.length).UTC(), values, nil
}

// notes says what was done with the rows.
func (s *steps) notes() []string {
	step := humanize.Span(inMilliseconds(s.length))
	var out []string
	switch s.flag {
	case "--count":
		out = append(out, fmt.Sprintf("each value is the number of rows per %s; the file has %d rows", step, s.rows))
	case "--sum":
		out = append(out, fmt.Sprintf("each value is the sum of the rows in %s; the file has %d rows", step, s.rows))
	default:
		out = append(out, fmt.Sprintf("%d of %d samples were moved to steps of %s; each value is the mean of the "+
			"samples that are closest to it", s.moved, s.rows, step))
		if s.merged > 0 {
			out = append(out,
				humanize.Plural(s.merged, "row")+" had the same time as the row before and are included in the mean")
		}
	}
	return out
}
