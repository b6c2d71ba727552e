//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

// namespace and container are those of all pods.
const namespace, container = "check", "server"

// node plays a kubelet: its pod-resources socket, the cgroups of its pods and the names of their logs. A process joins a pod by its
// cgroup. The agent reads all three as on a node of a cluster.
type node struct {
	podresources.UnimplementedPodResourcesListerServer
	folder, uuid string
	pods         atomic.Pointer[[]string]
}

func (n *node) socket() string { return filepath.Join(n.folder, "kubelet.sock") }

// device is one of as many replicas of the GPU as there are pods; a single pod has the whole GPU.
func (n *node) device(i int) []*podresources.ContainerDevices {
	id := n.uuid
	if len(*n.pods.Load()) > 1 {
		id = fmt.Sprintf("%s::%d", n.uuid, i)
	}
	return []*podresources.ContainerDevices{{ResourceName: "nvidia.com/gpu", DeviceIds: []string{id}}}
}

// List implements the kubelet's pod resources.
func (n *node) List(
	context.Context, *podresources.ListPodResourcesRequest,
) (*podresources.ListPodResourcesResponse, error) {
	out := &podresources.ListPodResourcesResponse{}
	for i, pod := range *n.pods.Load() {
		of := []*podresources.ContainerResources{{Name: container, Devices: n.device(i)}}
		out.PodResources = append(out.PodResources,
			&podresources.PodResources{Name: pod, Namespace: namespace, Containers: of})
	}
	return out, nil
}

// GetAllocatableResources implements the kubelet's pod resources.
func (n *node) GetAllocatableResources(
	context.Context, *podresources.AllocatableResourcesRequest,
) (*podresources.AllocatableResourcesResponse, error) {
	out := &podresources.AllocatableResourcesResponse{}
	for i := range *n.pods.Load() {
		out.Devices = append(out.Devices, n.device(i)...)
	}
	return out, nil
}

// serve answers until the returned function is called.
func (n *node) serve(ctx context.Context) (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", n.socket())
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer()
	podresources.RegisterPodResourcesListerServer(server, n)
	go server.Serve(listener) //nolint:errcheck // It ends with stop.
	return server.Stop, nil
}

// cgroups is where version 2 is mounted.
const cgroups = "/sys/fs/cgroup"

// cgroup makes a pod's cgroup and the names of its logs, and returns the cgroup.
func (n *node) cgroup(pod string) (string, error) {
	id := fmt.Sprintf("%064x", len(pod)+int(pod[len(pod)-1])<<8)
	uid := fmt.Sprintf("00000000-0000-4000-8000-%012x", pod[len(pod)-1])
	slice := "kubepods-burstable-pod" + strings.ReplaceAll(uid, "-", "_") + ".slice"
	path := filepath.Join(cgroups, "kubepods.slice", "kubepods-burstable.slice", slice, "cri-containerd-"+id+".scope")
	logs := filepath.Join(n.folder, "log")
	link := filepath.Join(logs, "containers", pod+"_"+namespace+"_"+container+"-"+id+".log")
	err := errors.Join(os.MkdirAll(path, 0o755),
		os.MkdirAll(filepath.Join(logs, "pods", namespace+"_"+pod+"_"+uid, container), 0o755),
		os.MkdirAll(filepath.Dir(link), 0o755), os.WriteFile(link, nil, 0o600))
	return path, err
}
