package signal

import "fmt"

// gateway is the presets on the endpoint picker of a Gateway API InferencePool (the inference extension, llm-d's router).
// It stands before the pods, so it counts requests that no pod has seen, and while there is no pod.
func gateway() Source {
	routed := named("llm_d_epp_request_total", "inference_objective_request_total", "inference_model_request_total")
	running := named("llm_d_epp_request_running", "inference_objective_running_requests",
		"inference_model_running_requests")
	held := named("llm_d_epp_flow_control_queue_size", "inference_extension_flow_control_queue_size")
	return Source{
		Name:  "gateway",
		Title: "Gateway API inference extension",
		Note: "The pool is the one whose endpoints are the target's pods or, where none are, the one of the target's name: call the " +
			"InferencePool like the workload if it sleeps at zero. A pool of several workloads counts whole. All names are ALPHA, " +
			"and were changed twice.",
		Presets: []Preset{
			inflight("gateway", func(s scope) string { return s.picked(together(s.perPod(running), s.perPod(held))) }).
				saying("Requests in flight through the pool's endpoint picker: those that it routed and that are not answered, " +
					"and those that its flow control holds. Grows without bound under saturation. The first choice for scaling."),
			arrivals("gateway", "Requests that arrive per second at the pool's endpoint picker, also while no pod is "+
				"there: those routed plus the growth of what its flow control holds. The best signal to forecast.",
				func(s scope) string { return s.picked(conserved(s.perPod(routed.rate()), s.growth(held))) }),
			queue("gateway", func(s scope) string { return s.total(s.endpointQueues()) }).saying(
				"Requests that wait on the target's pods, as the endpoint picker sees it. Zero until it is too late: a second, reactive " +
					"metric of the HPA, or what says that a signal is saturated (spec.signal.saturated)."),
			caches(
				"gateway",
				scope.poolCaches,
			).saying("KV caches in use, counted in endpoints of the pool: their mean times " +
				"the endpoints that are ready. Saturates at their number: a second metric beside the requests in flight."),
		},
	}
}

// endpoint is the two names of the figure that a picker has for each endpoint, with the label that names the endpoint:
// the pod's name, and its rank since a pod may have several.
type endpoint struct{ metric, label string }

func endpoints() []endpoint {
	return []endpoint{
		{"llm_d_epp_per_endpoint_queue_size", "model_server_endpoint"},
		{"inference_pool_per_pod_queue_size", "model_server_pod"},
	}
}

// byPod is the picker's figures for endpoints, with the endpoint's pod in the label pod and the picker's in picker.
func (s scope) byPod(e endpoint) string {
	return fmt.Sprintf(
		`label_replace(label_replace(%s, "picker", "$1", "pod", "(.+)"), "pod", "$1", %q, "(.+?)(-rank-[0-9]+)?")`,
		s.fact(e.metric, ""), e.label)
}

// endpointQueues is what waits, per pod. Each of several pickers sees all endpoints.
func (s scope) endpointQueues() string {
	now, before := endpoints()[0], endpoints()[1]
	return fmt.Sprintf(`(sum by (pod) (max by (pod, %s) (%s)) or sum by (pod) (max by (pod, %s) (%s)))`,
		now.label, s.byPod(now), before.label, s.byPod(before))
}

// pickers is 1 for every picker of the target's pool, in the label picker.
func (s scope) pickers() string {
	now, before := endpoints()[0], endpoints()[1]
	joined := fmt.Sprintf(`group by (picker) (group by (pod, picker) (%s or %s) * on (pod) group_left () %s)`,
		s.byPod(now), s.byPod(before), s.pods())
	name := fmt.Sprintf("name=%q", s.target.Name)
	named := fmt.Sprintf(`group by (picker) (label_replace(%s or %s, "picker", "$1", "pod", "(.+)"))`,
		s.fact("llm_d_epp_ready_endpoints", name), s.fact("inference_pool_ready_pods", name))
	return fmt.Sprintf(`(%s or %s unless on () %s)`, joined, named, joined)
}

// ofPool is an expression per picker's pod, of the target's pool only.
func (s scope) ofPool(perPod string) string {
	return fmt.Sprintf(`(label_replace(%s, "picker", "$1", "pod", "(.+)") * on (picker) group_left () %s)`,
		perPod, s.pickers())
}

// picked is the total over the pickers of the target's pool: each counts the requests that it routed itself.
func (s scope) picked(perPod string) string { return `sum` + s.ofPool(perPod) }

// poolCaches takes one of the pickers of a pool, for they all see the same endpoints.
func (s scope) poolCaches() string {
	full := func(mean, ready string) string {
		return fmt.Sprintf(`max by (pod, name) (%s) * on (pod, name) max by (pod, name) (%s)`,
			s.fact(mean, ""), s.fact(ready, ""))
	}
	perPool := `(` + full("llm_d_epp_average_kv_cache_utilization", "llm_d_epp_ready_endpoints") + ` or ` +
		full("inference_pool_average_kv_cache_utilization", "inference_pool_ready_pods") + `)`
	return `sum(max by (name) ` + s.ofPool(perPool) + `)`
}
