package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// stats are the statistics of one series. One that the series is too short for is NaN.
type stats struct {
	// CV is the standard deviation over the mean.
	CV float64
	// Day is the share of the variance of the hourly means that the hour of the day explains.
	Day float64
	// Minute, Hour, NextDay and NextWeek are the autocorrelations at those lags (Minute: at one step where that is
	// longer).
	Minute, Hour, NextDay, NextWeek float64
	// Noise is the robust standard deviation of first differences over √2 and the mean: the part of a step that the
	// previous one does not predict.
	Noise float64
	// Burst is the 99.9th percentile of value over the median of the hour around it.
	Burst float64
	// Shift is the largest ratio between the mean of a day and that of the day before it, at any hour.
	Shift float64
	// Gap is the longest run of steps that are missing or below a twentieth of the median.
	Gap time.Duration
}

// measure measures a series.
func measure(s forecast.Series) stats {
	known := slices.DeleteFunc(slices.Clone(s.Values), math.IsNaN)
	mean, deviation := stat.MeanStdDev(known, nil)
	hours := bin(s, time.Hour)
	return stats{
		CV:       deviation / mean,
		Day:      dayShare(hours),
		Minute:   autocorrelation(s.Values, max(1, int(time.Minute/s.Step))),
		Hour:     autocorrelation(s.Values, int(time.Hour/s.Step)),
		NextDay:  autocorrelation(s.Values, int(24*time.Hour/s.Step)),
		NextWeek: autocorrelation(s.Values, int(7*24*time.Hour/s.Step)),
		Noise:    noise(s.Values) / mean,
		Burst:    burst(s),
		Shift:    shift(hours),
		Gap:      gap(s),
	}
}

// row is a line of the table in doc.go.
func (s stats) row(name string) string {
	return fmt.Sprintf(
		"%-22s %.2f  %.2f  %.3f  %.2f  %.2f  %.2f  %.3f   %.2f   %.2f  %5s",
		name,
		s.CV,
		s.Day,
		s.Minute,
		s.Hour,
		s.NextDay,
		s.NextWeek,
		s.Noise,
		s.Burst,
		s.Shift,
		humanize.Span(s.Gap),
	)
}

// noise is the robust standard deviation of the innovations: 1.4826 times the median absolute first difference, over
// √2.
func noise(values []float64) float64 {
	var steps []float64
	for i := 1; i < len(values); i++ {
		if d := math.Abs(values[i] - values[i-1]); !math.IsNaN(d) {
			steps = append(steps, d)
		}
	}
	return 1.4826 * median(steps) / math.Sqrt2
}

// bin is the series of means over the given width; a bin without a value is NaN.
func bin(s forecast.Series, width time.Duration) []float64 {
	n := int(width / s.Step)
	if n < 1 {
		return nil
	}
	means := make([]float64, 0, s.Len()/n)
	for i := 0; i+n <= s.Len(); i += n {
		means = append(means, mean(s.Values[i:i+n]))
	}
	return means
}

// dayShare is 1 − (variance around the mean of the hour of the day)/(variance), over whole days.
func dayShare(hours []float64) float64 {
	if len(hours) < 2*24 {
		return math.NaN()
	}
	var profile [24]float64
	for h := range profile {
		var same []float64
		for i := h; i < len(hours); i += 24 {
			same = append(same, hours[i])
		}
		profile[h] = mean(same)
	}
	center := mean(hours)
	var around, total float64
	for i, v := range hours {
		if math.IsNaN(v) {
			continue
		}
		around += (v - profile[i%24]) * (v - profile[i%24])
		total += (v - center) * (v - center)
	}
	return 1 - around/total
}

// autocorrelation is Pearson's correlation between the series and itself lag steps later, over the pairs that are
// known.
func autocorrelation(values []float64, lag int) float64 {
	const minPairs = 30
	var now, later []float64
	for i := 0; i+lag < len(values); i++ {
		if a, b := values[i], values[i+lag]; !math.IsNaN(a) && !math.IsNaN(b) {
			now, later = append(now, a), append(later, b)
		}
	}
	if lag < 1 || len(now) < minPairs {
		return math.NaN()
	}
	return stat.Correlation(now, later, nil)
}

func burst(s forecast.Series) float64 {
	half := int(30 * time.Minute / s.Step)
	if half < 2 {
		return math.NaN()
	}
	var ratios []float64
	for i := half; i+half < s.Len(); i++ {
		around := median(s.Values[i-half : i+half+1])
		if ratio := s.Values[i] / around; around > 0 && !math.IsNaN(ratio) {
			ratios = append(ratios, ratio)
		}
	}
	if len(ratios) == 0 {
		return math.NaN()
	}
	slices.Sort(ratios)
	return stat.Quantile(0.999, stat.Empirical, ratios, nil)
}

func shift(hours []float64) float64 {
	largest := math.NaN()
	for i := 24; i+24 <= len(hours); i++ {
		before, after := mean(hours[i-24:i]), mean(hours[i:i+24])
		if ratio := max(before/after, after/before); !math.IsNaN(ratio) && !(ratio <= largest) {
			largest = ratio
		}
	}
	return largest
}

func gap(s forecast.Series) time.Duration {
	least := median(s.Values) / 20
	var longest, run int
	for _, v := range s.Values {
		if v >= least { // false for NaN
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return time.Duration(longest) * s.Step
}

func mean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

func median(values []float64) float64 {
	known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(known) == 0 {
		return math.NaN()
	}
	slices.Sort(known)
	return stat.Quantile(0.5, stat.Empirical, known, nil)
}
