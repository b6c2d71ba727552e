package signal_test

// serverScenarios are those of the servers of any model.
func serverScenarios() []scenario {
	return []scenario{
		{preset: "tgi/inflight", want: "{} 9", load: `
  tgi_batch_current_size{$A} 6x40
  tgi_queue_size{$A} 1x40
  tgi_batch_current_size{$B} 2x40
  tgi_queue_size{$B} 0x40
`},
		{
			preset: "tgi/inflight", trap: "a neighbour's name begins alike, a namesake is elsewhere", want: "{} 7",
			load: `
  tgi_batch_current_size{$A} 6x40
  tgi_queue_size{$A} 1x40
  tgi_batch_current_size{$X} 60x40
  tgi_queue_size{$X} 10x40
  tgi_batch_current_size{$P} 60x40
  tgi_queue_size{$P} 10x40
`,
		},
		{
			preset: "tgi/arrivals", want: "{} 5",
			load: "\n  tgi_request_count{$A} 0+30x40\n  tgi_request_count{$B} 0+45x40\n",
		},
		{
			preset: "tgi/arrivals", trap: "one server restarts", want: "{} 3",
			load: `
  tgi_request_count{$A} 700+30x17 30+30x22
  tgi_request_count{$B} 700+15x40
`,
		},
		{preset: "tgi/queue", want: "{} 4", load: "\n  tgi_queue_size{$A} 1x40\n  tgi_queue_size{$B} 3x40\n"},
		{preset: "tgi/queue", trap: "two shards of a pod at two ports", want: "{} 4", load: `
  tgi_queue_size{namespace="ai",pod="llama-7d9-a",instance="10.0.0.1:80"} 1x40
  tgi_queue_size{namespace="ai",pod="llama-7d9-a",instance="10.0.0.1:81"} 3x40
`},
		// 4 pending; 45 s less 15 s of executing in each 15 s are 2 at a time.
		{preset: "triton/inflight", want: "{} 6", load: `
  nv_inference_pending_request_count{$A,model="m",version="1"} 4x40
  nv_inference_request_duration_us{$A,model="m",version="1"} 0+45000000x40
  nv_inference_queue_duration_us{$A,model="m",version="1"} 0+15000000x40
`},
		{
			preset: "triton/inflight", trap: "the engine knows better, and reports its bounds too", want: "{} 9",
			load: `
  nv_inference_pending_request_count{$A,model="m",version="1"} 2x40
  nv_inference_request_duration_us{$A,model="m",version="1"} 0+45000000x40
  nv_inference_queue_duration_us{$A,model="m",version="1"} 0+15000000x40
  nv_trt_llm_request_metrics{$A,model="m",version="1",request_type="waiting"} 3x40
  nv_trt_llm_request_metrics{$A,model="m",version="1",request_type="scheduled"} 4x40
  nv_trt_llm_request_metrics{$A,model="m",version="1",request_type="active"} 7x40
  nv_trt_llm_request_metrics{$A,model="m",version="1",request_type="max"} 512x40
`,
		},
		// 30/15 well, 15/15 badly, 15/15 more pending.
		{preset: "triton/arrivals", want: "{} 4", load: `
  nv_inference_request_success{$A,model="m",version="1"} 0+30x40
  nv_inference_request_failure{$A,model="m",version="1",reason="OTHER"} 0+15x40
  nv_inference_pending_request_count{$A,model="m",version="1"} 0+15x40
`},
		{
			preset: "triton/arrivals", trap: "an older release reports nothing pending, and restarts", want: "{} 2",
			load: `
  nv_inference_request_success{$A,model="m",version="1"} 9000+30x17 30+30x22
`,
		},
		{preset: "triton/queue", want: "{} 7", load: `
  nv_inference_pending_request_count{$A,model="m",version="1"} 4x40
  nv_inference_pending_request_count{$A,model="n",version="1"} 3x40
`},
		{preset: "triton/queue", trap: "what waits in the engine is pending no more", want: "{} 5", load: `
  nv_inference_pending_request_count{$A,model="m",version="1"} 2x40
  nv_trt_llm_request_metrics{$A,model="m",version="1",request_type="waiting"} 3x40
  nv_trt_llm_request_metrics{$A,model="m",version="1",request_type="max"} 512x40
`},
		{preset: "triton/kv-cache", want: "{} 0.75", load: `
  nv_trt_llm_kv_cache_block_metrics{$A,model="m",version="1",kv_cache_block_type="fraction"} 0.5x40
  nv_trt_llm_kv_cache_block_metrics{$B,model="m",version="1",kv_cache_block_type="fraction"} 0.25x40
`},
		{preset: "triton/kv-cache", trap: "blocks are no fraction", want: "{} 0.5", load: `
  nv_trt_llm_kv_cache_block_metrics{$A,model="m",version="1",kv_cache_block_type="fraction"} 0.5x40
  nv_trt_llm_kv_cache_block_metrics{$A,model="m",version="1",kv_cache_block_type="used"} 400x40
  nv_trt_llm_kv_cache_block_metrics{$A,model="m",version="1",kv_cache_block_type="max"} 800x40
`},
		{preset: "ray-serve/inflight", want: "{} 9", load: `
  ray_serve_replica_processing_queries{$A,application="app",deployment="LLM",replica="r1",WorkerId="1"} 4x40
  ray_serve_replica_processing_queries{$B,application="app",deployment="LLM",replica="r2",WorkerId="2"} 3x40
  ray_serve_deployment_queued_queries{$B,application="app",deployment="LLM",WorkerId="9"} 2x40
`},
		{
			preset: "ray-serve/inflight", trap: "the head queues and runs nothing, a RayCluster is replaced",
			kind: "RayService", name: "chat", want: "{} 12", load: rayOwners + `
  ray_serve_deployment_queued_queries{namespace="ai",pod="chat-head",instance="h",deployment="LLM",WorkerId="9"} 5x40
  ray_serve_replica_processing_queries{namespace="ai",pod="chat-w1",instance="w1",deployment="LLM",replica="r1"} 4x40
  ray_serve_replica_processing_queries{namespace="ai",pod="chat-w2",instance="w2",deployment="LLM",replica="r2"} 3x40
  ray_serve_replica_processing_queries{namespace="ai",pod="other-w",instance="o",deployment="LLM",replica="r2"} 70x40
`,
		},
		// 30/15 answered, 15/15 more in service, 15/15 more queued.
		{preset: "ray-serve/arrivals", want: "{} 4", load: `
  ray_serve_num_http_requests_total{$A,route="/",method="POST",status_code="200"} 0+30x40
  ray_serve_replica_processing_queries{$A,deployment="LLM",replica="r1"} 0+15x40
  ray_serve_deployment_queued_queries{$B,deployment="LLM",WorkerId="9"} 0+15x40
`},
		{
			preset: "ray-serve/arrivals", trap: "both names of the count, apart by route and answer", want: "{} 3",
			load: `
  ray_serve_num_http_requests_total{$A,route="/",method="POST",status_code="200"} 0+30x40
  ray_serve_num_http_requests_total{$A,route="/",method="POST",status_code="500"} 0+15x40
  ray_serve_num_http_requests{$A,route="/",method="POST"} 0+45x40
`,
		},
		{preset: "ray-serve/queue", want: "{} 3", load: `
  ray_serve_deployment_queued_queries{$A,deployment="LLM",WorkerId="1"} 1x40
  ray_serve_deployment_queued_queries{$A,deployment="LLM",WorkerId="2"} 2x40
`},
		{
			preset: "ray-serve/queue", trap: "another RayService's name begins alike",
			kind: "RayService", name: "chat", want: "{} 5", load: rayOwners + `
  ray_serve_deployment_queued_queries{namespace="ai",pod="chat-head",instance="h",deployment="LLM",WorkerId="9"} 5x40
  ray_serve_deployment_queued_queries{namespace="ai",pod="other-w",instance="o",deployment="LLM",WorkerId="9"} 50x40
`,
		},
		{preset: "lmdeploy/inflight", want: "{} 11", load: `
  lmdeploy:num_requests_running{$A,model_name="m",engine="0"} 6x40
  lmdeploy:num_requests_waiting{$A,model_name="m",engine="0"} 1x40
  lmdeploy:num_api_requests_waiting{$A,model_name="m",engine="0"} 2x40
  lmdeploy:num_requests_running{$B,model_name="m",engine="0"} 2x40
  lmdeploy:num_requests_waiting{$B,model_name="m",engine="0"} 0x40
`},
		{preset: "lmdeploy/inflight", trap: "two data-parallel engines of a pod add up", want: "{} 9", load: `
  lmdeploy:num_requests_running{$A,model_name="m",engine="0"} 4x40
  lmdeploy:num_requests_running{$A,model_name="m",engine="1"} 5x40
  lmdeploy:num_requests_waiting{$A,model_name="m",engine="0"} 0x40
  lmdeploy:num_requests_waiting{$A,model_name="m",engine="1"} 0x40
`},
		{preset: "lmdeploy/queue", want: "{} 3", load: `
  lmdeploy:num_requests_waiting{$A,model_name="m",engine="0"} 1x40
  lmdeploy:num_api_requests_waiting{$B,model_name="m",engine="0"} 2x40
`},
		{preset: "lmdeploy/queue", trap: "a neighbor's name begins alike", want: "{} 1", load: `
  lmdeploy:num_requests_waiting{$A,model_name="m",engine="0"} 1x40
  lmdeploy:num_requests_waiting{$X,model_name="m",engine="0"} 70x40
`},
		{preset: "lmdeploy/arrivals", want: "{} 3", load: `
  lmdeploy:time_to_first_token_seconds_count{$A,model_name="m",engine="0"} 0+30x40
  lmdeploy:num_requests_waiting{$A,model_name="m",engine="0"} 0+15x40
`},
		{preset: "lmdeploy/arrivals", trap: "a server that restarts counts from 0 again", want: "{} 2", load: `
  lmdeploy:time_to_first_token_seconds_count{$A,model_name="m",engine="0"} 9000+30x17 30+30x22
  lmdeploy:num_requests_waiting{$A,model_name="m",engine="0"} 0x40
`},
		// 8, and a queue that grows by 1/s of requests that take 8/2 s each.
		{preset: "lmdeploy/offered", want: "{} 12", load: `
  lmdeploy:time_to_first_token_seconds_count{$A,model_name="m",engine="0"} 0+30x40
  lmdeploy:num_requests_running{$A,model_name="m",engine="0"} 8x40
  lmdeploy:num_requests_waiting{$A,model_name="m",engine="0"} 0+15x40
`},
		{preset: "lmdeploy/offered", trap: "no queue at all", want: "{} 8", load: `
  lmdeploy:time_to_first_token_seconds_count{$A,model_name="m",engine="0"} 0+30x40
  lmdeploy:num_requests_running{$A,model_name="m",engine="0"} 8x40
  lmdeploy:num_requests_waiting{$A,model_name="m",engine="0"} 0x40
`},
		{preset: "lmdeploy/kv-cache", want: "{} 0.75", load: `
  lmdeploy:gpu_cache_usage_perc{$A,model_name="m",engine="0"} 0.5x40
  lmdeploy:gpu_cache_usage_perc{$B,model_name="m",engine="0"} 0.25x40
`},
		{preset: "lmdeploy/kv-cache", trap: "two engines of a pod are one replica's", want: "{} 0.5", load: `
  lmdeploy:gpu_cache_usage_perc{$A,model_name="m",engine="0"} 0.25x40
  lmdeploy:gpu_cache_usage_perc{$A,model_name="m",engine="1"} 0.75x40
`},
		{preset: "llamacpp/inflight", want: "{} 7", load: `
  llamacpp:requests_processing{$A} 4x40
  llamacpp:requests_deferred{$A} 1x40
  llamacpp:requests_processing{$B} 2x40
  llamacpp:requests_deferred{$B} 0x40
`},
		{preset: "llamacpp/inflight", trap: "a pod that reports half does not count", want: "{} 5", load: `
  llamacpp:requests_processing{$A} 4x40
  llamacpp:requests_deferred{$A} 1x40
  llamacpp:requests_processing{$B} 2x40
`},
		{
			preset: "llamacpp/queue",
			want:   "{} 3",
			load:   "\n  llamacpp:requests_deferred{$A} 1x40\n  llamacpp:requests_deferred{$B} 2x40\n",
		},
		{preset: "llamacpp/queue", trap: "a neighbor's name begins alike", want: "{} 1", load: `
  llamacpp:requests_deferred{$A} 1x40
  llamacpp:requests_deferred{$X} 9x40
`},
		{preset: "dynamo/inflight", want: "{} 9", load: dynamoOwners + `
  dynamo_frontend_active_requests{namespace="ai",pod="llama-frontend-a",model="m"} 4x40
  dynamo_frontend_active_requests{namespace="ai",pod="llama-frontend-a",model="n"} 2x40
  dynamo_frontend_active_requests{namespace="ai",pod="llama-frontend-b",model="m"} 3x40
`},
		{
			preset: "dynamo/inflight",
			trap:   "both names of the gauge, those that wait are among them, and another graph's frontend",
			kind:   "Deployment",
			name:   "llama-vllmdecodeworker",
			want:   "{} 4",
			load: dynamoOwners + `
  dynamo_frontend_active_requests{namespace="ai",pod="llama-frontend-a",model="m"} 4x40
  dynamo_frontend_inflight_requests{namespace="ai",pod="llama-frontend-a",model="m"} 4x40
  dynamo_frontend_queued_requests{namespace="ai",pod="llama-frontend-a",model="m"} 3x40
  dynamo_frontend_active_requests{namespace="ai",pod="other-frontend-a",model="m"} 70x40
`,
		},
		{preset: "dynamo/arrivals", want: "{} 3", load: dynamoOwners + `
  dynamo_frontend_requests_started_total{namespace="ai",pod="llama-frontend-a",model="m",endpoint="chat",request_type="stream"} 0+30x40
  dynamo_frontend_requests_started_total{namespace="ai",pod="llama-frontend-b",model="m",endpoint="chat",request_type="unary"} 0+15x40
  dynamo_frontend_requests_total{namespace="ai",pod="llama-frontend-b",model="m",endpoint="chat",request_type="unary",status="success"} 0+15x40
`},
		{
			preset: "dynamo/arrivals",
			trap:   "an older release counts requests at their end",
			want:   "{} 3",
			load: dynamoOwners + `
  dynamo_frontend_requests_total{namespace="ai",pod="llama-frontend-a",model="m",endpoint="chat",status="success"} 0+30x40
  dynamo_frontend_inflight_requests{namespace="ai",pod="llama-frontend-a",model="m"} 0+15x40
`,
		},
		{preset: "dynamo/queue", want: "{} 3", load: dynamoOwners + `
  dynamo_frontend_queued_requests{namespace="ai",pod="llama-frontend-a",model="m"} 3x40
`},
		{
			preset: "dynamo/queue",
			trap:   "the graph by its own name",
			kind:   "DynamoGraphDeployment",
			name:   "llama",
			want:   "{} 5",
			load: dynamoOwners + `
  dynamo_frontend_queued_requests{namespace="ai",pod="llama-frontend-a",model="m"} 3x40
  dynamo_frontend_queued_requests{namespace="ai",pod="llama-frontend-b",model="m"} 2x40
`,
		},
		{preset: "kserve/inflight", want: "{} 7", load: `
  kn_serving_queue_depth{$A,kn_revision_name="llama-predictor-00001"} 4x40
  kn_serving_queue_depth{$B,kn_revision_name="llama-predictor-00001"} 3x40
`},
		{
			preset: "kserve/inflight", trap: "a revision of each age of the queue-proxy, one with two names",
			want: "{} 9", load: `
  kn_queueproxy_depth{$A} 4x40
  revision_queue_depth{$B,revision_name="r"} 5x40
  queue_average_concurrent_requests{$B,destination_revision="r"} 5x40
`,
		},
		// 30/15 answered, 15/15 more in flight.
		{preset: "kserve/arrivals", want: "{} 3", load: `
  kn_serving_invocation_duration_seconds_count{$A,http_response_status_code="200"} 0+30x40
  kn_serving_queue_depth{$A} 0+15x40
`},
		{
			preset: "kserve/arrivals",
			trap:   "the server counts what its queue-proxy counted, answers stand apart by code", want: "{} 4",
			load: `
  revision_request_count{$A,response_code="200"} 0+30x40
  revision_request_count{$A,response_code="429"} 0+15x40
  request_predict_seconds_count{$A,model_name="m"} 0+30x40
  request_predict_seconds_count{$B,model_name="m"} 0+15x40
`,
		},
	}
}

// rayOwners is a RayService that replaces its cluster, and a neighbour whose name begins alike.
const rayOwners = `
  kube_pod_owner{namespace="ai",pod="chat-head",owner_kind="RayCluster",owner_name="chat-raycluster-7ct2d"} 1x40
  kube_pod_owner{namespace="ai",pod="chat-w1",owner_kind="RayCluster",owner_name="chat-raycluster-7ct2d"} 1x40
  kube_pod_owner{namespace="ai",pod="chat-w2",owner_kind="RayCluster",owner_name="chat-x5k9v"} 1x40
  kube_pod_owner{namespace="ai",pod="other-w",owner_kind="RayCluster",owner_name="chat-large-raycluster-7ct2d"} 1x40
`

// dynamoOwners is the frontends of two graphs.
const dynamoOwners = `
  kube_pod_owner{namespace="ai",pod="llama-frontend-a",owner_kind="ReplicaSet",owner_name="llama-frontend-1"} 1x40
  kube_pod_owner{namespace="ai",pod="llama-frontend-b",owner_kind="ReplicaSet",owner_name="llama-frontend-1"} 1x40
  kube_pod_owner{namespace="ai",pod="other-frontend-a",owner_kind="ReplicaSet",owner_name="other-frontend-1"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="llama-frontend-1",owner_kind="Deployment",owner_name="llama-frontend"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="other-frontend-1",owner_kind="Deployment",owner_name="other-frontend"} 1x40
`
