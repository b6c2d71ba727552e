package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/doctor"
)

// examine runs the doctor's checks with the rights of a user.
func examine(t *testing.T, config *rest.Config) []doctor.Finding {
	t.Helper()
	return examineAt(t, config, time.Now)
}

func examineAt(t *testing.T, config *rest.Config, now func() time.Time) []doctor.Finding {
	t.Helper()
	config = rest.CopyConfig(config)
	config.Timeout = 10 * time.Second
	d, err := doctor.New(
		doctor.Config{Cluster: config, Namespace: system, Elsewhere: "team", Now: now},
	)
	if err != nil {
		t.Fatal(err)
	}
	report, err := d.Examine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report.Findings
}

const (
	apply      = "apply"
	deployment = "deployment/forewarm"
)

// readyStatus is the status that a controller and a kubelet would give the Deployment.
func readyStatus(n int) []string {
	return []string{
		"patch", deployment, "-n", system, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status": {"replicas": 2, "readyReplicas": %d}}`, n),
	}
}

// healthyForecast has a season that its history holds, so that it is Ready soon.
var healthyForecast = strings.Replace(forecast("load", "query: up", "0.9"), "history: 10m",
	"history: 10m\n  seasons: [2m]", 1)

const healthyHPA = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama, namespace: team}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  minReplicas: 1
  maxReplicas: 20
  metrics:
  - {type: External, external: {metric: {name: load}, target: {type: AverageValue, averageValue: "10"}}}
  behavior: {scaleDown: {stabilizationWindowSeconds: 300}}
`

const llama = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: team}
spec:
  replicas: 12
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec: {containers: [{name: c, image: i}]}
`

// poolWith is a WarmPool for the Forecast load.
func poolWith(name, actuator, mode string) string {
	return fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: WarmPool
metadata: {name: %s, namespace: team}
spec:
  members: [{forecast: load}]
  max: 3
  mode: %s
  actuator: {%s}
  chunk:
    podTemplate:
      spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}
`, name, mode, actuator)
}

// Each way in which an installation breaks is found in a real cluster with the real Forewarm, with what to do; where it is well
// the doctor is silent.
func TestDoctor(t *testing.T) {
	s := &scene{Cluster: apiservertest.Start(t)}
	history := httptest.NewServer(http.HandlerFunc(waves))
	t.Cleanup(history.Close)
	s.MustKubectl(t, "", "delete", "crd", "forecasts.forewarm.dev", "warmpools.forewarm.dev")
	run := func(name string, list []ailment) {
		t.Run(name, func(t *testing.T) {
			for i := range list {
				t.Run(list[i].name, func(t *testing.T) { list[i].test(t, s) })
			}
		})
	}
	run("before it is installed", absent())
	s.MustKubectl(t, "", "delete", "apiservice", "v1beta1.external.metrics.k8s.io")
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/default")
	s.MustKubectl(t, "", "create", "namespace", "team")
	run("without a replica", idle())
	s.MustKubectl(t, healthyForecast+"\n---"+llama+"\n---"+healthyHPA, "apply", "-f", "-")
	s.replicas = append(s.replicas, start(t, s.Cluster, "--prometheus-url="+history.URL))
	s.MustKubectl(t, "", readyStatus(2)...)
	s.Route(t, system, "forewarm", s.replicas[0].port(t), 3)
	t.Run("well", func(t *testing.T) { healthy(t, s) })
	run("while it runs", broken())
	t.Run("a ScaledObject without its Forecast", func(t *testing.T) { danglingScaledObject(t, s) })
	t.Run("a pool that may be held", func(t *testing.T) { heldPool(t, s) })
	t.Run("a clock that is wrong", func(t *testing.T) { wrongClock(t, s) })
	t.Run("without rights", func(t *testing.T) { strangers(t, s) })
	t.Run("an expired leaf", func(t *testing.T) { expiredLeaf(t, s) })
	s.replicas[0].stop(t)
	run("after it ended", ended())
}

// danglingScaledObject: KEDA reports a ScaledObject as healthy while its fallback stands in for a Forecast that does not exist. The doctor
// names it once, whether KEDA has created an HPA or not.
func danglingScaledObject(t *testing.T, s *scene) {
	t.Helper()
	s.MustKubectl(t, "", "create", "-f", "pkg/kube/autoscalers/testdata/scaledobjects.yaml")
	eventually(t, func() string {
		if _, err := s.Kubectl(
			t,
			dangling("misspelt", "laod"),
			"create",
			"-f",
			"-",
		); err != nil { // Until the kind is served.
			return err.Error()
		}
		return ""
	})
	s.MustKubectl(t, dangling("right", "load"), "create", "-f", "-")
	names := ailment{
		check: "Autoscalers",
		level: doctor.Error,
		words: []string{
			"ScaledObject team/misspelt",
			"reads the Forecast laod",
			"fallback",
			"the name of an existing Forecast",
		},
	}
	only := func() string {
		all := examine(t, s.Config)
		if names.found(all) == nil || strings.Count(described(all), "\n") != 1 {
			return "not the one finding:" + described(all)
		}
		return ""
	}
	eventually(t, only)
	s.MustKubectl(
		t,
		"",
		"patch",
		"scaledobject",
		"misspelt",
		"-n",
		"team",
		"--type=merge",
		"--subresource=status",
		"-p",
		`{"status": {"hpaName": "keda-hpa-misspelt", "conditions": [{"type": "Ready", "status": "True"}, {"type": "Fallback", "status": "True"}]}}`,
	)
	uid := s.MustKubectl(t, "", "get", "scaledobject", "misspelt", "-n", "team", "-o", "jsonpath={.metadata.uid}")
	s.MustKubectl(
		t,
		strings.NewReplacer(
			"name: llama, namespace: team",
			"name: keda-hpa-misspelt, namespace: team, ownerReferences: "+
				"[{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, name: misspelt, controller: true, uid: "+uid+"}]",
			"kind: Deployment, name: llama",
			"kind: Deployment, name: other",
			"name: load",
			"name: s0-laod",
		).Replace(healthyHPA),
		"create",
		"-f",
		"-",
	)
	if text := only(); text != "" {
		t.Error(text)
	}
	s.MustKubectl(t, "", "delete", "hpa", "keda-hpa-misspelt", "-n", "team")
	s.MustKubectl(t, "", "delete", "crd", "scaledobjects.keda.sh")
	healthy(t, s)
}

// dangling is a ScaledObject whose trigger names a Forecast, with a target and a fallback.
func dangling(name, forecast string) string {
	return fmt.Sprintf(`
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: %s, namespace: team}
spec:
  scaleTargetRef: {name: %[1]s}
  fallback: {failureThreshold: 3, replicas: 2}
  triggers: [{type: external-push, metadata: {scalerAddress: "forewarm:9090", forecast: %s, target: "40"}}]
`, name, forecast)
}

// heldPool: rights that are granted in the pool's namespace only are enough.
func heldPool(t *testing.T, s *scene) {
	t.Helper()
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/warm-pools")
	s.MustKubectl(t, "", "delete", "clusterrolebinding", "forewarm:warm-pools")
	s.MustKubectl(t, "", "create", "rolebinding", "pools", "-n", "team", "--clusterrole=forewarm:warm-pools",
		"--serviceaccount="+system+":forewarm")
	pool := poolWith("allowed", "placeholderPods: {}", "Enforce")
	s.MustKubectl(t, pool, "apply", "-f", "-")
	eventually(t, func() string {
		all := examine(t, s.Config)
		may := &ailment{check: "Rights", level: doctor.OK, words: []string{"mode Enforce"}}
		if may.found(all) == nil {
			return "it may not be held:" + described(all)
		}
		return ""
	})
	s.MustKubectl(t, pool, "delete", "-f", "-")
}

// wrongClock: a caller whose clock is ahead is told so, and nothing else is thought to be late.
func wrongClock(t *testing.T, s *scene) {
	t.Helper()
	all := examineAt(t, s.Config, func() time.Time { return time.Now().Add(time.Hour) })
	for _, whose := range []string{"the kube-apiserver", "Forewarm"} {
		behind := ailment{check: "Clocks", level: doctor.Warning, words: []string{whose, "behind", "NTP"}}
		if behind.found(all) == nil {
			t.Errorf("nothing says that the clock of %s differs:%s", whose, described(all))
		}
	}
	if led := (&ailment{check: "Leader", level: doctor.OK}); led.found(all) == nil {
		t.Errorf("its lease is thought to be old:%s", described(all))
	}
}

// strangers may read nothing, and are told so; a user who may read one namespace is told of that one.
func strangers(t *testing.T, s *scene) {
	t.Helper()
	all := examine(t, s.User(t, "stranger"))
	for _, check := range []string{"Deployment", "Access", "APIGroups", "Certificates", "Rights", "Leader", "OneForewarm"} {
		missing := ailment{check: check, level: doctor.Unknown, words: []string{"you are not allowed", "administrator"}}
		if missing.found(all) == nil {
			t.Errorf("nothing says that %s may not be checked:%s", check, described(all))
		}
	}
	for _, f := range all {
		if f.Level == doctor.Error || f.Level == doctor.Warning {
			t.Errorf("what cannot be known is called %s: %+v", f.Level, f)
		}
	}
	s.MustKubectl(t, "", "create", "rolebinding", "viewer", "-n", "team", "--clusterrole=forewarm:view",
		"--user=viewer")
	eventually(t, func() string {
		all := examine(t, s.User(t, "viewer"))
		only := ailment{check: "Access", level: doctor.Unknown, words: []string{"of the namespace team"}}
		load := ailment{check: "Forecasts", level: doctor.OK, words: []string{"team/load"}}
		if only.found(all) == nil || load.found(all) == nil {
			return fmt.Sprintf("the viewer of a namespace finds: %+v", all)
		}
		return ""
	})
}

// certificate is a self-signed authority, and its key, that ends at a time.
func certificate(end time.Time) ([]byte, tls.Certificate) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "x"}, NotBefore: end.Add(-24 * time.Hour),
		NotAfter: end, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		DNSNames: []string{"forewarm." + system + ".svc"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// expiredLeaf: a server whose certificate ended is found by what the kube-apiserver says of it.
func expiredLeaf(t *testing.T, s *scene) {
	t.Helper()
	bundle, own := certificate(time.Now().Add(-time.Hour))
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{own}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // The kube-apiserver tries many times.
	server.StartTLS()
	defer server.Close()
	s.MustKubectl(t, "", "create", "service", "externalname", "expired", "-n", "team", "--external-name=localhost")
	s.MustKubectl(t, fmt.Sprintf(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.custom.metrics.k8s.io}
spec:
  group: custom.metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  caBundle: %s
  service: {name: expired, namespace: team, port: %s}
`, base64.StdEncoding.EncodeToString(bundle), server.URL[strings.LastIndex(server.URL, ":")+1:]), "apply", "-f", "-")
	a := ailment{
		check: "APIGroups", level: doctor.Error, words: []string{"expired", "clocks", "rollout restart"},
	}
	a.test(t, s)
	s.MustKubectl(t, "", "delete", "apiservice", "v1beta1.custom.metrics.k8s.io")
}
