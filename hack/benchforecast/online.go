package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// quantilesTo is an optional method of a Fitted: the p-quantiles of steps 1 … len(dst), without allocation.
type quantilesTo interface {
	QuantileTo(dst []float64, p float64)
}

// scoreOnline times every model that can be fitted to three days of minutes.
func scoreOnline(models []entry, rows printer, words io.Writer) error {
	for _, model := range models {
		row, err := measureOnline(model, simulatedSeries(3*length))
		if errors.Is(err, forecast.ErrTooShort) {
			fmt.Fprintln(words, "not timed online:", err)
			continue
		}
		if err != nil {
			return err
		}
		if err := rows.speed(row); err != nil {
			return err
		}
	}
	return nil
}

// measureOnline measures the time of an update, a path of 15 steps and three quantiles of it, and the memory of the fitted
// model.
func measureOnline(model entry, s forecast.Series) (speedRow, error) {
	made := model.make(task{seasons: []int{length, 7 * length}, horizon: 15, served: served()})
	fitted, bytes, err := measureMemory(made, s)
	if err != nil {
		return speedRow{}, fmt.Errorf("%s: %w", model.name, err)
	}
	path, quantile := make([]float64, 15), make([]float64, 15)
	direct, without := fitted.(quantilesTo)
	step := func(i int) {
		fitted.Update(s.Values[i%len(s.Values)])
		fitted.PointsTo(path)
		for _, p := range []float64{0.5, 0.9, 0.95} {
			if without {
				direct.QuantileTo(quantile, p)
			} else {
				copy(quantile, fitted.Forecast(15).Quantile(p))
			}
		}
	}
	const steps = 20_000
	for i := range steps / 10 {
		step(i)
	}
	spent := make([]time.Duration, 2*repeats+1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for k := range spent {
		begun := cpu()
		for i := range steps {
			step(i)
		}
		spent[k] = (cpu() - begun) / steps
	}
	runtime.ReadMemStats(&after)
	slices.Sort(spent)
	return speedRow{
		what:       model.name + ": update, 15 steps, 3 quantiles",
		cpu:        spent[repeats],
		goal:       10 * time.Microsecond,
		online:     true,
		allocation: float64((after.Mallocs - before.Mallocs) / uint64(steps*len(spent))),
		bytes:      bytes,
	}, nil
}

// measureMemory fits a model a few times and returns the mean growth of the heap.
func measureMemory(model forecast.Model, s forecast.Series) (forecast.Fitted, int, error) {
	const copies = 8
	held := make([]forecast.Fitted, copies)
	before := heap()
	for i := range held {
		var err error
		if held[i], err = model.Fit(s); err != nil {
			return nil, 0, err
		}
	}
	grown := heap() - before
	runtime.KeepAlive(held)
	return held[0], grown / copies, nil
}

func heap() int {
	runtime.GC()
	runtime.GC() // The second collection frees what the first one's finalisers released.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc) //nolint:gosec // No heap is that large.
}
