package tenants_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/source/tenants"
)

// filtered is one metric of a collector.
type filtered struct {
	prometheus.Collector

	name string
}

func (f filtered) Collect(ch chan<- prometheus.Metric) {
	all := make(chan prometheus.Metric)
	go func() { f.Collector.Collect(all); close(all) }()
	for m := range all {
		if strings.Contains(m.Desc().String(), `"`+f.name+`"`) {
			ch <- m
		}
	}
}

func (o operator) openText(text string) error {
	o.write("sources.yaml", text)
	s, err := tenants.Open(tenants.Config{
		File: filepath.Join(o.dir, "sources.yaml"), Timeout: time.Second, Now: time.Now,
	}, slog.New(slog.DiscardHandler))
	if err == nil {
		s.Close()
	}
	return err
}

func TestFilesAreRefused(t *testing.T) {
	const (
		good        = "name: a, namespaces: [a], url: 'http://h'"
		podIdentity = "this would use the cloud identity of Forewarm's own pod"
		id          = "00000000-0000-4000-8000-000000000000"
	)
	one := func(fields string) string { return "sources:\n- {" + fields + "}\n" }
	for name, c := range map[string]struct{ text, want string }{
		"nothing":             {"", "has no sources"},
		"two documents":       {one(good) + "---\n" + one(good), "more than one YAML document"},
		"no YAML":             {"sources: {", "line 1"},
		"an unknown field":    {one(good + ", uri: x"), "field uri not found"},
		"a field twice":       {one(good + ", name: b"), "line 2"},
		"a name twice":        {"sources:\n- {" + good + "}\n- {" + good + "}\n", "listed twice"},
		"no name":             {one("namespaces: [a], url: 'http://h'"), "name: use at most 63"},
		"a name with quotes":  {one(`namespaces: [a], url: 'http://h', name: "a\"b"`), "name: use at most 63"},
		"no namespaces":       {one("name: a, url: 'http://h'"), "list the namespaces that are allowed to use the source"},
		"a pattern":           {one("name: a, url: 'http://h', namespaces: [team-*]"), `"team-*" is not`},
		"no URL":              {one("name: a, namespaces: [a]"), "expected http://HOST:PORT"},
		"another scheme":      {one("name: a, namespaces: [a], url: 'file:///etc/passwd'"), "expected http://HOST:PORT"},
		"a password in a URL": {one("name: a, namespaces: [a], url: 'http://u:p4ssword@h'"), "use basic_auth"},
		"a label's name":      {one(good + ", tenant_label: 'a b'"), "tenant_label"},
		"no label":            {one(good + ", tenant_label: ''"), "tenant_label"},
		"a password":          {one(good + ", basic_auth: {username: u, password: p4ssword}"), "password: this file must not contain secrets"},
		"a token":             {one(good + ", authorization: {credentials: p4ssword}"), "credentials: this file must not contain secrets"},
		"an old token":        {one(good + ", bearer_token: p4ssword"), "bearer_token: this file must not contain secrets"},
		"a secret header":     {one(good + ", http_headers: {X: {secrets: [p4ssword]}}"), "secrets: this file must not contain secrets"},
		"a key":               {one(good + ", tls_config: {cert: c, key: p4ssword}"), "key: this file must not contain secrets"},
		"a client's secret": {
			one(good + ", oauth2: {client_id: i, token_url: 'http://t', client_secret: p4ssword}"),
			"client_secret: this file must not contain secrets",
		},
		"a reference": {one(good + ", authorization: {credentials_ref: x}"), "credentials_ref: this file must not contain secrets"},
		"two ways": {
			one(good + ", authorization: {credentials_file: x}, basic_auth: {username: u, password_file: y}"),
			"at most one of",
		},
		"two ways at a cloud": {one(good + ", google_iam: {credentials_file: x}, authorization: {credentials_file: y}"), "exclude each other"},
		"a secret for SigV4":  {one(good + ", sigv4: {region: r, access_key: a, secret_key: p4ssword}"), "field secret_key not found"},
		"the pod's role":      {one(good + ", sigv4: {region: r}"), podIdentity},
		"the pod's account":   {one(good + ", google_iam: {}"), podIdentity},
		"a file of the pod":   {one(good + ", google_iam: {credentials_file: /var/run/secrets/key.json}"), podIdentity},
		"a file above":        {one(good + ", sigv4: {region: r, access_key: a, secret_key_file: ../key}"), podIdentity},
		"the node's identity": {one(good + ", azuread: {managed_identity: {}}"), podIdentity},
		"the pod's token": {
			one(good + ", azuread: {workload_identity: {client_id: " + id + ", tenant_id: " + id + ", token_file_path: token}}"), podIdentity,
		},
		"a line break":     {one(good + `, http_headers: {X-Scope-OrgID: {values: ["a\r\nX-Scope-OrgID: b"]}}`), "line break"},
		"half a key pair":  {one(good + ", tls_config: {cert_file: c}"), "exactly one of key or key_file"},
		"a reserved name":  {one(good + ", http_headers: {Host: {values: [x]}}"), `"Host"`},
		"a wrong lookback": {one(good + ", lookback_delta: soon"), "not a valid duration"},
	} {
		err := newOperator(t).openText(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "p4ssword") {
			t.Errorf("%s: %v, want %q and no secret", name, err, c.want)
		}
	}
}

// Two tenants of one managed store sign with their own keys, and with the pod's identity only if the operator allows it.
func TestCredentialsOfAStoreInACloud(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDPOD")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "pod")
	url := store(t, func(r *http.Request) int {
		_, id, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=AKID")
		return map[string]int{"ONE": 1, "TWO": 2, "POD": 3}[id[:3]]
	})
	o := newOperator(t)
	o.write("one", "s3cret-1")
	o.write("two", "s3cret-2")
	const each = `name: %[1]s, url: "%[2]s", namespaces: [%[1]s], sigv4: {region: eu-1, access_key: AKID%[3]s, secret_key_file: %[1]s}`
	own := []string{fmt.Sprintf(each, "one", url, "ONE"), fmt.Sprintf(each, "two", url, "TWO")}
	s := o.open(own...)
	for namespace, want := range map[string]int{"one": 1, "two": 2} {
		if got, err := ask(t, s, query(t, s, "", namespace)); got != want {
			t.Errorf("%s reads with the key %d (%v), want %d", namespace, got, err, want)
		}
	}
	pod := fmt.Sprintf("name: pod, url: '%s', namespaces: [pod], sigv4: {region: eu-1}", url)
	o.list(append(own, pod)...)
	if err := s.Reload(); err == nil || !strings.Contains(err.Error(), "--sources-pod-identity") {
		t.Errorf("the identity of the pod: %v", err)
	}
	allowed, err := tenants.Open(tenants.Config{
		File: filepath.Join(o.dir, "sources.yaml"), Timeout: 10 * time.Second, Now: time.Now, PodIdentity: true,
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer allowed.Close()
	if got, err := ask(t, allowed, query(t, allowed, "", "pod")); got != 3 {
		t.Errorf("where it is allowed: %d (%v), want the key of the pod", got, err)
	}
}

// FuzzFile: no file crashes, hangs, or grants what it does not list.
func FuzzFile(f *testing.F) {
	f.Add("sources:\n- {name: a, url: 'http://h', namespaces: [a]}\n")
	f.Add("sources:\n- {name: a, url: 'http://h', namespaces: ['*'], http_headers: {X: {values: [y]}}}\n")
	f.Add("a: &a [*a]\nsources: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		o := newOperator(t)
		o.write("sources.yaml", text)
		s, err := tenants.Open(tenants.Config{
			File: filepath.Join(o.dir, "sources.yaml"), Timeout: time.Second, Now: time.Now,
		}, slog.New(slog.DiscardHandler))
		if err != nil {
			return
		}
		defer s.Close()
		const stranger = "not-in-the-list"
		_, err = s.Find("", stranger)
		if granted := strings.Contains(text, "*") || strings.Contains(text, stranger); err == nil && !granted {
			t.Errorf("%q grants %s a source", text, stranger)
		}
	})
}
