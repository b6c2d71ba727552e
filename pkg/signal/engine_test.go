package signal_test

// engineScenarios are those of the servers of one language model. Rates are read at five minutes, of samples at 15 s.
func engineScenarios() []scenario {
	return []scenario{
		{preset: "vllm/inflight", want: "{} 29", load: `
  vllm:num_requests_running{$A,engine="0",model_name="m"} 10x40
  vllm:num_requests_waiting{$A,engine="0",model_name="m"} 3x40
  vllm:num_requests_running{$B,engine="0",model_name="m"} 16x40
  vllm:num_requests_waiting{$B,engine="0",model_name="m"} 0x40
  vllm:num_requests_running{$X,engine="0",model_name="m"} 99x40
  vllm:num_requests_waiting{$X,engine="0",model_name="m"} 99x40
`},
		{preset: "vllm/inflight", trap: "a pod that reports half counts not at all", want: "{} 13", load: `
  vllm:num_requests_running{$A,engine="0",model_name="m"} 10x40
  vllm:num_requests_waiting{$A,engine="0",model_name="m"} 3x40
  vllm:num_requests_running{$B,engine="0",model_name="m"} 16x40
`},
		// 30/15 + 45/15, and a queue that grows by 15 in 15 s.
		{preset: "vllm/arrivals", want: "{} 6", load: `
  vllm:time_to_first_token_seconds_count{$A,engine="0",model_name="m"} 0+30x40
  vllm:num_requests_waiting{$A,engine="0",model_name="m"} 0+15x40
  vllm:time_to_first_token_seconds_count{$B,engine="0",model_name="m"} 0+45x40
  vllm:num_requests_waiting{$B,engine="0",model_name="m"} 4x40
`},
		{preset: "vllm/arrivals", trap: "a server that restarts counts from 0 again", want: "{} 2", load: `
  vllm:time_to_first_token_seconds_count{$A,engine="0",model_name="m"} 9000+30x17 30+30x22
  vllm:num_requests_waiting{$A,engine="0",model_name="m"} 0x40
`},
		// 16, and a queue that grows by 1/s of requests that take 16/2 s each; and 10.
		{preset: "vllm/offered", want: "{} 34", load: `
  vllm:time_to_first_token_seconds_count{$A,engine="0",model_name="m"} 0+30x40
  vllm:num_requests_running{$A,engine="0",model_name="m"} 16x40
  vllm:num_requests_waiting{$A,engine="0",model_name="m"} 0+15x40
  vllm:time_to_first_token_seconds_count{$B,engine="0",model_name="m"} 0+15x40
  vllm:num_requests_running{$B,engine="0",model_name="m"} 10x40
  vllm:num_requests_waiting{$B,engine="0",model_name="m"} 0x40
`},
		{preset: "vllm/offered", trap: "one empties its queue, another has answered nothing yet", want: "{} 15", load: `
  vllm:time_to_first_token_seconds_count{$A,engine="0",model_name="m"} 0+30x40
  vllm:num_requests_running{$A,engine="0",model_name="m"} 16x40
  vllm:num_requests_waiting{$A,engine="0",model_name="m"} 600-15x40
  vllm:time_to_first_token_seconds_count{$B,engine="0",model_name="m"} 0x40
  vllm:num_requests_running{$B,engine="0",model_name="m"} 4x40
  vllm:num_requests_waiting{$B,engine="0",model_name="m"} 3x40
`},
		{preset: "vllm/queue", want: "{} 6", load: `
  vllm:num_requests_waiting{$A,engine="0",model_name="m"} 3x40
  vllm:num_requests_waiting{$B,engine="0",model_name="m"} 1x40
  vllm:num_requests_waiting{$B,engine="1",model_name="m"} 2x40
`},
		{preset: "vllm/queue", trap: "a neighbour's name begins alike, a namesake is elsewhere", want: "{} 3", load: `
  vllm:num_requests_waiting{$A,engine="0",model_name="m"} 3x40
  vllm:num_requests_waiting{$X,engine="0",model_name="m"} 7x40
  vllm:num_requests_waiting{$P,engine="0",model_name="m"} 8x40
`},
		// Half a cache, and the mean of two engines' 0.7 and 0.8.
		{preset: "vllm/kv-cache", want: "{} 1.25", load: `
  vllm:kv_cache_usage_perc{$A,engine="0",model_name="m"} 0.5x40
  vllm:kv_cache_usage_perc{$B,engine="0",model_name="m"} 0.7x40
  vllm:kv_cache_usage_perc{$B,engine="1",model_name="m"} 0.8x40
`},
		{
			preset: "vllm/kv-cache", trap: "both names at once, and a pod that knows the old one only", want: "{} 0.75",
			load: `
  vllm:kv_cache_usage_perc{$A,engine="0",model_name="m"} 0.5x40
  vllm:gpu_cache_usage_perc{$A,model_name="m"} 0.5x40
  vllm:gpu_cache_usage_perc{$B,model_name="m"} 0.25x40
`,
		},
		{
			preset: "vllm/kv-cache", trap: "a gang of two pods is one replica", kind: "LeaderWorkerSet",
			name: "lws", want: "{} 1.25", load: `
  vllm:kv_cache_usage_perc{namespace="ai",pod="lws-0",instance="g0",engine="0"} 0.5x40
  vllm:kv_cache_usage_perc{namespace="ai",pod="lws-0-1",instance="g1",engine="1"} 1x40
  vllm:kv_cache_usage_perc{namespace="ai",pod="lws-1",instance="g2",engine="0"} 0.5x40
`,
		},
		{preset: "sglang/inflight", want: "{} 12", load: `
  sglang:num_running_reqs{$A,engine_type="unified",model_name="m",dp_rank="0"} 4x40
  sglang:num_running_reqs{$A,engine_type="unified",model_name="m",dp_rank="1"} 5x40
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m",dp_rank="0"} 3x40
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m",dp_rank="1"} 0x40
  sglang:num_running_reqs{$X,engine_type="unified",model_name="m",dp_rank="0"} 40x40
  sglang:num_queue_reqs{$X,engine_type="unified",model_name="m",dp_rank="0"} 40x40
`},
		{
			preset: "sglang/inflight",
			trap:   "the ranks of an engine report alike, classes stand next to the total", want: "{} 6", load: `
  sglang:num_running_reqs{$A,engine_type="unified",model_name="m",tp_rank="0",priority=""} 4x40
  sglang:num_running_reqs{$A,engine_type="unified",model_name="m",tp_rank="1",priority=""} 4x40
  sglang:num_running_reqs{$A,engine_type="unified",model_name="m",tp_rank="0",priority="7"} 4x40
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m",tp_rank="0",priority=""} 2x40
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m",tp_rank="1",priority=""} 2x40
`,
		},
		{preset: "sglang/arrivals", want: "{} 3", load: `
  sglang:time_to_first_token_seconds_count{$A,model_name="m"} 0+30x40
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m",tp_rank="0"} 0+15x40
`},
		{preset: "sglang/arrivals", trap: "labels of the user's own split the count", want: "{} 3", load: `
  sglang:time_to_first_token_seconds_count{$A,model_name="m",tenant="a"} 0+30x40
  sglang:time_to_first_token_seconds_count{$A,model_name="m",tenant="b"} 0+15x40
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m",tp_rank="0"} 5x40
`},
		// 9 of two engines, and a queue that grows by 1/s of requests that take 9/2 s each.
		{preset: "sglang/offered", want: "{} 13.5", load: `
  sglang:time_to_first_token_seconds_count{$A,model_name="m"} 0+30x40
  sglang:num_running_reqs{$A,engine_type="unified",model_name="m",dp_rank="0"} 4x40
  sglang:num_running_reqs{$A,engine_type="unified",model_name="m",dp_rank="1"} 5x40
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m",dp_rank="0"} 0+15x40
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m",dp_rank="1"} 2x40
`},
		{
			preset: "sglang/offered",
			trap:   "a server that started within the step has no queue before it",
			want:   "{} 7",
			load: `
  sglang:time_to_first_token_seconds_count{$A,model_name="m"} _x19 0+15x20
  sglang:num_running_reqs{$A,engine_type="unified",model_name="m"} _x19 4x20
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m"} _x19 3x20
`,
		},
		{preset: "sglang/queue", want: "{} 5", load: `
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m",tp_rank="0"} 3x40
  sglang:num_queue_reqs{$B,engine_type="unified",model_name="m",tp_rank="0"} 2x40
`},
		{preset: "sglang/queue", trap: "every rank of a tensor-parallel engine reports", want: "{} 3", load: `
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m",tp_rank="0",moe_ep_rank="0",pid="82"} 3x40
  sglang:num_queue_reqs{$A,engine_type="unified",model_name="m",tp_rank="1",moe_ep_rank="1",pid="83"} 3x40
`},
		{preset: "sglang/kv-cache", want: "{} 0.75", load: `
  sglang:token_usage{$A,engine_type="unified",model_name="m",tp_rank="0"} 0.5x40
  sglang:token_usage{$B,engine_type="unified",model_name="m",tp_rank="0"} 0.25x40
`},
		{
			preset: "sglang/kv-cache", trap: "two data-parallel engines of a pod are one replica's", want: "{} 0.5",
			load: `
  sglang:token_usage{$A,engine_type="unified",model_name="m",dp_rank="0",tp_rank="0"} 0.25x40
  sglang:token_usage{$A,engine_type="unified",model_name="m",dp_rank="1",tp_rank="1"} 0.75x40
`,
		},
		{preset: "trtllm/inflight", want: "{} 10", load: `
  trtllm_num_requests_running{$A,model_name="m",engine_type="trtllm"} 4x40
  trtllm_num_requests_waiting{$A,model_name="m",engine_type="trtllm"} 1x40
  trtllm_num_requests_running{$B,model_name="m",engine_type="trtllm"} 5x40
  trtllm_num_requests_waiting{$B,model_name="m",engine_type="trtllm"} 0x40
`},
		{preset: "trtllm/inflight", trap: "another namespace's namesake", want: "{} 4", load: `
  trtllm_num_requests_running{$A,model_name="m"} 4x40
  trtllm_num_requests_waiting{$A,model_name="m"} 0x40
  trtllm_num_requests_running{$P,model_name="m"} 50x40
  trtllm_num_requests_waiting{$P,model_name="m"} 50x40
`},
		// 30/15 done, and 15/15 + 15/15 more in flight.
		{preset: "trtllm/arrivals", want: "{} 4", load: `
  trtllm_request_success_total{$A,model_name="m",finished_reason="stop"} 0+30x40
  trtllm_num_requests_running{$A,model_name="m"} 0+15x40
  trtllm_num_requests_waiting{$A,model_name="m"} 0+15x40
`},
		{preset: "trtllm/arrivals", trap: "completions stand apart by their reason", want: "{} 3", load: `
  trtllm_request_success_total{$A,model_name="m",finished_reason="stop"} 0+30x40
  trtllm_request_success_total{$A,model_name="m",finished_reason="length"} 0+15x40
  trtllm_num_requests_running{$A,model_name="m"} 8x40
  trtllm_num_requests_waiting{$A,model_name="m"} 0x40
`},
		// 8, and a queue that grows by 1/s of requests that take 8/2 s each.
		{preset: "trtllm/offered", want: "{} 12", load: `
  trtllm_request_success_total{$A,model_name="m",finished_reason="stop"} 0+30x40
  trtllm_num_requests_running{$A,model_name="m"} 8x40
  trtllm_num_requests_waiting{$A,model_name="m"} 0+15x40
`},
		{
			preset: "trtllm/offered",
			trap:   "no queue at all, completions stand apart by their reason",
			want:   "{} 8",
			load: `
  trtllm_request_success_total{$A,model_name="m",finished_reason="stop"} 0+30x40
  trtllm_request_success_total{$A,model_name="m",finished_reason="length"} 0+15x40
  trtllm_num_requests_running{$A,model_name="m"} 8x40
  trtllm_num_requests_waiting{$A,model_name="m"} 0x40
`,
		},
		{preset: "trtllm/queue", want: "{} 3", load: `
  trtllm_num_requests_waiting{$A,model_name="m"} 1x40
  trtllm_num_requests_waiting{$B,model_name="m"} 2x40
`},
		{preset: "trtllm/queue", trap: "a neighbour's name begins alike", want: "{} 1", load: `
  trtllm_num_requests_waiting{$A,model_name="m"} 1x40
  trtllm_num_requests_waiting{$X,model_name="m"} 70x40
`},
		{preset: "trtllm/kv-cache", want: "{} 1.25", load: `
  trtllm_kv_cache_utilization{$A,model_name="m"} 0.5x40
  trtllm_kv_cache_utilization{$B,model_name="m"} 0.75x40
`},
		{preset: "trtllm/kv-cache", trap: "a pod in its second version of the labels", want: "{} 0.5", load: `
  trtllm_kv_cache_utilization{$A,model_name="m",engine_type="trtllm",version="1"} 0.5x40
  trtllm_kv_cache_utilization{$A,model_name="m",engine_type="trtllm",version="2"} 0.5x40
`},
	}
}
