package apiservertest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
)

// Kubelet stands in for a controller, a scheduler and a kubelet of the pods in the namespace default.
type Kubelet struct {
	tb     testing.TB
	client kubernetes.Interface
}

// Kubelet returns one that deletes all pods when the test ends.
func (c *Cluster) Kubelet(tb testing.TB) Kubelet {
	tb.Helper()
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		now := int64(0)
		err := client.CoreV1().Pods("default").DeleteCollection(context.WithoutCancel(tb.Context()),
			metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{})
		if err != nil {
			tb.Error(err)
		}
	})
	return Kubelet{tb, client}
}

// Create creates a pod with labels. kind and controller name its controller, with any UID; an empty kind means none.
func (k Kubelet) Create(name string, labels map[string]string, kind, controller string) *corev1.Pod {
	k.tb.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	if yes := true; kind != "" {
		p.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: kind, Name: controller, UID: types.UID(controller), Controller: &yes,
		}}
	}
	p, err := k.client.CoreV1().Pods("default").Create(k.tb.Context(), p, metav1.CreateOptions{})
	if err != nil {
		k.tb.Fatal(err)
	}
	return p
}

// Bind assigns a pod to a node, as a scheduler does; the node need not exist.
func (k Kubelet) Bind(p *corev1.Pod, node string) {
	k.tb.Helper()
	err := k.client.CoreV1().Pods("default").Bind(k.tb.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if err != nil {
		k.tb.Fatal(err)
	}
}

// End deletes a pod with its grace period.
func (k Kubelet) End(p *corev1.Pod) {
	k.tb.Helper()
	if err := k.client.CoreV1().Pods("default").Delete(k.tb.Context(), p.Name, metav1.DeleteOptions{}); err != nil {
		k.tb.Fatal(err)
	}
}

// Delete deletes a pod at once.
func (k Kubelet) Delete(p *corev1.Pod) {
	k.tb.Helper()
	now := int64(0)
	err := k.client.CoreV1().
		Pods("default").
		Delete(k.tb.Context(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	if err != nil {
		k.tb.Fatal(err)
	}
}

// Ready makes a pod ready a time after its creation, and returns that moment. The pod was scheduled at once.
func (k Kubelet) Ready(p *corev1.Pod, took time.Duration) time.Time {
	k.tb.Helper()
	created := p.CreationTimestamp.Time
	at := func(after time.Duration) metav1.Time { return metav1.NewTime(created.Add(after)) }
	taken := at(min(2*time.Second, took))
	p.Status.StartTime = &taken
	p.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at(min(time.Second, took))},
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(took)},
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "c", Ready: true, State: corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: at(took / 2)},
		},
	}}
	if _, err := k.client.CoreV1().Pods("default").UpdateStatus(k.tb.Context(), p, metav1.UpdateOptions{}); err != nil {
		k.tb.Fatal(err)
	}
	return at(took).Time
}

// aggregate gives the kube-apiserver a certificate with which it authenticates users to the servers behind it. It also lets the
// kube-apiserver find these servers by name, because Endpoints reject loopback addresses, but a Service may have the name localhost.
func (c *Cluster) aggregate(tb testing.TB) {
	tb.Helper()
	certificate, key := frontProxy(tb)
	c.environment.ControlPlane.GetAPIServer().Configure().
		Set("requestheader-client-ca-file", certificate).
		Set("requestheader-allowed-names", "front-proxy").
		Set("requestheader-username-headers", "X-Remote-User").
		Set("requestheader-group-headers", "X-Remote-Group").
		Set("requestheader-extra-headers-prefix", "X-Remote-Extra-").
		Set("proxy-client-cert-file", certificate).
		Set("proxy-client-key-file", key).
		Set("enable-aggregator-routing", "false")
}

// frontProxy makes the aggregator's self-signed certificate, and writes it and its key to files.
func frontProxy(tb testing.TB) (certificate, key string) {
	tb.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "front-proxy"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		tb.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	return write(tb, "proxy.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		write(tb, "proxy.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// Route points a Service, and the APIServices that lead to it, to a port of 127.0.0.1, and returns when they are
// available. It waits for as many APIServices as are wanted.
func (c *Cluster) Route(tb testing.TB, namespace, service string, port, want int) {
	tb.Helper()
	c.MustKubectl(tb, "", "delete", "service", "-n", namespace, service, "--ignore-not-found")
	c.MustKubectl(tb, "", "create", "service", "externalname", "-n", namespace, service, "--external-name=localhost")
	var routed []string
	Eventually(tb, time.Minute, func() string {
		if routed = c.apiServices(tb, namespace, service); len(routed) < want {
			return fmt.Sprintf("only %q lead to %s/%s", routed, namespace, service)
		}
		return ""
	})
	for _, name := range routed {
		c.MustKubectl(tb, "", "patch", "apiservice", name, "--type=merge",
			"-p", fmt.Sprintf(`{"spec": {"service": {"port": %d}}}`, port))
	}
	for _, name := range routed {
		c.MustKubectl(tb, "", "wait", "--for=condition=Available", "apiservice/"+name, "--timeout=90s")
		version, group, _ := strings.Cut(name, ".")
		c.discover(tb, group, version)
	}
}

// apiServices returns the names of the APIServices that refer to a Service.
func (c *Cluster) apiServices(tb testing.TB, namespace, service string) []string {
	tb.Helper()
	all := c.MustKubectl(tb, "", "get", "apiservice", "-o",
		"jsonpath={range .items[*]}{.spec.service.namespace}/{.spec.service.name}/{.metadata.name} {end}")
	var names []string
	for one := range strings.FieldsSeq(all) {
		if name, found := strings.CutPrefix(one, namespace+"/"+service+"/"); found {
			names = append(names, name)
		}
	}
	return names
}

// discover waits until the kube-apiserver's discovery lists a group's version, in the form that kubectl and the HPA controller read.
func (c *Cluster) discover(tb testing.TB, group, version string) {
	tb.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		tb.Fatal(err)
	}
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		var lists []*metav1.APIResourceList
		_, lists, err = client.ServerGroupsAndResources()
		if slices.ContainsFunc(lists, func(l *metav1.APIResourceList) bool {
			return l.GroupVersion == group+"/"+version
		}) {
			return
		}
	}
	tb.Fatalf("the kube-apiserver does not list %s/%s: %v", group, version, err)
}
