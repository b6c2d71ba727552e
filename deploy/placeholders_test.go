package deploy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// placeholders are pods of the class of placeholders, which the policy of deploy/warm-pools concerns.
type placeholders struct {
	testing.TB
	*apiservertest.Cluster
}

// placeholderPod is one, with further fields of its container and of its spec.
func placeholderPod(name, container, spec string) string {
	return fmt.Sprintf(
		`{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: inference, finalizers: [example.com/job]},
		spec: {priorityClassName: forewarm-placeholder, containers: [{name: c, image: "registry.k8s.io/pause:3.10"%s}]%s}}`,
		name,
		container,
		spec,
	)
}

// refused says why the policy does not refuse something with a text; empty where it does.
func refused(output string, err error, want string) string {
	if err == nil || !strings.Contains(output, "is for placeholder pods") || !strings.Contains(output, want) {
		return fmt.Sprintf("%v %s, want a refusal by the policy with %q", err, output, want)
	}
	return ""
}

const pullable = `volumes: [{name: pull-0, image: {reference: busybox}}]`

// expectPlaceholdersIdle: a pod of the class runs the image of placeholders and nothing else, from its creation on.
func expectPlaceholdersIdle(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	p := placeholders{t, c}
	p.expectGroupsAdmitted()
	p.expectRefusedFields()
	p.expectRefusedVolumes()
	p.expectRefusedChanges()
	p.expectNoConnection()
}

func (p placeholders) try(about, container, spec, want string) {
	p.Helper()
	output, err := p.Kubectl(p, placeholderPod("p", container, spec), "create", "--dry-run=server", "-f", "-")
	if text := refused(output, err, want); text != "" {
		p.Errorf("%s: %s", about, text)
	}
}

// expectGroupsAdmitted: a pod of a StatefulSet has a name in the DNS, and LeaderWorkerSet tells each container its place in its group.
// Other variables are refused, even next to these.
func (p placeholders) expectGroupsAdmitted() {
	p.Helper()
	const group = `{name: LWS_LEADER_ADDRESS, value: a-0.a.inference}, {name: LWS_GROUP_SIZE, value: "2"}, {name: LWS_WORKER_INDEX, value: "1"}`
	const named = ", hostname: a-0-1, subdomain: a"
	pod := placeholderPod("p", ", env: ["+group+"]", named)
	if output, err := p.Kubectl(p, pod, "create", "--dry-run=server", "-f", "-"); err != nil {
		p.Errorf("a pod of a group is refused: %s", output)
	}
	for _, other := range []string{
		"{name: LD_PRELOAD, value: /pull-0/mine.so}", "{name: LWS_OTHER, value: a}",
		"{name: LWS_GROUP_SIZE, valueFrom: {secretKeyRef: {name: s, key: k}}}",
	} {
		p.try(other, ", env: ["+group+", "+other+"]", named, "remove from the container env")
	}
}

func (p placeholders) expectRefusedFields() {
	p.Helper()
	const sh = `exec: {command: [sh]}`
	for field, value := range map[string]string{
		"lifecycle":      "{preStop: {" + sh + "}}",
		"livenessProbe":  "{" + sh + "}",
		"readinessProbe": "{httpGet: {port: 80, host: internal.example}}",
		"startupProbe":   "{tcpSocket: {port: 22, host: internal.example}}",
		"env":            "[{name: LD_PRELOAD, value: /pull-0/mine.so}]",
		"envFrom":        "[{secretRef: {name: s}}]",
		"ports":          "[{containerPort: 80, hostPort: 80}]",
		"workingDir":     "/pull-0",
		"stdin":          "true",
		"tty":            "true",
	} {
		p.try(field, ", "+field+": "+value, ", "+pullable, "remove from the container "+field)
	}
	p.try("a device", ", volumeDevices: [{name: pull-0, devicePath: /dev/x}]",
		", volumes: [{name: pull-0, persistentVolumeClaim: {claimName: c}}]", "remove from the container volumeDevices")
	for field, value := range map[string]string{
		"hostNetwork":           "true",
		"hostPID":               "true",
		"hostIPC":               "true",
		"shareProcessNamespace": "true",
		"hostAliases":           "[{ip: 127.0.0.1, hostnames: [a]}]",
		"dnsConfig":             "{nameservers: [10.0.0.1]}",
		"setHostnameAsFQDN":     "true",
		"activeDeadlineSeconds": "60",
		"nodeName":              "node",
		"os":                    "{name: linux}",
		"readinessGates":        "[{conditionType: a/b}]",
		"resources":             "{limits: {cpu: 1}}",
	} {
		p.try(field, "", ", "+field+": "+value, "remove spec."+field)
	}
	p.try("two fields", "", ", hostPID: true, hostIPC: true", "hostPID")
	for _, containers := range []string{
		"initContainers: [{name: i, image: busybox}]",
		`initContainers: [{name: i, image: "registry.k8s.io/pause:3.10", restartPolicy: Always}]`,
	} {
		p.try(containers, "", ", "+containers, "one container")
	}
	for _, context := range []string{
		"privileged: true", "allowPrivilegeEscalation: true", "capabilities: {add: [NET_ADMIN]}", "procMount: Default",
		"seccompProfile: {type: Unconfined}", "seLinuxOptions: {type: spc_t}", "appArmorProfile: {type: Unconfined}",
	} {
		p.try(context, ", securityContext: {"+context+"}", "", "security contexts")
	}
	p.try(
		"sysctls",
		"",
		", securityContext: {sysctls: [{name: kernel.shm_rmid_forced, value: '1'}]}",
		"security contexts",
	)
	p.try("an account", "", ", serviceAccountName: other", "its service account is default")
	p.try("a shared claim", "", ", resourceClaims: [{name: a, resourceClaimName: a}]", "its resource claims")
	p.try("a message elsewhere", ", terminationMessagePath: /pause", "", "terminationMessagePath")
}

func (p placeholders) expectRefusedVolumes() {
	p.Helper()
	for _, volume := range []string{
		"{name: pull-0, emptyDir: {}}",
		"{name: pull-0, hostPath: {path: /}}",
		"{name: pull-0, secret: {secretName: s}}",
		"{name: pull-0, configMap: {name: c}}",
		"{name: pull-0, persistentVolumeClaim: {claimName: c}}",
		"{name: pull-0, csi: {driver: d}}",
		"{name: pull-0, projected: {sources: [{serviceAccountToken: {path: token}}]}}], serviceAccountName: default, tolerations: [",
		"{name: tools, image: {reference: busybox}}",
	} {
		p.try(volume, "", ", volumes: ["+volume+"]", "its volumes are images to pull")
	}
	for _, mount := range []string{
		"mountPath: /tools", "mountPath: /pause, subPath: bin/mine", "mountPath: /pull-0, subPath: bin", "mountPath: /",
		"mountPath: /pull-0, mountPropagation: HostToContainer",
	} {
		p.try(mount, ", volumeMounts: [{name: pull-0, "+mount+"}]", ", "+pullable, "its volumes are images to pull")
	}
	// The case that was reported.
	p.try(
		"a miner",
		`, resources: {limits: {nvidia.com/gpu: "1"}}, volumeMounts: [{name: tools, mountPath: /tools, readOnly: true}],
		lifecycle: {postStart: {exec: {command: [/tools/bin/busybox, sh, -c, "mine & "]}}},
		livenessProbe: {exec: {command: [/tools/bin/busybox, sh, -c, mine-some-more]}, periodSeconds: 1}`,
		`, volumes: [{name: tools, image: {reference: "docker.io/library/busybox:1.36", pullPolicy: IfNotPresent}}]`,
		"livenessProbe",
	)
}

// expectRefusedChanges: a placeholder stays one, and a pod from before the policy can still be cleaned up.
func (p placeholders) expectRefusedChanges() {
	p.Helper()
	const mining = `, command: [sh], lifecycle: {preStop: {exec: {command: [mine]}}}`
	binding := p.MustKubectl(p, "", "get", "validatingadmissionpolicybinding", "forewarm-placeholders", "-o", "json")
	p.MustKubectl(p, binding, "delete", "-f", "-")
	apiservertest.Eventually(p, 20*time.Second, func() string {
		output, err := p.Kubectl(p, placeholderPod("earlier", mining, ""), "create", "-f", "-")
		if err != nil {
			return output
		}
		return ""
	})
	p.MustKubectl(p, "", "apply", "--server-side", "-k", "deploy/warm-pools")
	apiservertest.Eventually(p, 20*time.Second, func() string {
		output, err := p.Kubectl(p, placeholderPod("p", mining, ""), "create", "--dry-run=server", "-f", "-")
		return refused(output, err, "")
	})
	p.MustKubectl(p, placeholderPod("idle", ", volumeMounts: [{name: pull-0, mountPath: /pull-0, readOnly: true}]",
		", "+pullable+", schedulingGates: [{name: kueue.x-k8s.io/admission}]"), "create", "-f", "-")

	const debugger = `{"spec": {"ephemeralContainers": [{"name": "d", "image": "busybox", "targetContainerName": "c"}]}}`
	const image = `{"spec": {"containers": [{"name": "c", "image": "miner"}]}}`
	for _, pod := range []string{"earlier", "idle"} {
		for _, patch := range [][]string{{image}, {debugger, "--subresource=ephemeralcontainers"}} {
			output, err := p.Kubectl(p, "", append([]string{"patch", "pod", pod, "-n", "inference", "-p"}, patch...)...)
			if text := refused(output, err, "one container"); text != "" {
				p.Errorf("%s is changed to %s: %s", pod, patch[0], text)
			}
		}
		p.MustKubectl(p, "", "label", "pod", pod, "-n", "inference", "a=b")
	}
	// A queue opens its gate and says where the pod belongs; once it is bound, a controller may add a toleration.
	p.MustKubectl(p, "", "patch", "pod", "idle", "-n", "inference", "-p",
		`{"spec": {"nodeSelector": {"flavor": "spot"}, "schedulingGates": null}}`)
	p.MustKubectl(
		p,
		`{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "idle"}, "target": {"kind": "Node", "name": "n"}}`,
		"create",
		"--raw=/api/v1/namespaces/inference/pods/idle/binding",
		"-f",
		"-",
	)
	p.MustKubectl(p, "", "patch", "pod", "idle", "-n", "inference", "-p",
		`{"spec": {"tolerations": [{"key": "spot", "operator": "Exists"}]}}`)
	var idle struct{ Spec struct{ NodeName string } }
	if err := json.Unmarshal(
		[]byte(p.MustKubectl(p, "", "get", "pod", "idle", "-n", "inference", "-o", "json")),
		&idle,
	); err != nil ||
		idle.Spec.NodeName != "n" {
		p.Errorf("the placeholder is not bound: %v %+v", err, idle)
	}
}

// expectNoConnection: no one connects to a placeholder, and everyone who might connects to the other pods of its namespace.
func (p placeholders) expectNoConnection() {
	p.Helper()
	p.MustKubectl(
		p,
		`{apiVersion: v1, kind: Pod, metadata: {name: real, namespace: inference}, spec: {containers: [{name: c, image: i}]}}`,
		"create",
		"-f",
		"-",
	)
	connect := func(args ...string) (string, error) {
		return p.Kubectl(p, "", append([]string{"-n", "inference"}, args...)...)
	}
	all := func(pod string) [][]string {
		return [][]string{
			{"exec", pod, "--", "sh"},
			{"attach", pod},
			{"create", "--raw=/api/v1/namespaces/inference/pods/" + pod + "/portforward?ports=80", "-f", "/dev/null"},
			{"get", "--raw=/api/v1/namespaces/inference/pods/" + pod + "/proxy/"},
			{"get", "--raw=/api/v1/namespaces/inference/pods/" + pod + "/exec?command=sh&container=c"},
		}
	}
	for _, pod := range []string{"idle", "earlier"} {
		for _, args := range all(pod) {
			apiservertest.Eventually(p, 20*time.Second, func() string {
				output, err := connect(args...)
				return refused(output, err, "no one may connect")
			})
		}
	}
	for _, args := range all("real") {
		if output, err := connect(args...); err == nil || strings.Contains(output, "placeholder pods") {
			p.Errorf("kubectl %v: %v %s; there is no kubelet, and the policy must not be in the way", args, err, output)
		}
	}
	for _, pod := range []string{"earlier", "idle", "real"} {
		p.MustKubectl(p, "", "patch", "pod", pod, "-n", "inference", "-p", `{"metadata": {"finalizers": null}}`)
		p.MustKubectl(p, "", "delete", "pod", pod, "-n", "inference", "--grace-period=0", "--force")
	}
}
