package pods

// Container is a pod's container.
type Container struct {
	Namespace, Pod, Name string
}

// Holding is a container's hold on a device.
type Holding struct {
	Container Container
	// Device is the UUID of a GPU or of a MIG instance.
	Device string
	// Allocated is the share of the device that the container holds, 0 … 1: 1 for a whole one, 1/n for one of n
	// time-slicing or MPS replicas.
	Allocated float64
}
