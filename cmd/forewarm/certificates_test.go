package main

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
)

const externalAPI = "v1beta1.external.metrics.k8s.io"

// trust is by what an APIService's server is verified.
func (s *scene) trust(t *testing.T, apiService string) string {
	t.Helper()
	return s.MustKubectl(t, "", "get", "apiservice", apiService, "-o",
		"jsonpath={.spec.caBundle} {.spec.insecureSkipTLSVerify}")
}

// patchExternal changes the spec of external.metrics.k8s.io's APIService.
func (s *scene) patchExternal(t *testing.T, spec string) {
	t.Helper()
	s.MustKubectl(t, "", "patch", "apiservice", externalAPI, "--type=merge", "-p", fmt.Sprintf(`{"spec": {%s}}`, spec))
}

// certificates: the kube-apiserver verifies Forewarm by the authority in the Secret, and anyone who changes that changes it for a
// moment only; an APIService that leads elsewhere is left alone.
func certificates(t *testing.T, s *scene) {
	t.Helper()
	written := s.MustKubectl(t, "", "get", "secret", "forewarm-ca", "-n", system, "-o", `jsonpath={.data.ca\.crt}`)
	if text, err := base64.StdEncoding.DecodeString(written); err != nil ||
		!strings.Contains(string(text), "CERTIFICATE") {
		t.Fatalf("the Secret holds %s (%v)", text, err)
	}
	all := []string{externalAPI, "v1beta2.custom.metrics.k8s.io", "v1alpha1.inspect.forewarm.dev"}
	verified := func(name string) {
		eventually(t, func() string {
			if now := s.trust(t, name); strings.TrimSpace(strings.TrimSuffix(now, "false")) != written {
				return name + " is verified by " + now
			}
			return ""
		})
	}
	for _, name := range all {
		verified(name)
	}
	s.patchExternal(t, `"caBundle": null`)
	verified(externalAPI)
	s.serves(t, metric)

	stays := func(name, want string) {
		for range 10 {
			if now := s.trust(t, name); strings.TrimSpace(now) != want && strings.TrimSpace(now) != want+"false" {
				t.Fatalf("%s is verified by %s, want %q", name, now, want)
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
	s.patchExternal(t, `"service": {"name": "thief"}, "caBundle": null`)
	stays(externalAPI, "")
	// While replicas of an older version may serve, what they left unverified stays so.
	s.patchExternal(t, `"service": {"name": "forewarm"}, "insecureSkipTLSVerify": true`)
	stays(externalAPI, "true")
	s.patchExternal(t, `"insecureSkipTLSVerify": false`)
	verified(externalAPI)
	s.serves(t, metric)
	if _, body := s.replicas[0].get(t, "/metrics"); strings.Count(body,
		"forewarm_certificate_expiry_timestamp_seconds{") != 2 {
		t.Error("the ends of the certificates are not on /metrics")
	}
}

// emptied: anyone who removes the authority from the Secret removes nothing that is in use.
func emptied(t *testing.T, s *scene) {
	t.Helper()
	read := func() string {
		return s.MustKubectl(t, "", "get", "secret", "forewarm-ca", "-n", system, "-o", `jsonpath={.data.ca\.crt}`)
	}
	before := read()
	s.MustKubectl(t, "", "patch", "secret", "forewarm-ca", "-n", system, "--type=merge", "-p", `{"data": null}`)
	eventually(t, func() string {
		if now := read(); now != before {
			return "the Secret holds " + now
		}
		return ""
	})
	s.serves(t, metric)
}
