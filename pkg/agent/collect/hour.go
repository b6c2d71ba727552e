package collect

import (
	"cmp"
	"math"
	"time"
)

const (
	// HistoryStep is the time that a point covers: forewarm queries its signals every 15 s or less often.
	HistoryStep = 15 * time.Second
	// HistoryLength is how long points are kept.
	HistoryLength = time.Hour
	// maxSeries is how many series are kept, at 1 KiB each. A node of eight GPUs with seven instances each has 360, and pods
	// that come and go add more. Above the limit the series that ended first are dropped.
	maxSeries = 2048

	maxPoints = int64(HistoryLength / HistoryStep)
)

// Measure is one figure of a device or a pod.
type Measure string

// Measures of devices are in shares of the device or instance, those of pods in shares of a physical GPU.
const (
	Busy         Measure = "busy"
	Bandwidth    Measure = "memory_bandwidth"
	Tensor       Measure = "tensor"
	PodBusy      Measure = "pod_busy"
	PodBandwidth Measure = "pod_memory_bandwidth"
	PodAllocated Measure = "pod_allocated"
)

// Measures lists all measures.
func Measures() []Measure {
	return []Measure{Busy, Bandwidth, Tensor, PodBusy, PodBandwidth, PodAllocated}
}

// Series identifies a series: a measure of a device (no pod), or of a pod's container on a device.
type Series struct {
	Measure Measure
	// UUID of the GPU, and Instance the MIG GPU instance's id; empty where there is none.
	UUID, Instance            string
	Namespace, Pod, Container string
}

// Compare orders series by their measure, then their names.
func (s Series) Compare(t Series) int {
	return cmp.Or(cmp.Compare(s.Measure, t.Measure), cmp.Compare(s.UUID, t.UUID), cmp.Compare(s.Instance, t.Instance),
		cmp.Compare(s.Namespace, t.Namespace), cmp.Compare(s.Pod, t.Pod), cmp.Compare(s.Container, t.Container))
}

// Hour is the recorded history at one time. It is immutable.
type Hour struct {
	// Lines in the order of their series.
	Lines []Line
}

// Line has a series' points, one for each step.
type Line struct {
	Series Series
	// First is the number of the first point's step: its start in units of HistoryStep since 1970.
	First int64
	// Means of the steps, 0 … 1; NaN where there was no reading.
	Means []float32
}

// End is the end of the i-th point's step, when its mean was known.
func (l Line) End(i int) time.Time { return time.Unix(0, (l.First+int64(i)+1)*int64(HistoryStep)) }

// last is the number of the last point's step.
func (l Line) last() int64 { return l.First + int64(len(l.Means)) - 1 }

func stepOf(t time.Time) int64 {
	ns := t.UnixNano()
	if ns < 0 {
		return 0
	}
	return ns / int64(HistoryStep)
}

var noReading = float32(math.NaN()) //nolint:gochecknoglobals // A constant, which Go has no NaN for.
