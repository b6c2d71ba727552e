package signal

// dcgm is the presets on NVIDIA's dcgm-exporter.
func dcgm() []Preset {
	return []Preset{
		{
			Name: "dcgm/gpu-busy",
			Summary: "GPUs kept busy by the target's pods: the sum of the share of time in which each GPU (or MIG instance) " +
				"had work. Saturates at the GPUs allotted; not for GPUs shared by time-slicing or MPS.",
			Unit:     "GPUs",
			template: gpuBusy,
		},
	}
}

// gpuBusy takes the graphics engine's activity, a ratio 0 … 1: on by default in the exporter and, unlike
// DCGM_FI_DEV_GPU_UTIL, true under MIG. A GPU is known by UUID and GPU_I_ID; max makes one of the copies that two
// exporters or two scrape jobs report.
func gpuBusy(s scope) string {
	return s.total(`max by (pod, UUID, GPU_I_ID) (` + s.series(selector{metric: "DCGM_FI_PROF_GR_ENGINE_ACTIVE"}) + `)`)
}
