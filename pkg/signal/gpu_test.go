package signal_test

// nodes are what kube-state-metrics says of nodes where it exports the label of NVIDIA's feature discovery.
const nodes = `
  kube_node_labels{namespace="kube-system",node="sliced",label_nvidia_com_gpu_replicas="4"} 1x40
  kube_node_labels{namespace="kube-system",node="mps",label_nvidia_com_gpu_replicas="10"} 1x40
  kube_node_labels{namespace="kube-system",node="whole",label_nvidia_com_gpu_replicas="1"} 1x40
  kube_node_labels{namespace="kube-system",node="odd",label_nvidia_com_gpu_replicas="37"} 1x40
  kube_node_labels{namespace="kube-system",node="silent"} 1x40
`

const (
	request = `
  kube_pod_container_resource_requests{namespace="ai",container="c",resource=`
	allocated = `
  forewarm_gpu_pod_allocated_ratio{`
)

func gpuScenarios() []scenario {
	return []scenario{
		{preset: "dcgm/gpu-busy", want: "{} 1.4", load: `
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$A,UUID="GPU-1",gpu="0"} 0.5x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$B,UUID="GPU-2",gpu="1"} 0.9x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$X,UUID="GPU-3",gpu="2"} 1x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$P,UUID="GPU-4",gpu="3"} 1x40
`},
		{preset: "dcgm/gpu-busy", trap: "an idle GPU carries the exporter's own pod", want: "{} 0.5", load: `
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$A,UUID="GPU-1",gpu="0"} 0.5x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="gpu-operator",pod="dcgm-x",UUID="GPU-3",gpu="2"} 0.3x40
`},
		{
			preset: "dcgm/gpu-busy", trap: "virtual GPUs: the device's series, and a copy for each pod", want: "{} 0.8",
			load: `
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="gpu-operator",pod="dcgm-x",UUID="GPU-9",gpu="0"} 0.8x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$A,UUID="GPU-9",gpu="0",pod_uid="u1",vgpu="0"} 0.8x40
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$B,UUID="GPU-9",gpu="0",pod_uid="u2",vgpu="1"} 0.8x40
`,
		},
		{
			preset: "dcgm/gpu-busy", trap: "the exporter restarted: its new pod reports alongside the old one",
			want: "{} 0.6", load: `
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$A,hostname="dcgm-old",UUID="GPU-1",gpu="0"} 0.5x18
  DCGM_FI_PROF_GR_ENGINE_ACTIVE{$A,hostname="dcgm-new",UUID="GPU-1",gpu="0"} _x17 0.6x22
`,
		},
		{preset: "dcgm/memory-bandwidth", want: "{} 0.75", load: `
  DCGM_FI_PROF_DRAM_ACTIVE{$A,UUID="GPU-1",gpu="0"} 0.5x40
  DCGM_FI_PROF_DRAM_ACTIVE{$B,UUID="GPU-2",gpu="1"} 0.25x40
  DCGM_FI_PROF_DRAM_ACTIVE{$X,UUID="GPU-3",gpu="2"} 1x40
`},
		{
			preset: "dcgm/memory-bandwidth", trap: "MIG: two instances of one GPU, and the GPU itself", want: "{} 0.75",
			load: `
  DCGM_FI_PROF_DRAM_ACTIVE{$A,UUID="GPU-1",gpu="0",GPU_I_ID="1",GPU_I_PROFILE="1g.10gb"} 0.5x40
  DCGM_FI_PROF_DRAM_ACTIVE{$B,UUID="GPU-1",gpu="0",GPU_I_ID="2",GPU_I_PROFILE="1g.10gb"} 0.25x40
  DCGM_FI_PROF_DRAM_ACTIVE{namespace="gpu-operator",pod="dcgm-x",UUID="GPU-1",gpu="0"} 0.1x40
`,
		},
		{
			preset: "dcgm/gpus-allocated", want: "{} 10",
			load: request + `"nvidia_com_gpu",pod="llama-7d9-a",node="n1"} 8x40` + request +
				`"nvidia_com_gpu",pod="llama-7d9-b",node="n2"} 2x40` + request +
				`"cpu",pod="llama-7d9-b",node="n2"} 64x40` + request +
				`"nvidia_com_gpu",pod="llama-2-55-x",node="n1"} 4x40
`,
		},
		{
			// 3/7 + 1/7 of an H100, 2/4 of an A30: 1/14 less than one and a seventh.
			preset: "dcgm/gpus-allocated", trap: "MIG instances are shares of a GPU", want: "{} 1.0714285714285714",
			load: request + `"nvidia_com_mig_3g_40gb",pod="llama-7d9-a",node="n1"} 1x40` + request +
				`"nvidia_com_mig_1g_10gb_me",pod="llama-7d9-a",node="n1"} 1x40` + request +
				`"nvidia_com_mig_2g_12gb",pod="llama-7d9-b",node="n2"} 1x40
`,
		},
		{
			preset: "dcgm/gpus-allocated", trap: "a pod that waits for a node, and one that has ended", want: "{} 1",
			load: request + `"nvidia_com_gpu",pod="llama-7d9-a",node="n1"} 1x40` + request +
				`"nvidia_com_gpu",pod="llama-7d9-b",node=""} 8x40` + request +
				`"nvidia_com_gpu",pod="llama-old-c",node="n1"} 8x40
  kube_pod_status_phase{namespace="ai",pod="llama-old-c",phase="Failed"} 1x40
  kube_pod_status_phase{namespace="ai",pod="llama-7d9-a",phase="Failed"} 0x40
`,
		},
		{
			// 2/4 under time-slicing, 1/10 under MPS, and 1 of a node that says that its GPUs are not shared.
			preset: "dcgm/gpus-allocated", trap: "devices that share a GPU are parts of it", want: "{} 1.6",
			load: nodes + request + `"nvidia_com_gpu",pod="llama-7d9-a",node="sliced"} 2x40` + request +
				`"nvidia_com_gpu_shared",pod="llama-7d9-b",node="mps"} 1x40` + request +
				`"nvidia_com_gpu",pod="llama-old-c",node="whole"} 1x40` + request +
				`"nvidia_com_gpu_shared",pod="llama-2-55-x",node="silent"} 9x40
`,
		},
		{
			preset: "dcgm/gpus-allocated", trap: "a pod made again on another node, of which one replica knows nothing",
			kind: "StatefulSet", name: "db", want: "{} 2",
			load: request + `"nvidia_com_gpu",pod="db-0",node="n1",uid="old"} 2x40` + request +
				`"nvidia_com_gpu",pod="db-0",node="n2",uid="new"} 2x40
`,
		},
		{
			preset: "dcgm/gpus-allocated", trap: "a node that says nothing has whole GPUs", want: "{} 2.5",
			load: nodes + request + `"nvidia_com_gpu",pod="llama-7d9-a",node="sliced"} 2x40` + request +
				`"nvidia_com_gpu",pod="llama-7d9-b",node="silent"} 2x40
`,
		},
		{
			preset: "dcgm/gpus-allocated", trap: "no total where the part of a GPU is not known",
			load: nodes + request + `"nvidia_com_gpu",pod="llama-7d9-a",node="sliced"} 2x40` + request +
				`"nvidia_com_gpu_shared",pod="llama-7d9-b",node="silent"} 1x40
`,
		},
		{
			preset: "dcgm/gpus-allocated", trap: "no total where so many replicas were not thought of",
			load: nodes + request + `"nvidia_com_gpu",pod="llama-7d9-a",node="odd"} 2x40
`,
		},
		{
			// 8 × 0.1 and 2 × 0.5 by HAMi, 1 of a pod without parts.
			preset: "dcgm/gpus-allocated", trap: "HAMi: as many parts of GPUs as nvidia.com/gpu", want: "{} 2.8",
			load: request + `"nvidia_com_gpu",pod="llama-7d9-a",node="n1"} 8x40` + request +
				`"nvidia_com_gpucores",pod="llama-7d9-a",node="n1"} 10x40` + request +
				`"nvidia_com_gpu",pod="llama-7d9-b",node="n1"} 2x40` + request +
				`"nvidia_com_gpucores",pod="llama-7d9-b",node="n1"} 30x40` + request +
				`"nvidia_com_gpumem_percentage",pod="llama-7d9-b",node="n1"} 50x40` + request +
				`"nvidia_com_gpu",pod="llama-old-c",node="n2"} 1x40
`,
		},
		{
			preset: "dcgm/gpus-allocated", trap: "HAMi: no total of memory in MiB, and 7800 of them are no GPUs",
			load: request + `"nvidia_com_gpu",pod="llama-7d9-a",node="n1"} 1x40` + request +
				`"nvidia_com_gpucores",pod="llama-7d9-a",node="n1"} 10x40` + request +
				`"nvidia_com_gpumem",pod="llama-7d9-a",node="n1"} 7800x40` + request +
				`"nvidia_com_gpu",pod="llama-old-c",node="n2"} 1x40
`,
		},
		{
			preset: "dcgm/gpus-allocated", trap: "vCUDA: hundredths, and blocks that are no GPUs", want: "{} 2.3",
			load: request + `"tencent_com_vcuda_core",pod="llama-7d9-a",node="n1"} 200x40` + request +
				`"tencent_com_vcuda_core",pod="llama-7d9-b",node="n1"} 30x40` + request +
				`"tencent_com_vcuda_memory",pod="llama-7d9-b",node="n1"} 96x40
`,
		},
		{preset: "nvml/gpu-busy", want: "{} 1.2", load: `
  forewarm_gpu_pod_busy_ratio{$A,uuid="GPU-1"} 0.9x40
  forewarm_gpu_pod_busy_ratio{$B,uuid="GPU-2"} 0.3x40
  forewarm_gpu_pod_busy_ratio{$P,uuid="GPU-3"} 1x40
`},
		{preset: "nvml/gpu-busy", trap: "pods that share a GPU each have a part of it", want: "{} 0.75", load: `
  forewarm_gpu_pod_busy_ratio{$A,container="main",uuid="GPU-1"} 0.25x40
  forewarm_gpu_pod_busy_ratio{$A,container="side",uuid="GPU-1"} 0.125x40
  forewarm_gpu_pod_busy_ratio{$B,container="main",uuid="GPU-1"} 0.375x40
  forewarm_gpu_pod_busy_ratio{$X,container="main",uuid="GPU-1"} 0.125x40
`},
		{preset: "nvml/memory-bandwidth", want: "{} 0.75", load: `
  forewarm_gpu_pod_memory_bandwidth_ratio{$A,uuid="GPU-1"} 0.5x40
  forewarm_gpu_pod_memory_bandwidth_ratio{$B,uuid="GPU-2"} 0.25x40
`},
		{preset: "nvml/memory-bandwidth", trap: "MIG: two instances of one GPU in one pod", want: "{} 0.375", load: `
  forewarm_gpu_pod_memory_bandwidth_ratio{$A,uuid="GPU-1",gpu_instance="1"} 0.125x40
  forewarm_gpu_pod_memory_bandwidth_ratio{$A,uuid="GPU-1",gpu_instance="2"} 0.25x40
`},
		{
			preset: "nvml/gpus-allocated", want: "{} 2",
			load: allocated + `$A,uuid="GPU-1"} 1x40` + allocated + `$B,uuid="GPU-2"} 1x40` +
				allocated + `$X,uuid="GPU-3"} 1x40
`,
		},
		{
			preset: "nvml/gpus-allocated", trap: "quarters of GPUs by time-slicing", want: "{} 0.5",
			load: allocated + `$A,uuid="GPU-1"} 0.25x40` + allocated + `$B,uuid="GPU-1"} 0.25x40` +
				allocated + `$X,uuid="GPU-1"} 0.25x40
`,
		},
	}
}
