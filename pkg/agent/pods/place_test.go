package pods_test

import (
	"testing"

	"github.com/forewarm/forewarm/pkg/agent/pods"
)

const (
	uid    = uidLlama
	under  = "8e6b5a30_6f0e_4f7b_9a52_3d2c1b0a9f8e"
	hash   = "d41d8cd98f00b204e9800998ecf8427e"
	id     = idLlama
	other  = idEmbed
	inside = "1111111122222222333333334444444455555555666666667777777788888888"
)

func TestParsePlace(t *testing.T) {
	pod := pods.Place{Pod: uid, Container: id}
	static := pods.Place{Pod: hash, Container: id}
	relative := pods.Place{Pod: uid, Container: id, Relative: true}
	for _, test := range []struct {
		name string
		file string
		want pods.Place
	}{
		{"containerd, systemd, v2", "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + under +
			".slice/cri-containerd-" + id + ".scope", pod},
		{"a guaranteed pod has no level", "0::/kubepods.slice/kubepods-pod" + under + ".slice/cri-containerd-" + id + ".scope", pod},
		{"containerd, cgroupfs, v2", "0::/kubepods/besteffort/pod" + uid + "/" + id, pod},
		{"a guaranteed pod, cgroupfs", "0::/kubepods/pod" + uid + "/" + id, pod},
		{"CRI-O, systemd, crun", "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + under +
			".slice/crio-" + id + ".scope/container", pod},
		{"CRI-O, cgroupfs", "0::/kubepods/burstable/pod" + uid + "/crio-" + id, pod},
		{"docker, systemd", "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + under +
			".slice/docker-" + id + ".scope", pod},
		{"kind, seen from the node", "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/" +
			"kubelet-kubepods-burstable-pod" + under + ".slice/cri-containerd-" + id + ".scope", pod},
		{"kind, seen from the machine", "0::/docker/" + other + "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" +
			under + ".slice/cri-containerd-" + id + ".scope", pod},
		{"k3s", "0::/k3s/kubepods/besteffort/pod" + uid + "/" + id, pod},
		{"a static pod", "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + hash +
			".slice/cri-containerd-" + id + ".scope", static},
		{"a static pod, cgroupfs", "0::/kubepods/burstable/pod" + hash + "/" + id, static},
		{"v1, all hierarchies", "12:pids:/kubepods/burstable/pod" + uid + "/" + id + "\n11:cpuset:/kubepods/burstable/pod" + uid +
			"/" + id + "\n1:name=systemd:/kubepods/burstable/pod" + uid + "/" + id + "\n", pod},
		{"v1, where a hierarchy is not the runtime's", "12:misc:/\n3:cpu,cpuacct:/kubepods/burstable/pod" + uid + "/" + id +
			"\n1:name=systemd:/system.slice/containerd.service\n0::/system.slice/containerd.service\n", pod},
		{"v1, containerd by cgroupfs under a systemd kubelet", "5:memory:/system.slice/containerd.service/kubepods-besteffort-pod" +
			under + ".slice:cri-containerd:" + id, pod},
		{"a systemd in the container", "0::/kubepods.slice/kubepods-pod" + under + ".slice/cri-containerd-" + id +
			".scope/system.slice/nginx.service", pod},
		{"a container in the container", "0::/kubepods/burstable/pod" + uid + "/" + id + "/docker/" + inside, pod},
		{"a node in the container", "0::/kubepods/burstable/pod" + uid + "/" + id + "/kubelet/kubepods/pod" + hash + "/" + inside, pod},
		{"a private namespace, systemd", "0::/../../kubepods-besteffort-pod" + under + ".slice/cri-containerd-" + id + ".scope", relative},
		{"a private namespace, another level", "0::/../../../kubepods.slice/kubepods-pod" + under + ".slice/cri-containerd-" + id +
			".scope", relative},
		{"a private namespace, cgroupfs", "0::/../../pod" + uid + "/" + id, relative},
		{"a private namespace, the same pod", "0::/../cri-containerd-" + id + ".scope", pods.Place{Container: id, Relative: true}},
		{"a process that ended, not yet reaped", "0::/kubepods/pod" + uid + "/" + id + " (deleted)", pod},
		{"a pod, its container not entered yet", "0::/kubepods/pod" + uid, pods.Place{Pod: uid}},
		{"a container outside Kubernetes", "0::/system.slice/docker-" + id + ".scope", pods.Place{Container: id}},
		{"a service of the node", "0::/system.slice/nvidia-persistenced.service", pods.Place{}},
		{"a user's session", "0::/user.slice/user-1000.slice/session-3.scope", pods.Place{}},
		{"the root", "0::/", pods.Place{}},
		{"an id that is too short", "0::/kubepods/pod" + uid + "/" + id[1:], pods.Place{Pod: uid}},
		{"a slice that only begins as a pod", "0::/podman.slice/pod-1.slice", pods.Place{}},
		{"nothing", "", pods.Place{}},
		{"no cgroup file", "no such thing\n::", pods.Place{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := pods.ParsePlace(test.file); got != test.want {
				t.Errorf("%s\nis %+v\nwant %+v", test.file, got, test.want)
			}
		})
	}
}
