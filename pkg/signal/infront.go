package signal

import (
	"fmt"
	"strings"
)

// gateway has the presets for the endpoint picker of a Gateway API InferencePool (the inference extension, llm-d's router). The picker is
// in front of the pods. It therefore also counts requests that no pod has received, even while there is no pod.
func gateway() Source {
	routed := metricNamed(withKServe("llm_d_epp_request_total"), "inference_objective_request_total",
		"inference_model_request_total")
	running := metricNamed(withKServe("llm_d_epp_request_running"), "inference_objective_running_requests",
		"inference_model_running_requests")
	held := metricNamed(withKServe("llm_d_epp_flow_control_queue_size"), "inference_extension_flow_control_queue_size")
	queueTime := inSeconds(withKServe("llm_d_epp_flow_control_request_queue_duration_seconds"))
	queueTime.classic = true // The query is nearly as long as stores allow.
	return Source{
		Name:  "gateway",
		Title: "Gateway API inference extension",
		Note: "These presets read the InferencePool whose endpoints are the target's pods. While the target has no " +
			"pods, they read the InferencePool with the target's name. So if the workload scales to zero, give the " +
			"InferencePool the workload's name. If several workloads share a pool, the value is for all of them " +
			"together. All of these metrics are ALPHA, and their names have changed twice.",
		Presets: []Preset{
			inflightPreset("gateway", func(s scope) string {
				return s.totalOverPickers(sumPerPod(s.perPod(running), s.perPod(held)))
			}).withSummary("Requests in flight through the pool's endpoint picker: requests that it has routed and that have no " +
				"response yet, and requests that its flow control holds. The value grows without limit under saturation. This is the " +
				"first choice for scaling."),
			gatewayArrivals(
				"Requests that arrive per second at the pool's endpoint picker, even while there are no pods: the routed "+
					"requests plus the growth of the queue in its flow control. This is the best signal to forecast.",
				routed,
				held,
			),
			gatewayBand("interactive", `priority!~"-.*"`, routed, held),
			gatewayBand("deferrable", `priority=~"-.*"`, routed, held),
			queuePreset("gateway", func(s scope) string { return s.total(s.endpointQueues()) }).withSummary(
				"Requests that wait on the target's pods, as reported by the endpoint picker. The queue is empty until it is too late to " +
					"add replicas. Use it as a second, reactive metric of the HPA, or to mark another signal as saturated " +
					"(spec.signal.saturated)."),
			kvCachePreset("gateway", scope.poolCaches).withSummary(
				"KV cache in use, in units of one endpoint's cache: the mean usage over the pool's endpoints, " +
					"multiplied by the number of ready endpoints. The value cannot exceed the number of endpoints, " +
					"so use it as a second metric in addition to the requests in flight."),
		},
		Lateness: []Preset{
			latenessPreset(
				"gateway/queue-time",
				"measured lateness: time in the gateway's queue",
				"Share of the requests that the endpoint picker's flow control held for longer than the allowed "+
					"wait, including requests that were rejected or evicted. The gateway reports it only if flow "+
					"control is on. It does not include the time that requests wait on a pod.",
				scope.totalOverPickers,
				queueTime,
				inSeconds("inference_extension_flow_control_request_queue_duration_seconds"),
			),
		},
	}
}

// withKServe is the name of a metric and the name that KServe's second monitor gives to it.
func withKServe(name string) string { return name + "|kserve_" + name }

func gatewayArrivals(summary string, routed, held metric) Preset {
	return arrivalsPreset("gateway", summary, func(s scope) string {
		return s.totalOverPickers(sumAboveZero(s.perPod(routed.rate()), s.growth(held)))
	})
}

// gatewayBand is the arrivals of some priorities. Work with a negative priority yields to all other work.
func gatewayBand(name, matcher string, routed, held metric) Preset {
	routed.names = routed.names[:2] // The oldest name has no priorities.
	routed.matchers, held.matchers = matcher, matcher
	out := gatewayArrivals("The "+name+" part of gateway/arrivals. Requests with a negative priority are deferrable "+
		"(spec.deferrable), and all others are interactive. This preset needs a router that counts requests by "+
		"priority.", routed, held)
	out.Name += "-" + name
	return out
}

// endpoint is a metric that a picker reports for each endpoint, and the label with the endpoint. The label contains the pod's name, in
// newer releases followed by a rank.
type endpoint struct{ metric, label string }

func endpoints() []endpoint {
	return []endpoint{
		{withKServe("llm_d_epp_per_endpoint_queue_size"), "model_server_endpoint"},
		{"inference_pool_per_pod_queue_size", "model_server_pod"},
	}
}

// endpointByPod is a metric for each endpoint. The label pod has the endpoint's pod, and picker the pod of the picker.
func (s scope) endpointByPod(e endpoint) string {
	return fmt.Sprintf(
		`label_replace(label_replace(%s, "picker", "$1", "pod", "(.+)"), "pod", "$1", %q, "(.+?)(-rank-[0-9]+)?")`,
		s.instantSeries(e.metric, "", e.label), e.label)
}

// endpointQueues is the number of waiting requests of each pod. If there are several pickers, each reports all endpoints.
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
	name := s.named("name", "")
	named := fmt.Sprintf(
		`group by (picker) (label_replace(%s or %s, "picker", "$1", "pod", "(.+)"))`,
		s.instantSeries(withKServe("llm_d_epp_ready_endpoints"), name),
		s.instantSeries("inference_pool_ready_pods", name),
	)
	return fmt.Sprintf(`(%s or %s unless on () %s)`, joined, named, joined)
}

// pickersOfPool limits an expression by picker pod to the target's pool.
func (s scope) pickersOfPool(perPod string) string {
	return fmt.Sprintf(`(label_replace(%s, "picker", "$1", "pod", "(.+)") * on (picker) group_left () %s)`,
		perPod, s.pickers())
}

// totalOverPickers is the total over the pickers of the target's pool. Each picker counts the requests that it has routed.
func (s scope) totalOverPickers(perPod string) string { return `sum` + s.pickersOfPool(perPod) }

// poolCaches reads one picker of a pool, because all of them report the same endpoints.
func (s scope) poolCaches() string {
	full := func(mean, ready string) string {
		return fmt.Sprintf(`max by (pod, name) (%s) * on (pod, name) max by (pod, name) (%s)`,
			s.instantSeries(mean, "", "name"), s.instantSeries(ready, "", "name"))
	}
	now := full(withKServe("llm_d_epp_average_kv_cache_utilization"), withKServe("llm_d_epp_ready_endpoints"))
	before := full("inference_pool_average_kv_cache_utilization", "inference_pool_ready_pods")
	return `sum(max by (name) ` + s.pickersOfPool(`(`+now+` or `+before+`)`) + `)`
}

// dynamo has the presets for the frontend of NVIDIA Dynamo. The frontend is in front of the workers that a Forecast scales.
func dynamo() Source {
	held := metricNamed("dynamo_frontend_active_requests", "dynamo_frontend_inflight_requests")
	started := metricNamed("dynamo_frontend_requests_started_total")
	done := metricNamed("dynamo_frontend_requests_total")
	unanswered := metricNamed("dynamo_frontend_queued_requests")
	return Source{
		Name:  "dynamo",
		Title: "NVIDIA Dynamo's frontend",
		Note: "These presets read the frontend of the target's graph. If the target is named GRAPH-SERVICE, they " +
			"read the pods of the Deployment GRAPH-frontend, which is how Dynamo's operator names the frontend. The " +
			"value counts all models of the frontend. If there are several models and you need the demand of one of " +
			"them, write your own query. The workers report the metrics of their engine. For one part of a graph, " +
			"such as its prefill workers, use the presets of vllm, sglang or trtllm.",
		Presets: []Preset{
			inflightPreset("dynamo", func(s scope) string { return s.totalOverFrontends(s.perPod(held)) }).withSummary(
				"Requests in flight at the graph's frontend, from their arrival to the end of their response, on any worker. " +
					"The value grows without limit under saturation, so it hides no demand."),
			arrivalsPreset(
				"dynamo",
				"Requests that arrive per second at the graph's frontend. Older releases count requests when they "+
					"end. For these releases, the value is the number of requests that ended plus the growth of the "+
					"requests in flight.",
				func(s scope) string {
					ended := fmt.Sprintf(`clamp_min(%s + %s, 0)`, s.perPod(done.rate()), s.growth(held))
					return s.totalOverFrontends(fmt.Sprintf(`(%s or %s)`, s.perPod(started.rate()), ended))
				},
			),
			queuePreset(
				"dynamo",
				func(s scope) string { return s.totalOverFrontends(s.perPod(unanswered)) },
			).withSummary(
				"Requests at the graph's frontend that have no token yet, because they are waiting or because their " +
					"prompt is being processed. Use it as a second, reactive metric of the HPA, or to mark another " +
					"signal as saturated (spec.signal.saturated)."),
		},
		Lateness: []Preset{
			latenessPreset(
				"dynamo/time-to-first-token",
				"measured lateness: time to the first token",
				"Share of the requests that waited longer than the allowed wait for their first token, as measured "+
					"by the frontend.",
				scope.sumOverFrontends,
				inSeconds("dynamo_frontend_time_to_first_token_seconds"),
			),
		},
		Unsupported: []Unsupported{
			{
				"kv-cache",
				"the frontend does not report the caches of its workers; use a preset of their engine, such as vllm/kv-cache",
			},
			{
				"queue-time",
				"the frontend does not report the time in its queue separately from the time to the first token; use " +
					"dynamo/time-to-first-token",
			},
		},
	}
}

// sumOverFrontends is the sum of an expression by pod over the frontend pods of the target's graph. The label frontend has the pods,
// because they are not replicas of the target.
func (s scope) sumOverFrontends(perPod string) string {
	frontends := s
	frontends.target = Target{Kind: "Deployment", Name: s.target.Frontend()}
	for _, former := range s.target.FormerNames {
		front := Target{Kind: s.target.Kind, Name: former}.Frontend()
		frontends.target.FormerNames = append(frontends.target.FormerNames, front)
	}
	renamed := func(expr string) string {
		return fmt.Sprintf(`label_replace(%s, "frontend", "$1", "pod", "(.+)")`, expr)
	}
	return fmt.Sprintf(`sum(%s * on (frontend) group_left () %s)`, renamed(perPod), renamed(frontends.pods()))
}

func (s scope) totalOverFrontends(perPod string) string {
	return s.unlessUnknown(s.sumOverFrontends(perPod), perPod)
}

// Frontend is the name of the Deployment of the frontend of a target in a graph of NVIDIA Dynamo.
func (t Target) Frontend() string {
	if at := strings.LastIndex(t.Name, "-"); at > 0 && t.Kind != "DynamoGraphDeployment" {
		return t.Name[:at] + "-frontend"
	}
	return t.Name + "-frontend"
}
