package signal_test

// waiting is a queue in each of the pods that ownerScenarios speak of.
const waiting = `
  tgi_queue_size{namespace="ai",pod="p-raw",instance="1"} 1x40
  tgi_queue_size{namespace="ai",pod="p-rev",instance="2"} 2x40
  tgi_queue_size{namespace="ai",pod="p-default",instance="3"} 4x40
  tgi_queue_size{namespace="ai",pod="p-transformer",instance="4"} 8x40
  tgi_queue_size{namespace="ai",pod="p-other",instance="5"} 16x40
  tgi_queue_size{namespace="ai",pod="p-web-1",instance="6"} 32x40
  tgi_queue_size{namespace="ai",pod="p-web-2",instance="7"} 64x40
  tgi_queue_size{namespace="ai",pod="bare",instance="8"} 128x40
`

// viaDeployments is pods of Deployments that KServe and Knative name.
const viaDeployments = waiting + `
  kube_pod_owner{namespace="ai",pod="p-raw",owner_kind="ReplicaSet",owner_name="r-raw"} 1x40
  kube_pod_owner{namespace="ai",pod="p-rev",owner_kind="ReplicaSet",owner_name="r-rev"} 1x40
  kube_pod_owner{namespace="ai",pod="p-default",owner_kind="ReplicaSet",owner_name="r-default"} 1x40
  kube_pod_owner{namespace="ai",pod="p-transformer",owner_kind="ReplicaSet",owner_name="r-transformer"} 1x40
  kube_pod_owner{namespace="ai",pod="p-other",owner_kind="ReplicaSet",owner_name="r-other"} 1x40
  kube_pod_owner{namespace="ai",pod="p-web-1",owner_kind="ReplicaSet",owner_name="r-web-1"} 1x40
  kube_pod_owner{namespace="ai",pod="p-web-2",owner_kind="ReplicaSet",owner_name="r-web-2"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="r-raw",owner_kind="Deployment",owner_name="m.v1-predictor"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="r-rev",owner_kind="Deployment",owner_name="m.v1-predictor-00002-deployment"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="r-default",owner_kind="Deployment",owner_name="m.v1-predictor-default"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="r-transformer",owner_kind="Deployment",owner_name="m.v1-transformer"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="r-other",owner_kind="Deployment",owner_name="mxv1-predictor"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="r-web-1",owner_kind="Deployment",owner_name="web-00001-deployment"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="r-web-2",owner_kind="Deployment",owner_name="web-two-00001-deployment"} 1x40
`

// byLLM is what KServe makes of LLMInferenceServices: big over several nodes, small on one, with what prefills for it apart.
const byLLM = `
  kube_pod_owner{namespace="ai",pod="big-kserve-mn-0",owner_kind="StatefulSet",owner_name="big-kserve-mn"} 1x40
  kube_pod_owner{namespace="ai",pod="big-kserve-mn-0-1",owner_kind="StatefulSet",owner_name="big-kserve-mn-0"} 1x40
  kube_pod_owner{namespace="ai",pod="small-kserve-a",owner_kind="ReplicaSet",owner_name="small-kserve-1"} 1x40
  kube_pod_owner{namespace="ai",pod="small-kserve-prefill-a",owner_kind="ReplicaSet",owner_name="small-kserve-prefill-1"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="small-kserve-1",owner_kind="Deployment",owner_name="small-kserve"} 1x40
  kube_replicaset_owner{namespace="ai",replicaset="small-kserve-prefill-1",owner_kind="Deployment",owner_name="small-kserve-prefill"} 1x40
  vllm:num_requests_waiting{namespace="ai",pod="big-kserve-mn-0",instance="1"} 1x40
  vllm:num_requests_waiting{namespace="ai",pod="big-kserve-mn-0-1",instance="2"} 2x40
  vllm:num_requests_waiting{namespace="ai",pod="small-kserve-a",instance="3"} 4x40
  vllm:num_requests_waiting{namespace="ai",pod="small-kserve-prefill-a",instance="4"} 8x40
`

// byGangs is GPUs of pods of several kinds. GPU-5 is split by MIG.
const byGangs = `
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-1",gpu="0",namespace="ai",pod="llama-7d9-a",container="vllm"} 0.5x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-5",gpu="4",GPU_I_ID="1",namespace="ai",pod="lws-0",container="c"} 0.25x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-5",gpu="4",GPU_I_ID="2",namespace="ai",pod="lws-0",container="c"} 0.5x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-6",gpu="5",namespace="ai",pod="lws-0-1",container="c"} 1x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-7",gpu="6",namespace="ai",pod="lws-7-0",container="c"} 1x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-8",gpu="7",namespace="ai",pod="roll-1-a",container="c"} 0.125x40
`

// ownerScenarios are how kinds own their pods; any preset serves to show it.
func ownerScenarios() []scenario {
	return []scenario{
		{
			preset: "tgi/queue", trap: "the predictor, not the transformer; a dot is a dot",
			kind: "InferenceService", name: "m.v1", want: "{} 7", load: viaDeployments,
		},
		{
			preset: "tgi/queue", trap: "revisions, not those of a name that begins alike", kind: "Service",
			name: "web", want: "{} 32", load: viaDeployments,
		},
		{
			preset: "vllm/queue", trap: "on one node, without what prefills apart",
			kind: "LLMInferenceService", name: "small", want: "{} 4", load: byLLM,
		},
		{
			preset: "vllm/queue", trap: "over several nodes",
			kind: "LLMInferenceService", name: "big", want: "{} 3", load: byLLM,
		},
		{
			preset: "dcgm/gpu-busy", trap: "a StatefulSet, without those of its pods", kind: "StatefulSet", name: "lws",
			want: "{} 0.75", load: byGangs,
		},
		{
			preset: "dcgm/gpu-busy",
			trap:   "the leaders of a gang, and their workers",
			kind:   "LeaderWorkerSet",
			name:   "lws",
			want:   "{} 1.75",
			load:   byGangs,
		},
		{
			preset: "dcgm/gpu-busy", trap: "a kind that no one knows owns ReplicaSets", kind: "Rollout", name: "roll",
			want: "{} 0.125", load: byGangs,
		},
		{
			preset: "dcgm/gpu-busy", trap: "a ReplicaSet by its name", kind: "ReplicaSet", name: "llama-7d9",
			want: "{} 0.5", load: byGangs,
		},
		{preset: "dcgm/gpu-busy", trap: "a name that is cut off", kind: "Deployment", name: "lama", load: byGangs},
		{
			preset: "tgi/queue", trap: "one revision", kind: "Revision", name: "m.v1-predictor-00002",
			want: "{} 2", load: viaDeployments,
		},
		{
			preset: "tgi/queue", trap: "a Deployment by its whole name", kind: "Deployment",
			name: "m.v1-predictor", want: "{} 1", load: viaDeployments,
		},
		{
			preset: "ray-serve/queue", trap: "a RayCluster by its whole name", kind: "RayCluster",
			name: "chat-x5k9v", want: "{} 3", load: rayOwners + `
  ray_serve_deployment_queued_queries{namespace="ai",pod="chat-head",instance="h"} 5x40
  ray_serve_deployment_queued_queries{namespace="ai",pod="chat-w2",instance="w"} 3x40
`,
		},
		{
			preset: "vllm/queue", trap: "a gang counts whole, an unrelated set of a like name does not",
			kind: "LeaderWorkerSet", name: "lws", want: "{} 7", load: `
  vllm:num_requests_waiting{namespace="ai",pod="lws-0",instance="1"} 1x40
  vllm:num_requests_waiting{namespace="ai",pod="lws-0-1",instance="2"} 2x40
  vllm:num_requests_waiting{namespace="ai",pod="lws-1",instance="3"} 4x40
  vllm:num_requests_waiting{namespace="ai",pod="lws-7-0",instance="4"} 8x40
`,
		},
		{
			preset: "dcgm/gpus-allocated",
			trap:   "a gang's GPUs are its pods' sum",
			kind:   "LeaderWorkerSet",
			name:   "lws",
			want:   "{} 16",
			load: request + `"nvidia_com_gpu",pod="lws-0",node="n1"} 8x40` + request +
				`"nvidia_com_gpu",pod="lws-0-1",node="n2"} 8x40
`,
		},
	}
}
