// Package expose serves the agent's newest picture as Prometheus metrics, the last hour as OpenMetrics with timestamps,
// and the agent's health.
package expose

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// Collector exports the board's newest picture at each scrape.
type Collector struct {
	board *collect.Board
	// stale is the age above which figures are no longer exported.
	stale     time.Duration
	now       func() time.Time
	described map[string]*prometheus.Desc
}

// New collects from the board. Of a picture that is older than stale only an error is exported, and no figures: a call
// of the driver can hang for ever. now is the clock.
func New(board *collect.Board, stale time.Duration, now func() time.Time) *Collector {
	c := &Collector{board: board, stale: stale, now: now, described: map[string]*prometheus.Desc{}}
	for name, m := range metrics() {
		c.described[name] = prometheus.NewDesc(name, m.help, m.labels, nil)
	}
	return c
}

// Describe sends every description.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.described {
		out <- d
	}
}

// Collect sends the newest picture; nothing before the first.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	picture := c.board.Load()
	if picture == nil {
		return
	}
	send := func(name string, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(c.described[name], prometheus.GaugeValue, value, labels...)
	}
	send("forewarm_agent_last_reading_timestamp_seconds", float64(picture.Time.UnixMilli())/1000)
	if c.now().Sub(picture.Time) > c.stale {
		send("forewarm_agent_error", 1, "driver", "Stuck")
		return
	}
	if picture.Fault != nil {
		send("forewarm_agent_error", 1, "driver", picture.Fault.Reason)
	}
	if picture.KubeletError != nil {
		send("forewarm_agent_error", 1, "kubelet", "NoAnswer")
	}
	if picture.Held.Estimated {
		send("forewarm_agent_error", 1, "kubelet", "ReplicasUnknown")
	}
	for reason, n := range picture.Held.Unidentified {
		send("forewarm_agent_unidentified_devices", float64(n), reason)
	}
	if picture.Driver != "" {
		send("forewarm_agent_driver_info", 1, picture.Driver)
	}
	for i := range picture.GPUs {
		sendDevice(&picture.GPUs[i], send)
	}
	for i := range picture.Pods {
		sendPod(&picture.Pods[i], send)
	}
}

type sender func(name string, value float64, labels ...string)

func sendDevice(d *collect.Device, send sender) {
	index := strconv.Itoa(d.Index)
	if d.Instance == "" && d.Fault != nil {
		send("forewarm_gpu_fault", 1, d.UUID, index, d.Fault.Reason)
	}
	if d.UUID == "" {
		return
	}
	send("forewarm_gpu_info", 1, d.UUID, d.Instance, index, d.Model, d.Profile, d.InstanceUUID)
	send("forewarm_gpu_share_ratio", d.Share, d.UUID, d.Instance)
	if d.Memory.Total > 0 {
		send("forewarm_gpu_memory_used_bytes", float64(d.Memory.Used), d.UUID, d.Instance)
		send("forewarm_gpu_memory_bytes", float64(d.Memory.Total), d.UUID, d.Instance)
	}
	for m, s := range map[collect.Measure]gpu.Summary{
		collect.Busy: d.Busy, collect.Bandwidth: d.Bandwidth, collect.Tensor: d.Tensor,
	} {
		if s.Known {
			send(meanName(m), s.Mean, d.UUID, d.Instance)
			send("forewarm_gpu_"+string(m)+"_max_ratio", s.Max, d.UUID, d.Instance)
			send("forewarm_gpu_"+string(m)+"_p95_ratio", s.P95, d.UUID, d.Instance)
		}
	}
}

func sendPod(p *pods.Part, send sender) {
	labels := []string{p.Namespace, p.Pod, p.Name, p.GPU, p.Instance}
	send(meanName(collect.PodAllocated), p.Allocated, labels...)
	if p.Busy.Known {
		send(meanName(collect.PodBusy), p.Busy.Value, labels...)
	}
	if p.Bandwidth.Known {
		send(meanName(collect.PodBandwidth), p.Bandwidth.Value, labels...)
	}
}
