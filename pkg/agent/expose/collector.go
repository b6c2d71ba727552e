package expose

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

var _ prometheus.Collector = (*Collector)(nil)

// Collector exports the board's newest picture at each scrape.
type Collector struct {
	board *collect.Board
	// stale is the age above which figures are no longer exported.
	stale time.Duration
	now   func() time.Time
	names *descriptions
}

// New collects from the board. Of a picture that is older than stale only an error is exported, and no figures: a call
// of the driver can hang for ever. now is the clock.
func New(board *collect.Board, stale time.Duration, now func() time.Time) *Collector {
	return &Collector{board: board, stale: stale, now: now, names: describe()}
}

// Describe sends every description.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.names.all {
		out <- d
	}
}

// Collect sends the newest picture; nothing before the first.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	picture := c.board.Load()
	if picture == nil {
		return
	}
	send := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	send(c.names.lastRead, float64(picture.Time.UnixMilli())/1000)
	if c.now().Sub(picture.Time) > c.stale {
		send(c.names.agentError, 1, "driver", "Stuck")
		return
	}
	if picture.Fault != nil {
		send(c.names.agentError, 1, "driver", picture.Fault.Reason)
	}
	if picture.KubeletError != nil {
		send(c.names.agentError, 1, "kubelet", "NoAnswer")
	}
	if picture.Held.Estimated {
		send(c.names.agentError, 1, "kubelet", "ReplicasUnknown")
	}
	for reason, n := range picture.Held.Unidentified {
		send(c.names.unidentified, float64(n), reason)
	}
	if picture.Driver != "" {
		send(c.names.driver, 1, picture.Driver)
	}
	for i := range picture.GPUs {
		c.device(&picture.GPUs[i], send)
	}
	for i := range picture.Pods {
		c.pod(&picture.Pods[i], send)
	}
}

type sender func(d *prometheus.Desc, value float64, labels ...string)

func (c *Collector) device(d *collect.Device, send sender) {
	index := strconv.Itoa(d.Index)
	if d.Instance == "" && d.Fault != nil {
		send(c.names.fault, 1, d.UUID, index, d.Fault.Reason)
	}
	if d.UUID == "" {
		return
	}
	send(c.names.info, 1, d.UUID, d.Instance, index, d.Model, d.Profile, d.InstanceUUID)
	send(c.names.share, d.Share, d.UUID, d.Instance)
	if d.Memory.Total > 0 {
		send(c.names.used, float64(d.Memory.Used), d.UUID, d.Instance)
		send(c.names.total, float64(d.Memory.Total), d.UUID, d.Instance)
	}
	summary := func(s gpu.Summary, m collect.Measure, of extremes) {
		if s.Known {
			send(c.names.means[m], s.Mean, d.UUID, d.Instance)
			send(of.max, s.Max, d.UUID, d.Instance)
			send(of.p95, s.P95, d.UUID, d.Instance)
		}
	}
	summary(d.Busy, collect.Busy, c.names.busy)
	summary(d.Bandwidth, collect.Bandwidth, c.names.bandwidth)
	summary(d.Tensor, collect.Tensor, c.names.tensor)
}

func (c *Collector) pod(p *pods.Part, send sender) {
	labels := []string{p.Namespace, p.Pod, p.Name, p.GPU, p.Instance}
	send(c.names.means[collect.PodAllocated], p.Allocated, labels...)
	if p.Busy.Known {
		send(c.names.means[collect.PodBusy], p.Busy.Value, labels...)
	}
	if p.Bandwidth.Known {
		send(c.names.means[collect.PodBandwidth], p.Bandwidth.Value, labels...)
	}
}
