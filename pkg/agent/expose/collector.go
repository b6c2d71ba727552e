// Package expose serves the agent's newest picture as metrics, the last hour with timestamps, and its health.
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
	if p.Allocated > 0 {
		send(meanName(collect.PodAllocated), p.Allocated, labels...)
	}
	if p.Busy.Known {
		send(meanName(collect.PodBusy), p.Busy.Value, labels...)
	}
	if p.Bandwidth.Known {
		send(meanName(collect.PodBandwidth), p.Bandwidth.Value, labels...)
	}
}

func deviceLabels() []string { return []string{"uuid", "gpu_instance"} }

// podLabels returns labels that end with deviceLabels.
func podLabels() []string {
	return append([]string{"namespace", "pod", "container"}, deviceLabels()...)
}

type metric struct {
	help   string
	labels []string
}

// meanName returns the metric with the mean of a measure, which has a history. The presets nvml/… in pkg/signal query the metrics of pods.
func meanName(m collect.Measure) string { return "forewarm_gpu_" + string(m) + "_ratio" }

// metrics returns all gauges by name.
func metrics() map[string]metric {
	all := map[string]metric{}
	of := func(labels ...string) func(name, help string) {
		return func(name, help string) { all[name] = metric{help: help, labels: labels} }
	}
	device := of(deviceLabels()...)
	device("forewarm_gpu_busy_ratio", "Share of the time in the window in which a GPU or MIG instance was busy.")
	device(
		"forewarm_gpu_memory_bandwidth_ratio",
		"Mean share of the memory bandwidth of a GPU or MIG instance in use, over the "+
			"window. On GPUs before Hopper, the share of the time in which memory was accessed.",
	)
	device("forewarm_gpu_tensor_ratio",
		"Share of the time in the window in which the tensor pipes were active (Hopper and later).")
	for name, what := range map[string]string{
		"forewarm_gpu_busy":             "Share of the time in which a kernel ran",
		"forewarm_gpu_memory_bandwidth": "Share of the memory bandwidth in use",
		"forewarm_gpu_tensor":           "Share of the time in which the tensor pipes were active",
	} {
		device(name+"_max_ratio", what+": the largest sample in the window.")
		device(name+"_p95_ratio", what+": the 95th percentile of the samples in the window.")
	}
	device("forewarm_gpu_memory_used_bytes",
		"Memory that processes hold. If a server allocates its memory at the start, this metric does not follow the "+
			"load.")
	device("forewarm_gpu_memory_bytes", "Memory of a GPU or MIG instance.")
	device("forewarm_gpu_share_ratio",
		"Share of the physical GPU's compute: 1 for a whole GPU, or the share of the compute slices of a MIG instance.")
	pod := of(podLabels()...)
	pod(
		"forewarm_gpu_pod_busy_ratio",
		"Mean number of physical GPUs that a pod's container kept busy on a device, over the window. Absent if unknown.",
	)
	pod(
		"forewarm_gpu_pod_memory_bandwidth_ratio",
		"Mean memory bandwidth that a pod's container used on a device, over "+
			"the window, in physical GPUs. Absent if unknown.",
	)
	pod(
		"forewarm_gpu_pod_allocated_ratio",
		"Physical GPUs that are allocated to a pod's container on a device: 1 for a whole GPU, 1/n for "+
			"one of n time-slicing or MPS replicas, or the share of the compute slices of a MIG instance.",
	)
	of("uuid", "gpu_instance", "index", "model", "profile", "instance_uuid")(
		"forewarm_gpu_info", "Always 1. The labels describe a GPU or MIG instance.")
	of("uuid", "index", "reason")("forewarm_gpu_fault",
		"1 while a GPU cannot be read, by reason. Absent while it can be read.")
	of("version")("forewarm_agent_driver_info", "Always 1. The label version is the version of the GPU driver.")
	of("component", "reason")("forewarm_agent_error",
		"1 while the response of the driver or the kubelet is missing or incomplete, by reason.")
	of("reason")("forewarm_agent_unidentified_devices",
		"Devices that are allocated to containers and that the agent cannot match to a GPU of this node, by reason.")
	of()("forewarm_agent_last_reading_timestamp_seconds", "Time of the last reading of the GPUs.")
	return all
}
