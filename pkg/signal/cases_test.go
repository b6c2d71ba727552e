package signal_test

const (
	// bothPods is kube-state-metrics for the two pods of Deployment llama.
	bothPods = `
  kube_pod_owner{namespace="ai",pod="llama-7d9-a",owner_kind="ReplicaSet",owner_name="llama-7d9"} 1x120
  kube_pod_owner{namespace="ai",pod="llama-7d9-b",owner_kind="ReplicaSet",owner_name="llama-7d9"} 1x120
  kube_replicaset_owner{namespace="ai",replicaset="llama-7d9",owner_kind="Deployment",owner_name="llama"} 1x120
  kube_pod_status_ready{namespace="ai",pod="llama-7d9-a",condition="true"} 1x120
  kube_pod_status_ready{namespace="ai",pod="llama-7d9-b",condition="true"} 1x120
`
	// port8000 and port8200 are two ports of one pod that one job reads.
	port8000 = `namespace="ai",pod="llama-7d9-a",instance="10.0.0.1:8000",job="kubernetes-pods",engine="0",model_name="m"`
	port8200 = `namespace="ai",pod="llama-7d9-a",instance="10.0.0.1:8200",job="kubernetes-pods",engine="0",model_name="m"`
	// stage0 and stage1 are the two pods of a group of LeaderWorkerSet big.
	stage0 = `namespace="ai",pod="big-0",instance="10.0.0.1:30000",engine_type="unified",model_name="m",tp_rank="0",pp_rank="0"`
	stage1 = `namespace="ai",pod="big-0-1",instance="10.0.0.2:30000",engine_type="unified",model_name="m",tp_rank="0",pp_rank="1"`
	gangs  = `
  kube_pod_owner{namespace="ai",pod="big-0",owner_kind="StatefulSet",owner_name="big"} 1x80
  kube_pod_owner{namespace="ai",pod="big-0-1",owner_kind="StatefulSet",owner_name="big-0"} 1x80
  kube_pod_owner{namespace="ai",pod="big-1",owner_kind="StatefulSet",owner_name="big"} 1x80
  kube_pod_owner{namespace="ai",pod="big-1-1",owner_kind="StatefulSet",owner_name="big-1"} 1x80
`
)

func fieldCases() []fieldCase {
	return []fieldCase{
		{
			name: "one engine at two ports, by its counters",
			load: `
  vllm:num_requests_running{` + port8000 + `} 10x40
  vllm:num_requests_waiting{` + port8000 + `} 3x40
  vllm:time_to_first_token_seconds_count{` + port8000 + `} 0+30x40
  vllm:num_requests_running{` + port8200 + `} 10x40
  vllm:num_requests_waiting{` + port8200 + `} 3x40
  vllm:time_to_first_token_seconds_count{` + port8200 + `} 0+30x40
`,
			want: []at{{"vllm/inflight", "", "{} 13"}, {"vllm/arrivals", "", "{} 2"}, {"vllm/queue", "", "{} 3"}},
		},
		{
			name: "one engine at two ports that are scraped one after the other, by the start of its process",
			load: `
  process_start_time_seconds{namespace="ai",pod="llama-7d9-a",instance="10.0.0.1:8000",job="kubernetes-pods"} 1.7e9x40
  process_start_time_seconds{namespace="ai",pod="llama-7d9-a",instance="10.0.0.1:8200",job="kubernetes-pods"} 1.7e9x40
  process_start_time_seconds{namespace="ai",pod="llama-7d9-a",instance="10.0.0.1:9100",job="kubernetes-pods"} 1.6e9x40
  vllm:num_requests_running{` + port8000 + `} 10x40
  vllm:num_requests_waiting{` + port8000 + `} 3x40
  vllm:time_to_first_token_seconds_count{` + port8000 + `} 0+30x40
  vllm:num_requests_running{` + port8200 + `} 10x40
  vllm:num_requests_waiting{` + port8200 + `} 3x40
  vllm:time_to_first_token_seconds_count{` + port8200 + `} 10+30x40
`,
			want: []at{{"vllm/inflight", "", "{} 13"}, {"vllm/arrivals", "", "{} 2"}},
		},
		{
			name: "two engines at two ports, which started at different times",
			load: `
  process_start_time_seconds{namespace="ai",pod="llama-7d9-a",instance="10.0.0.1:8000",job="kubernetes-pods"} 1.7e9x40
  process_start_time_seconds{namespace="ai",pod="llama-7d9-a",instance="10.0.0.1:8200",job="kubernetes-pods"} 1700000000.25x40
  vllm:num_requests_running{` + port8000 + `} 10x40
  vllm:num_requests_waiting{` + port8000 + `} 3x40
  vllm:time_to_first_token_seconds_count{` + port8000 + `} 0+30x40
  vllm:num_requests_running{` + port8200 + `} 10x40
  vllm:num_requests_waiting{` + port8200 + `} 3x40
  vllm:time_to_first_token_seconds_count{` + port8200 + `} 0+30x40
`,
			want: []at{{"vllm/inflight", "", "{} 26"}, {"vllm/arrivals", "", "{} 4"}},
		},
		{
			name: "two engines at two ports that have served as many requests, in other times, and two that have served none",
			load: `
  vllm:num_requests_running{` + port8000 + `} 10x40
  vllm:num_requests_waiting{` + port8000 + `} 3x40
  vllm:time_to_first_token_seconds_count{` + port8000 + `} 0+30x40
  vllm:time_to_first_token_seconds_sum{` + port8000 + `} 0+31x40
  vllm:num_requests_running{` + port8200 + `} 9x40
  vllm:num_requests_waiting{` + port8200 + `} 2x40
  vllm:time_to_first_token_seconds_count{` + port8200 + `} 0+30x40
  vllm:time_to_first_token_seconds_sum{` + port8200 + `} 0+33x40
  sglang:num_running_reqs{namespace="ai",pod="llama-7d9-b",instance="b:1",job="p",model_name="m"} 2x40
  sglang:num_queue_reqs{namespace="ai",pod="llama-7d9-b",instance="b:1",job="p",model_name="m"} 0x40
  sglang:time_to_first_token_seconds_count{namespace="ai",pod="llama-7d9-b",instance="b:1",job="p",model_name="m"} 0x40
  sglang:num_running_reqs{namespace="ai",pod="llama-7d9-b",instance="b:2",job="p",model_name="m"} 3x40
  sglang:num_queue_reqs{namespace="ai",pod="llama-7d9-b",instance="b:2",job="p",model_name="m"} 0x40
  sglang:time_to_first_token_seconds_count{namespace="ai",pod="llama-7d9-b",instance="b:2",job="p",model_name="m"} 0x40
`,
			want: []at{{"vllm/inflight", "", "{} 24"}, {"vllm/arrivals", "", "{} 4"}, {"sglang/inflight", "", "{} 5"}},
		},
		{
			name: "a port of an engine is no longer scraped: the other one counts whole",
			load: `
  vllm:num_requests_running{` + port8000 + `} 10x40
  vllm:num_requests_waiting{` + port8000 + `} 3x40
  vllm:time_to_first_token_seconds_count{` + port8000 + `} 0+30x40
  vllm:num_requests_running{` + port8200 + `} 10x18 stale
  vllm:num_requests_waiting{` + port8200 + `} 3x18 stale
  vllm:time_to_first_token_seconds_count{` + port8200 + `} 0+30x18 stale
`,
			want: []at{{"vllm/inflight", "5m", "{} 13"}, {"vllm/arrivals", "8m", "{} 2"}},
		},
		{
			name: "an SGLang engine of two pipeline stages over the two pods of a group, and one of data parallel ranks",
			gang: true,
			load: `
  sglang:num_running_reqs{` + stage0 + `} 10x40
  sglang:num_queue_reqs{` + stage0 + `} 2x40
  sglang:token_usage{` + stage0 + `} 0.5x40
  sglang:num_running_reqs{` + stage1 + `} 10x40
  sglang:num_queue_reqs{` + stage1 + `} 2x40
  sglang:token_usage{` + stage1 + `} 0.5x40
  sglang:time_to_first_token_seconds_count{namespace="ai",pod="big-0",instance="10.0.0.1:30000",model_name="m"} 0+30x40
`,
			want: []at{
				{"sglang/inflight", "", "{} 12"},
				{"sglang/queue", "", "{} 2"},
				{"sglang/kv-cache", "", "{} 0.5"},
				{"sglang/arrivals", "", "{} 2"},
			},
		},
		{
			name: "data parallel ranks over the pods of a group add up, and so do groups and engines of one rank",
			gang: true,
			load: `
  sglang:num_running_reqs{namespace="ai",pod="big-0",instance="a",dp_rank="0",tp_rank="0",pp_rank="0"} 10x40
  sglang:num_queue_reqs{namespace="ai",pod="big-0",instance="a",dp_rank="0",tp_rank="0",pp_rank="0"} 2x40
  sglang:num_running_reqs{namespace="ai",pod="big-0-1",instance="b",dp_rank="1",tp_rank="8",pp_rank="0"} 7x40
  sglang:num_queue_reqs{namespace="ai",pod="big-0-1",instance="b",dp_rank="1",tp_rank="8",pp_rank="0"} 1x40
  sglang:num_running_reqs{namespace="ai",pod="big-1",instance="c",tp_rank="0",pp_rank="0"} 5x40
  sglang:num_queue_reqs{namespace="ai",pod="big-1",instance="c",tp_rank="0",pp_rank="0"} 0x40
  sglang:num_running_reqs{namespace="ai",pod="big-1-1",instance="d",tp_rank="0",pp_rank="0"} 6x40
  sglang:num_queue_reqs{namespace="ai",pod="big-1-1",instance="d",tp_rank="0",pp_rank="0"} 0x40
`,
			want: []at{{"sglang/inflight", "", "{} 31"}, {"sglang/queue", "", "{} 3"}},
		},
		{
			name: "an SGLang prefill server whose requests wait to be transferred",
			load: `
  sglang:num_running_reqs{$A,engine_type="prefill",model_name="m",tp_rank="0",pp_rank="0"} 0x40
  sglang:num_queue_reqs{$A,engine_type="prefill",model_name="m",tp_rank="0",pp_rank="0"} 0x40
  sglang:num_prefill_bootstrap_queue_reqs{$A,engine_type="prefill",model_name="m",tp_rank="0",pp_rank="0"} 35x40
  sglang:num_prefill_inflight_queue_reqs{$A,engine_type="prefill",model_name="m",tp_rank="0",pp_rank="0"} 1x40
`,
			want: []at{{"sglang/inflight", "", "{} 36"}, {"sglang/queue", "", "{} 36"}},
		},
		{
			name: "an SGLang decode server, with ranks that report alike",
			load: `
  sglang:num_running_reqs{$A,engine_type="decode",model_name="m",tp_rank="0"} 4x40
  sglang:num_running_reqs{$A,engine_type="decode",model_name="m",tp_rank="1"} 4x40
  sglang:num_queue_reqs{$A,engine_type="decode",model_name="m",tp_rank="0"} 1x40
  sglang:num_queue_reqs{$A,engine_type="decode",model_name="m",tp_rank="1"} 1x40
  sglang:num_decode_prealloc_queue_reqs{$A,engine_type="decode",model_name="m",tp_rank="0"} 8x40
  sglang:num_decode_transfer_queue_reqs{$A,engine_type="decode",model_name="m",tp_rank="0"} 2x40
`,
			want: []at{{"sglang/inflight", "", "{} 15"}, {"sglang/queue", "", "{} 11"}},
		},
		{
			name: "dcgm-exporter 4.9.0 has new names",
			load: `
  DCGM_FI_DEV_GPU_UTIL_RATIO{$A,UUID="GPU-1",gpu="0"} 0.95x40
  DCGM_FI_DEV_GPU_UTIL_RATIO{$B,UUID="GPU-2",gpu="1"} 0.91x40
  DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO{$A,UUID="GPU-1",gpu="0"} 0.5x40
  DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO{$B,UUID="GPU-2",gpu="1"} 0.9x40
  DCGM_FI_PROF_DRAM_UTIL_RATIO{$A,UUID="GPU-1",gpu="0"} 0.25x40
  DCGM_FI_PROF_DRAM_UTIL_RATIO{$B,UUID="GPU-2",gpu="1"} 0.5x40
`,
			want: []at{{"dcgm/gpu-busy", "", "{} 1.4"}, {"dcgm/memory-bandwidth", "", "{} 0.75"}},
		},
		{
			name: "half of the exporters are upgraded, and one GPU has both names",
			load: `
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$A,UUID="GPU-1",gpu="0"} 0.5x40
  DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO{$A,UUID="GPU-1",gpu="0"} 0.5x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$A,UUID="GPU-3",gpu="1"} 0.25x40
  DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO{$B,UUID="GPU-2",gpu="1"} 0.9x40
  DCGM_FI_DEV_GPU_UTIL{$A,UUID="GPU-1",gpu="0"} 99x40
  DCGM_FI_DEV_GPU_UTIL_RATIO{$B,UUID="GPU-2",gpu="1"} 0.99x40
`,
			want: []at{{"dcgm/gpu-busy", "", "{} 1.65"}},
		},
		{
			name: "a GPU without profiling fields, by its utilization; a MIG instance has none",
			load: `
  DCGM_FI_DEV_GPU_UTIL{$A,UUID="GPU-1",gpu="0"} 95x40
  DCGM_FI_DEV_GPU_UTIL{$B,UUID="GPU-2",gpu="1"} 91x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$B,UUID="GPU-2",gpu="1"} 0.9x40
  DCGM_FI_DEV_GPU_UTIL{$B,UUID="GPU-3",gpu="2",GPU_I_ID="1"} 0x40
`,
			want: []at{{"dcgm/gpu-busy", "", "{} 1.85"}},
		},
		{
			name: "DCGM's blank values are no utilization",
			load: `
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$A,UUID="GPU-1",gpu="0"} 140737488355328x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$B,UUID="GPU-2",gpu="1"} 0.9x40
  DCGM_FI_PROF_DRAM_ACTIVE{$A,UUID="GPU-1",gpu="0"} 140737488355328x40
  DCGM_FI_PROF_DRAM_ACTIVE{$B,UUID="GPU-2",gpu="1"} 0.4x40
  DCGM_FI_DEV_GPU_UTIL{$A,UUID="GPU-1",gpu="0"} 9223372036854775794x40
  forewarm_gpu_pod_busy_ratio{$A,uuid="GPU-1"} 1e9x40
  forewarm_gpu_pod_busy_ratio{$B,uuid="GPU-2"} 0.5x40
`,
			want: []at{
				{"dcgm/gpu-busy", "", "{} 0.9"},
				{"dcgm/memory-bandwidth", "", "{} 0.4"},
				{"nvml/gpu-busy", "", "{} 0.5"},
			},
		},
		{
			name: "profiling is paused: utilization stands in for the blank value",
			load: `
  DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO{$A,UUID="GPU-1",gpu="0"} 140737488355328x40
  DCGM_FI_DEV_GPU_UTIL_RATIO{$A,UUID="GPU-1",gpu="0"} 0.75x40
`,
			want: []at{{"dcgm/gpu-busy", "", "{} 0.75"}},
		},
		{
			name: "vLLM under KServe's prefix and under Ray",
			load: `
  kserve_vllm:num_requests_running{$A,job="v",engine="0",model_name="m"} 10x40
  kserve_vllm:num_requests_waiting{$A,job="v",engine="0",model_name="m"} 3x40
  ray_vllm_num_requests_running{$B,model_name="m",engine="0",WorkerId="w1",ReplicaId="r1"} 10x40
  ray_vllm_num_requests_waiting{$B,model_name="m",engine="0",WorkerId="w1",ReplicaId="r1"} 3x40
  ray_serve_replica_num_ongoing_requests{$B,job="r",deployment="LLM",replica="r1"} 4x40
  ray_serve_router_num_queued_requests{$B,job="r",deployment="LLM"} 2x40
`,
			want: []at{
				{"vllm/inflight", "", "{} 26"},
				{"ray-serve/inflight", "", "{} 6"},
				{"ray-serve/queue", "", "{} 2"},
			},
		},
		{
			name: "KServe reads an engine by two monitors, Ray has both names of its gauges, NIM has none of the prefixes",
			load: `
  vllm:num_requests_running{$A,job="plain",engine="0",model_name="m"} 10x40
  vllm:num_requests_waiting{$A,job="plain",engine="0",model_name="m"} 3x40
  kserve_vllm:num_requests_running{$A,job="prefixed",engine="0",model_name="m",llm_isvc_name="x"} 10x40
  kserve_vllm:num_requests_waiting{$A,job="prefixed",engine="0",model_name="m",llm_isvc_name="x"} 3x40
  vllm:time_to_first_token_seconds_count{$A,job="plain",engine="0",model_name="m"} 0+30x40
  kserve_vllm:time_to_first_token_seconds_count{$A,job="prefixed",engine="0",model_name="m",llm_isvc_name="x"} 0+30x40
  num_requests_running{$B,model_name="m"} 4x40
  num_requests_waiting{$B,model_name="m"} 1x40
  time_to_first_token_seconds_count{$B,model_name="m"} 0+15x40
  gpu_cache_usage_perc{$B,model_name="m"} 0.25x40
  ray_serve_replica_num_ongoing_requests{$B,job="r",deployment="LLM",replica="r1"} 4x40
  ray_serve_replica_processing_queries{$B,job="r",deployment="LLM",replica="r1"} 4x40
`,
			want: []at{{"vllm/inflight", "", "{} 18"}, {"vllm/arrivals", "", "{} 3"}, {"vllm/kv-cache", "", "{} 0.25"}},
		},
		{
			name: "Triton's vLLM backend has two models in one server",
			load: `
  vllm:num_requests_running{$A,job="t",model="chat",version="1"} 8x40
  vllm:num_requests_waiting{$A,job="t",model="chat",version="1"} 2x40
  vllm:num_requests_running{$A,job="t",model="code",version="1"} 3x40
  vllm:num_requests_waiting{$A,job="t",model="code",version="1"} 1x40
  vllm:time_to_first_token_seconds_count{$A,job="t",model="chat",version="1"} 0+30x40
  vllm:time_to_first_token_seconds_count{$A,job="t",model="code",version="1"} 0+15x40
  vllm:gpu_cache_usage_perc{$A,job="t",model="chat",version="1"} 0.8x40
  vllm:gpu_cache_usage_perc{$A,job="t",model="code",version="1"} 0.2x40
`,
			want: []at{
				{
					"vllm/inflight",
					"",
					"{} 14",
				},
				{"vllm/arrivals", "", "{} 3"},
				{"vllm/queue", "", "{} 3"},
				{"vllm/kv-cache", "", "{} 0.5"},
			},
		},
		{
			name: "Triton's own durations say nothing of its vLLM backend",
			load: `
  nv_inference_pending_request_count{$A,job="t",model="chat",version="1"} 0x40
  nv_inference_request_duration_us{$A,job="t",model="chat",version="1"} 0+18000x40
  nv_inference_queue_duration_us{$A,job="t",model="chat",version="1"} 0+3000x40
  vllm:num_requests_running{$A,job="t",model="chat",version="1"} 8x40
  vllm:num_requests_waiting{$A,job="t",model="chat",version="1"} 2x40
`,
			want: []at{{"triton/inflight", "", "{} 10"}, {"triton/queue", "", "{} 2"}},
		},
		{
			name: "Triton's vLLM backend without gauges, by the time of requests that have ended; another model by Triton's count",
			load: `
  nv_inference_request_duration_us{$A,job="t",model="chat",version="1"} 0+18000x40
  nv_inference_queue_duration_us{$A,job="t",model="chat",version="1"} 0+3000x40
  vllm:e2e_request_latency_seconds_sum{$A,job="t",model="chat",version="1"} 0+150x40
  nv_inference_request_duration_us{$A,job="t",model="image",version="1",gpu_uuid="GPU-1"} 0+30000000x40
  nv_inference_queue_duration_us{$A,job="t",model="image",version="1",gpu_uuid="GPU-1"} 0x40
  nv_inference_request_duration_us{$A,job="t",model="image",version="1",gpu_uuid="GPU-2"} 0+15000000x40
  nv_inference_queue_duration_us{$A,job="t",model="image",version="1",gpu_uuid="GPU-2"} 0x40
`,
			want: []at{{"triton/inflight", "", "{} 13"}},
		},
		{
			name: "histograms kept as native ones with custom buckets",
			load: `
  vllm:time_to_first_token_seconds{$A,engine="0",model_name="m"} {{schema:-53 sum:5 count:30 custom_values:[1 5 10] buckets:[10 10 10]}}+{{schema:-53 sum:5 count:30 custom_values:[1 5 10] buckets:[10 10 10]}}x40
  vllm:request_queue_time_seconds{$A,engine="0",model_name="m"} {{schema:-53 sum:5 count:30 custom_values:[20 30 60] buckets:[10 5 10 5]}}+{{schema:-53 sum:5 count:30 custom_values:[20 30 60] buckets:[10 5 10 5]}}x40
  vllm:num_requests_waiting{$A,engine="0",model_name="m"} 0+15x40
  vllm:num_requests_running{$A,engine="0",model_name="m"} 4x40
  sglang:time_to_first_token_seconds{$A,model_name="m"} {{schema:-53 sum:5 count:30 custom_values:[1 5 10] buckets:[10 10 10]}}+{{schema:-53 sum:5 count:30 custom_values:[1 5 10] buckets:[10 10 10]}}x40
  sglang:num_queue_reqs{$A,model_name="m"} 0x40
`,
			// 30/15 first tokens, and a queue that grows by 15/15; 4 + 1 × 4/2.
			want: []at{{"vllm/arrivals", "", "{} 3"}, {"vllm/offered", "", "{} 6"}, {"sglang/arrivals", "", "{} 2"}},
		},
		{
			name: "an exporter names a pod that was deleted",
			load: `
  kube_pod_owner{namespace="ai",pod="llama-7d9-z",owner_kind="ReplicaSet",owner_name="llama-7d9"} 1x12 stale
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="gpu-operator",pod="dcgm-x",exported_namespace="ai",exported_pod="llama-7d9-a",UUID="GPU-1",gpu="0"} 0.5x120
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="gpu-operator",pod="dcgm-x",exported_namespace="ai",exported_pod="llama-7d9-b",UUID="GPU-2",gpu="1"} 0.9x120
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="gpu-operator",pod="dcgm-x",exported_namespace="ai",exported_pod="llama-7d9-z",UUID="GPU-3",gpu="2"} 0.7x120
`,
			want: []at{{"dcgm/gpu-busy", "8m,11m30s", "{} 2.1"}, {"dcgm/gpu-busy", "14m,25m", "{} 1.4"}},
		},
		{
			name: "a deleted pod while half of the exporters are upgraded",
			load: `
  kube_pod_owner{namespace="ai",pod="llama-7d9-z",owner_kind="ReplicaSet",owner_name="llama-7d9"} 1x12 stale
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="gpu-operator",pod="dcgm-x",exported_namespace="ai",exported_pod="llama-7d9-a",UUID="GPU-1",gpu="0"} 0.5x120
  DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO{namespace="gpu-operator",pod="dcgm-y",exported_namespace="ai",exported_pod="llama-7d9-b",UUID="GPU-2",gpu="1"} 0.9x120
  DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO{namespace="gpu-operator",pod="dcgm-y",exported_namespace="ai",exported_pod="llama-7d9-z",UUID="GPU-3",gpu="2"} 0.7x120
`,
			want: []at{{"dcgm/gpu-busy", "14m,25m", "{} 1.4"}},
		},
		{
			name: "a pod whose instance of kube-state-metrics is away is not known to be deleted",
			load: `
  kube_pod_owner{namespace="ai",pod="llama-7d9-z",owner_kind="ReplicaSet",owner_name="llama-7d9",instance="shard-1"} 1x12 stale
  tgi_queue_size{$A} 1x120
  tgi_queue_size{namespace="ai",pod="llama-7d9-z",instance="z"} 5x120
`,
			want: []at{{"tgi/queue", "8m", "{} 6"}, {"tgi/queue", "14m,25m", ""}},
		},
		{
			name: "a pod that kube-state-metrics has never known is not a deleted one",
			load: `
  tgi_queue_size{$A} 1x120
  tgi_queue_size{namespace="ai",pod="llama-7d9-z",instance="z"} 5x120
`,
			want: []at{{"tgi/queue", "8m,25m", ""}},
		},
		{
			name: "a scrape is missed at Prometheus' default interval",
			step: "1m",
			load: `
  vllm:time_to_first_token_seconds_count{$A,engine="0",model_name="m"} 0+120x5 _ 840+120x10
  vllm:num_requests_waiting{$A,engine="0",model_name="m"} 0x5 _ 0x10
  vllm:time_to_first_token_seconds_count{$B,engine="0",model_name="m"} 0+120x18
  vllm:num_requests_waiting{$B,engine="0",model_name="m"} 0x18
  tgi_request_count{$A} 0+120x5 _ 840+120x10
  tgi_request_count{$B} 0+120x18
`,
			want: []at{
				{"vllm/arrivals", "5m30s,6m30s,7m30s,8m30s", "{} 4"},
				{"tgi/arrivals", "5m30s,6m30s,7m30s,8m30s", "{} 4"},
			},
		},
		{
			name: "a scrape is missed at an interval of two minutes",
			step: "2m",
			load: `
  tgi_request_count{$A} 0+240x5 _ 1680+240x10
  tgi_request_count{$B} 0+240x18
  ray_serve_num_http_requests_total{$A,route="/"} 0+240x5 _ 1680+240x10
`,
			want: []at{
				{"tgi/arrivals", "10m30s,12m30s,15m,17m", "{} 4"},
				{"ray-serve/arrivals", "10m30s,12m30s,15m,17m", "{} 2"},
			},
		},
	}
}
