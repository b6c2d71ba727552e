package signal

import "fmt"

// gateway is the presets for the endpoint picker of a Gateway API InferencePool (the inference extension, llm-d's
// router). It is in front of the pods, so it also counts requests that no pod has received, even while there is no pod.
func gateway() Source {
	routed := metricNamed("llm_d_epp_request_total", "inference_objective_request_total",
		"inference_model_request_total")
	running := metricNamed("llm_d_epp_request_running", "inference_objective_running_requests",
		"inference_model_running_requests")
	held := metricNamed("llm_d_epp_flow_control_queue_size", "inference_extension_flow_control_queue_size")
	return Source{
		Name:  "gateway",
		Title: "Gateway API inference extension",
		Note: "The pool is the one whose endpoints are the target's pods or, without pods, the one with the target's name: give the " +
			"InferencePool the workload's name if it scales to zero. A pool of several workloads counts as a whole. All metric names " +
			"are ALPHA and have changed twice.",
		Presets: []Preset{
			inflightPreset("gateway", func(s scope) string {
				return s.totalOverPickers(sumPerPod(s.perPod(running), s.perPod(held)))
			}).withSummary("Requests in flight through the pool's endpoint picker: those that it has routed and that are not answered, " +
				"and those that its flow control holds. Grows without limit under saturation. The first choice for scaling."),
			arrivalsPreset(
				"gateway",
				"Requests that arrive per second at the pool's endpoint picker, also without pods: "+
					"those routed plus the growth of the queue in its flow control. The best signal to forecast.",
				func(s scope) string { return s.totalOverPickers(sumAboveZero(s.perPod(routed.rate()), s.growth(held))) },
			),
			queuePreset("gateway", func(s scope) string { return s.total(s.endpointQueues()) }).withSummary(
				"Requests that wait on the target's pods, as reported by the endpoint picker. Zero until it is too late. Use it as a second, " +
					"reactive metric of the HPA, or to mark another signal as saturated (spec.signal.saturated)."),
			kvCachePreset("gateway", scope.poolCaches).withSummary(
				"KV caches in use, counted in endpoints of the pool: their mean times the endpoints that are ready. " +
					"Saturates at their number: use it as a second metric beside the requests in flight."),
		},
		Lateness: []Preset{
			latenessPreset("gateway/queue-time", "measured lateness: time in the gateway's queue",
				"Share of the requests that the endpoint picker's flow control held for longer than the wait, "+
					"whatever became of them. Only with flow control; what a request waits on a pod comes on top.",
				scope.totalOverPickers, inSeconds("llm_d_epp_flow_control_request_queue_duration_seconds"),
				inSeconds("inference_extension_flow_control_request_queue_duration_seconds")),
		},
	}
}

// endpoint is a metric that a picker reports per endpoint, with the label of the endpoint: the pod's name, in newer
// releases with a rank.
type endpoint struct{ metric, label string }

func endpoints() []endpoint {
	return []endpoint{
		{"llm_d_epp_per_endpoint_queue_size", "model_server_endpoint"},
		{"inference_pool_per_pod_queue_size", "model_server_pod"},
	}
}

// endpointByPod is a metric per endpoint, with the endpoint's pod in the label pod and the picker's in picker.
func (s scope) endpointByPod(e endpoint) string {
	return fmt.Sprintf(
		`label_replace(label_replace(%s, "picker", "$1", "pod", "(.+)"), "pod", "$1", %q, "(.+?)(-rank-[0-9]+)?")`,
		s.instantSeries(e.metric, "", e.label), e.label)
}

// endpointQueues is the waiting requests per pod. Each of several pickers reports all endpoints.
func (s scope) endpointQueues() string {
	now, before := endpoints()[0], endpoints()[1]
	return fmt.Sprintf(`(sum by (pod) (max by (pod, %s) (%s)) or sum by (pod) (max by (pod, %s) (%s)))`,
		now.label, s.endpointByPod(now), before.label, s.endpointByPod(before))
}

// pickers is 1 for every picker of the target's pool, in the label picker.
func (s scope) pickers() string {
	now, before := endpoints()[0], endpoints()[1]
	joined := fmt.Sprintf(`group by (picker) (group by (pod, picker) (%s or %s) * on (pod) group_left () %s)`,
		s.endpointByPod(now), s.endpointByPod(before), s.pods())
	name := fmt.Sprintf("name=%q", s.target.Name)
	named := fmt.Sprintf(`group by (picker) (label_replace(%s or %s, "picker", "$1", "pod", "(.+)"))`,
		s.instantSeries("llm_d_epp_ready_endpoints", name), s.instantSeries("inference_pool_ready_pods", name))
	return fmt.Sprintf(`(%s or %s unless on () %s)`, joined, named, joined)
}

// pickersOfPool limits an expression per picker's pod to the target's pool.
func (s scope) pickersOfPool(perPod string) string {
	return fmt.Sprintf(`(label_replace(%s, "picker", "$1", "pod", "(.+)") * on (picker) group_left () %s)`,
		perPod, s.pickers())
}

// totalOverPickers is the total over the pickers of the target's pool: each counts the requests that it routed itself.
func (s scope) totalOverPickers(perPod string) string { return `sum` + s.pickersOfPool(perPod) }

// poolCaches takes one of the pickers of a pool: they all report the same endpoints.
func (s scope) poolCaches() string {
	full := func(mean, ready string) string {
		return fmt.Sprintf(`max by (pod, name) (%s) * on (pod, name) max by (pod, name) (%s)`,
			s.instantSeries(mean, "", "name"), s.instantSeries(ready, "", "name"))
	}
	perPool := `(` + full("llm_d_epp_average_kv_cache_utilization", "llm_d_epp_ready_endpoints") + ` or ` +
		full("inference_pool_average_kv_cache_utilization", "inference_pool_ready_pods") + `)`
	return `sum(max by (name) ` + s.pickersOfPool(perPool) + `)`
}
