package signal_test

// endpoints is two pickers of llama's pool, of which each knows all endpoints; that of llama-2; and one of another
// namespace. Pods may have several ranks.
const pickers = `
  llm_d_epp_per_endpoint_queue_size{namespace="ai",pod="epp-1",name="pool",model_server_endpoint="llama-7d9-a-rank-0"} 1x40
  llm_d_epp_per_endpoint_queue_size{namespace="ai",pod="epp-1",name="pool",model_server_endpoint="llama-7d9-b-rank-0"} 2x40
  llm_d_epp_per_endpoint_queue_size{namespace="ai",pod="epp-1",name="pool",model_server_endpoint="llama-7d9-b-rank-1"} 4x40
  llm_d_epp_per_endpoint_queue_size{namespace="ai",pod="epp-2",name="pool",model_server_endpoint="llama-7d9-a-rank-0"} 1x40
  llm_d_epp_per_endpoint_queue_size{namespace="ai",pod="epp-2",name="pool",model_server_endpoint="llama-7d9-b-rank-0"} 2x40
  llm_d_epp_per_endpoint_queue_size{namespace="ai",pod="epp-2",name="pool",model_server_endpoint="llama-7d9-b-rank-1"} 4x40
  llm_d_epp_per_endpoint_queue_size{namespace="ai",pod="epp-x",name="llama-2",model_server_endpoint="llama-2-55-x-rank-0"} 9x40
  llm_d_epp_per_endpoint_queue_size{namespace="prod",pod="epp-1",name="pool",model_server_endpoint="llama-7d9-a-rank-0"} 9x40
`

const routed = `
  llm_d_epp_request_total{namespace="ai",pod="epp-1",model_name="m",fairness_id="a"} 0+30x40
  llm_d_epp_request_total{namespace="ai",pod="epp-2",model_name="m",fairness_id="a"} 0+15x40
  llm_d_epp_request_total{namespace="ai",pod="epp-x",model_name="m",fairness_id="a"} 0+900x40
  llm_d_epp_request_total{namespace="prod",pod="epp-1",model_name="m",fairness_id="a"} 0+900x40
`

const bands = `
  llm_d_epp_request_total{namespace="ai",pod="epp-1",model_name="m",priority="0"} 0+30x40
  llm_d_epp_request_total{namespace="ai",pod="epp-2",model_name="m",priority="-10"} 0+15x40
  llm_d_epp_request_total{namespace="ai",pod="epp-x",model_name="m",priority="-10"} 0+900x40
`

func gatewayScenarios() []scenario {
	return []scenario{
		{preset: "gateway/arrivals", want: "{} 4", load: pickers + routed + `
  llm_d_epp_flow_control_queue_size{namespace="ai",pod="epp-1",inference_pool="pool",fairness_id="a"} 0+15x40
`},
		{
			preset: "gateway/arrivals", trap: "the router reports old names alongside the new ones", want: "{} 3",
			load: pickers + routed + `
  inference_objective_request_total{namespace="ai",pod="epp-1",model_name="m"} 0+30x40
  inference_objective_request_total{namespace="ai",pod="epp-2",model_name="m"} 0+15x40
  inference_pool_per_pod_queue_size{namespace="ai",pod="epp-1",name="pool",model_server_pod="llama-7d9-a-rank-0"} 1x40
`,
		},
		{
			preset: "gateway/arrivals",
			trap:   "no pod is there: the pool of that name",
			kind:   "Deployment",
			name:   "asleep",
			want:   "{} 2",
			load: pickers + `
  inference_pool_ready_pods{namespace="ai",pod="epp-s",name="asleep"} 0x40
  inference_objective_request_total{namespace="ai",pod="epp-s",model_name="m"} 0+30x40
` + routed,
		},
		{
			preset: "gateway/arrivals", trap: "another workload's pool has the target's name", want: "{} 3",
			load: pickers + routed + `
  inference_pool_ready_pods{namespace="ai",pod="epp-x",name="llama"} 3x40
`,
		},
		{preset: "gateway/arrivals-interactive", want: "{} 2", load: pickers + bands},
		{
			preset: "gateway/arrivals-interactive",
			trap:   "no priorities: all are interactive",
			want:   "{} 3",
			load:   pickers + routed,
		},
		{preset: "gateway/arrivals-deferrable", want: "{} 1", load: pickers + bands},
		{
			preset: "gateway/arrivals-deferrable",
			trap:   "flow control holds work, and another pool's",
			want:   "{} 3",
			load: pickers + bands + `
  llm_d_epp_flow_control_queue_size{namespace="ai",pod="epp-1",inference_pool="pool",priority="-10"} 0+30x40
  llm_d_epp_flow_control_queue_size{namespace="ai",pod="epp-x",inference_pool="llama-2",priority="-10"} 0+30x40
`,
		},
		{preset: "gateway/inflight", want: "{} 12", load: pickers + `
  llm_d_epp_request_running{namespace="ai",pod="epp-1",model_name="m",priority="0"} 4x40
  llm_d_epp_request_running{namespace="ai",pod="epp-2",model_name="m",priority="0"} 5x40
  llm_d_epp_flow_control_queue_size{namespace="ai",pod="epp-2",inference_pool="pool"} 3x40
`},
		{preset: "gateway/inflight", trap: "a first release's names, another pool's picker", want: "{} 4", load: `
  inference_pool_per_pod_queue_size{namespace="ai",pod="epp-1",name="pool",model_server_pod="llama-7d9-a"} 1x40
  inference_pool_per_pod_queue_size{namespace="ai",pod="epp-x",name="more",model_server_pod="llama-2-55-x"} 1x40
  inference_model_running_requests{namespace="ai",pod="epp-1",model_name="m"} 4x40
  inference_model_running_requests{namespace="ai",pod="epp-x",model_name="m"} 40x40
`},
		{preset: "gateway/queue", want: "{} 7", load: pickers},
		{preset: "gateway/queue", trap: "both names of an endpoint's queue", want: "{} 3", load: `
  llm_d_epp_per_endpoint_queue_size{namespace="ai",pod="epp-1",name="pool",model_server_endpoint="llama-7d9-a-rank-0"} 3x40
  inference_pool_per_pod_queue_size{namespace="ai",pod="epp-1",name="pool",model_server_pod="llama-7d9-a-rank-0"} 3x40
`},
		// Half of three endpoints' caches.
		{preset: "gateway/kv-cache", want: "{} 1.5", load: pickers + `
  llm_d_epp_average_kv_cache_utilization{namespace="ai",pod="epp-1",name="pool"} 0.5x40
  llm_d_epp_ready_endpoints{namespace="ai",pod="epp-1",name="pool"} 3x40
`},
		{preset: "gateway/kv-cache", trap: "two pickers see one pool, by two names", want: "{} 1.5", load: pickers + `
  llm_d_epp_average_kv_cache_utilization{namespace="ai",pod="epp-1",name="pool"} 0.5x40
  llm_d_epp_ready_endpoints{namespace="ai",pod="epp-1",name="pool"} 3x40
  llm_d_epp_average_kv_cache_utilization{namespace="ai",pod="epp-2",name="pool"} 0.5x40
  llm_d_epp_ready_endpoints{namespace="ai",pod="epp-2",name="pool"} 3x40
  inference_pool_average_kv_cache_utilization{namespace="ai",pod="epp-2",name="pool"} 0.5x40
  inference_pool_ready_pods{namespace="ai",pod="epp-2",name="pool"} 3x40
  llm_d_epp_average_kv_cache_utilization{namespace="ai",pod="epp-x",name="llama-2"} 1x40
  llm_d_epp_ready_endpoints{namespace="ai",pod="epp-x",name="llama-2"} 9x40
`},
	}
}
