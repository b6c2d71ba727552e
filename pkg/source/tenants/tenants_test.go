package tenants_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/tenants"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var origin = time.Unix(1_700_000_040, 0).UTC()

// store answers every query with one sample, of the value that the request is answered with.
func store(t *testing.T, value func(*http.Request) int) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, err := fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[`+
			`{"metric":{},"values":[[%d,"%d"]]}]}}`, origin.Unix(), value(r))
		if err != nil && r.Context().Err() == nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// operator writes the file of sources, and files with secrets alongside it.
type operator struct {
	t   *testing.T
	dir string
}

func newOperator(t *testing.T) operator { t.Helper(); return operator{t, t.TempDir()} }

func (o operator) write(name, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// open lists sources, each in the flow style of YAML without its braces.
func (o operator) open(sources ...string) *tenants.Sources {
	o.t.Helper()
	o.list(sources...)
	s, err := tenants.Open(tenants.Config{
		File: filepath.Join(o.dir, "sources.yaml"), Timeout: 10 * time.Second, Now: time.Now,
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(s.Close)
	return s
}

func (o operator) list(sources ...string) {
	o.t.Helper()
	o.write("sources.yaml", "sources:\n- {"+strings.Join(sources, "}\n- {")+"}\n")
}

func (o operator) reload(s *tenants.Sources) {
	o.t.Helper()
	if err := s.Reload(); err != nil {
		o.t.Fatal(err)
	}
}

// query is that of a Forecast in a namespace, as the resolver makes it.
func query(t *testing.T, s *tenants.Sources, name, namespace string) refresh.Query {
	t.Helper()
	grant, err := s.Find(name, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return refresh.Query{
		Namespace: namespace, Source: grant.Source, Expr: "sum(demand)", From: origin, To: origin, Step: time.Minute,
	}
}

func ask(t *testing.T, s *tenants.Sources, q refresh.Query) (int, error) {
	t.Helper()
	got, err := s.Fetch(t.Context(), q)
	if err != nil {
		return 0, err
	}
	return int(got.Values[0]), nil
}

func TestNamespacesGetTheSourcesTheyWereGranted(t *testing.T) {
	o := newOperator(t)
	s := o.open(`name: fast, url: "http://127.0.0.1:1", namespaces: [team-a]`,
		`name: team-b, url: "http://127.0.0.1:2", namespaces: [team-b], tenant_label: tenant`,
		`name: shared, url: "http://127.0.0.1:3", namespaces: ["*"]`)
	for _, c := range []struct{ name, namespace, want, label string }{
		{"", "team-a", "fast", "namespace"},
		{"shared", "team-a", "shared", "namespace"},
		{"", "team-b", "team-b", "tenant"},
		{"", "team-c", "shared", "namespace"},
	} {
		got, err := s.Find(c.name, c.namespace)
		if err != nil || got.Source.Name != c.want || got.TenantLabel != c.label {
			t.Errorf("%q in %s: %+v (%v), want %s by %s", c.name, c.namespace, got, err, c.want, c.label)
		}
	}
}

// A Forecast that names another's source learns nothing of it, not even that there is one.
func TestAnothersSourceIsRefused(t *testing.T) {
	o := newOperator(t)
	asked := atomic.Int32{}
	secret := store(t, func(*http.Request) int { asked.Add(1); return 1 })
	s := o.open(`name: team-a, url: "http://127.0.0.1:1", namespaces: [team-a]`,
		`name: team-b, url: "`+secret+`", namespaces: [team-b]`)
	_, existing := s.Find("team-b", "team-a")
	_, missing := s.Find("team-x", "team-a")
	if existing == nil || missing == nil || existing.Error() != missing.Error() {
		t.Errorf("a source of another: %v; none: %v; want the same error", existing, missing)
	}
	for _, want := range []string{"namespace team-a", "use one of these", "ask the operator"} {
		if existing != nil && !strings.Contains(existing.Error(), want) {
			t.Errorf("%v does not say %q", existing, want)
		}
	}
	for _, namespace := range []string{"team-c", "", "*", "team-b "} {
		if got, err := s.Find("", namespace); !errors.Is(err, tenants.ErrNotGranted) {
			t.Errorf("namespace %q gets %+v (%v), want nothing", namespace, got, err)
		}
	}
	// Nor by a query that claims it.
	q := query(t, s, "team-b", "team-b")
	q.Namespace = "team-a"
	if got, err := ask(t, s, q); !errors.Is(err, series.ErrQuery) || asked.Load() != 0 {
		t.Errorf("%d, %v after %d requests, want none", got, err, asked.Load())
	}
	if got, err := s.FetchByLabel(t.Context(), q, "workload"); !errors.Is(err, series.ErrQuery) || asked.Load() != 0 {
		t.Errorf("by label: %v, %v after %d requests, want none", got, err, asked.Load())
	}
}

// Two tenants of one store, whose queries are the same to the letter, get their own answers.
func TestEqualQueriesOfTwoTenantsShareNothing(t *testing.T) {
	url := store(t, func(r *http.Request) int {
		n, err := strconv.Atoi(strings.TrimPrefix(r.Header.Get("X-Scope-OrgID"), "tenant-"))
		if err != nil {
			t.Error(err)
		}
		return n
	})
	o := newOperator(t)
	const each = `url: "%s", namespaces: [team-%d], name: source-%d, http_headers: {X-Scope-OrgID: {values: [tenant-%d]}}`
	s := o.open(fmt.Sprintf(each, url, 1, 1, 1), fmt.Sprintf(each, url, 2, 2, 2))
	var all sync.WaitGroup
	for i := range 40 {
		tenant := 1 + i%2
		q := query(t, s, "", fmt.Sprintf("team-%d", tenant))
		all.Go(func() {
			if got, err := ask(t, s, q); got != tenant {
				t.Errorf("tenant %d reads %d (%v)", tenant, got, err)
			}
		})
	}
	all.Wait()
}

// The credentials of a source go to its URL only.
func TestCredentialsAreSentToTheirSourceOnly(t *testing.T) {
	seen := make(chan string, 8)
	record := func(r *http.Request) int {
		user, password, _ := r.BasicAuth()
		seen <- strings.Join([]string{r.Header.Get("Authorization"), user, password, r.Header.Get("X-Key")}, "|")
		return 1
	}
	url := store(t, record)
	o := newOperator(t)
	o.write("token", "t0ken-a\n")
	o.write("password", "passw0rd")
	o.write("key", "k3y-of-c")
	s := o.open(`name: a, url: "`+url+`", namespaces: [a], authorization: {credentials_file: token}`,
		`name: b, url: "`+url+`", namespaces: [b], basic_auth: {username: bob, password_file: password}`,
		`name: c, url: "`+url+`", namespaces: [c], http_headers: {X-Key: {files: [key]}}`)
	for namespace, want := range map[string]string{
		"a": "Bearer t0ken-a|||", "b": "Basic Ym9iOnBhc3N3MHJk|bob|passw0rd|", "c": "|||k3y-of-c",
	} {
		if _, err := ask(t, s, query(t, s, "", namespace)); err != nil {
			t.Fatal(err)
		}
		if got := <-seen; got != want {
			t.Errorf("%s sends %q, want %q", namespace, got, want)
		}
	}
	// Rotated: the same source, so that no history is read again.
	before := query(t, s, "", "b")
	o.write("password", "r0tated!")
	o.reload(s)
	if got, err := ask(t, s, before); got != 1 || err != nil {
		t.Errorf("after a rotation: %d, %v", got, err)
	}
	if got := <-seen; !strings.Contains(got, "r0tated!") {
		t.Errorf("sends %q, want the new password", got)
	}
}

// With mutual TLS each tenant shows its own certificate.
func TestEachTenantShowsItsOwnCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "you are "+r.TLS.PeerCertificates[0].Subject.CommonName, http.StatusBadRequest)
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	o := newOperator(t)
	o.write("ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	o.keyPair("a")
	o.keyPair("b")
	const each = `name: %[1]s, url: "%[2]s", namespaces: [%[1]s], ` +
		`tls_config: {ca_file: ca.crt, cert_file: %[1]s.crt, key_file: %[1]s.key}`
	s := o.open(
		fmt.Sprintf(each, "a", server.URL), fmt.Sprintf(each, "b", server.URL),
		`name: c, url: "`+server.URL+`", namespaces: [c], tls_config: {ca_file: ca.crt}`,
	)
	for namespace, want := range map[string]string{"a": "you are tenant-a", "b": "you are tenant-b", "c": "certificate"} {
		if got, err := ask(t, s, query(t, s, "", namespace)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gets %d (%v), want %q", namespace, got, err, want)
		}
	}
}

// keyPair writes a tenant's certificate and key.
func (o operator) keyPair(tenant string) {
	o.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		o.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tenant-" + tenant},
		NotAfter: time.Now().Add(time.Hour),
	}
	certificate, err1 := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	private, err2 := x509.MarshalPKCS8PrivateKey(key)
	if err := errors.Join(err1, err2); err != nil {
		o.t.Fatal(err)
	}
	o.write(tenant+".crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})))
	o.write(tenant+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

// A store that is taken over sends no one's credentials elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := atomic.Int32{}
	other := store(t, func(*http.Request) int { elsewhere.Add(1); return 666 })
	redirects := httptest.NewServer(http.RedirectHandler(other+"/?token=s3cret-token", http.StatusTemporaryRedirect))
	t.Cleanup(redirects.Close)
	o := newOperator(t)
	o.write("token", "s3cret-token")
	s := o.open(`name: a, url: "` + redirects.URL + `", namespaces: [a], follow_redirects: true, ` +
		`authorization: {credentials_file: token}`)
	got, err := ask(t, s, query(t, s, "", "a"))
	if !errors.Is(err, series.ErrUnavailable) || strings.Contains(err.Error(), "s3cret") || elsewhere.Load() != 0 {
		t.Errorf("%d, %v, %d requests elsewhere: want an error without the token, and none", got, err, elsewhere.Load())
	}
	if err != nil && !strings.Contains(err.Error(), "source a: ") {
		t.Errorf("%v does not name the source", err)
	}
}

// A grant that is taken away while its query is under way: the answer is not shown.
func TestGrantsTakenAwayWhileInUse(t *testing.T) {
	arrived, answer := make(chan bool), make(chan bool)
	url := store(t, func(*http.Request) int { arrived <- true; <-answer; return 7 })
	o := newOperator(t)
	s := o.open(`name: a, url: "` + url + `", namespaces: [a, b]`)
	revision, q := s.Revision(), query(t, s, "", "a")
	done := make(chan error)
	go func() {
		got, err := ask(t, s, q)
		if got != 0 {
			err = fmt.Errorf("%d is shown", got)
		}
		done <- err
	}()
	<-arrived
	o.list(`name: a, url: "` + url + `", namespaces: [b]`)
	o.reload(s)
	answer <- true
	if err := <-done; !errors.Is(err, series.ErrQuery) || !errors.Is(err, tenants.ErrNotGranted) {
		t.Errorf("%v, want that the source is not granted", err)
	}
	if s.Revision() == revision {
		t.Error("the revision has not changed, so no Forecast is resolved again")
	}
}

// A source that leads elsewhere now is another source: what was read of the old one is of no use.
func TestChangedSources(t *testing.T) {
	one, two := store(t, func(*http.Request) int { return 1 }), store(t, func(*http.Request) int { return 2 })
	o := newOperator(t)
	s := o.open(`name: a, url: "` + one + `", namespaces: [a]`)
	before := query(t, s, "", "a")
	o.list(`name: a, url: "`+one+`", namespaces: [a, b]`, `name: other, url: "`+two+`", namespaces: [b]`)
	o.reload(s)
	if after := query(t, s, "", "a"); after.Source != before.Source {
		t.Errorf("%+v, want %+v: only who else may use it has changed", after.Source, before.Source)
	}
	o.list(`name: a, url: "` + two + `", namespaces: [a]`)
	o.reload(s)
	if got, err := ask(t, s, before); !errors.Is(err, series.ErrUnavailable) {
		t.Errorf("the old query gets %d (%v), want that the source was changed", got, err)
	}
	if got, err := ask(t, s, query(t, s, "", "a")); got != 2 || err != nil {
		t.Errorf("the new query gets %d (%v), want 2", got, err)
	}
}

// A file of one source that is missing concerns that source alone, until it is there.
func TestMissingFilesConcernTheirSourceOnly(t *testing.T) {
	url := store(t, func(*http.Request) int { return 1 })
	o := newOperator(t)
	s := o.open(`name: a, url: "`+url+`", namespaces: [a], tls_config: {ca_file: ca.crt}`,
		`name: b, url: "`+url+`", namespaces: [b]`)
	if got, err := ask(t, s, query(t, s, "", "b")); got != 1 || err != nil {
		t.Errorf("b gets %d (%v), want 1", got, err)
	}
	revision, q := s.Revision(), query(t, s, "", "a")
	if got, err := ask(t, s, q); !errors.Is(err, series.ErrUnavailable) || !strings.Contains(err.Error(), "ca.crt") {
		t.Errorf("a gets %d (%v), want an error that names the file", got, err)
	}
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	o.write("ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	o.reload(s)
	if got, err := ask(t, s, q); got != 1 || err != nil || s.Revision() != revision {
		t.Errorf("once the file is there a gets %d (%v), want 1 without any change of the list", got, err)
	}
}

// A file with an error takes nothing away.
func TestFilesWithErrorsChangeNothing(t *testing.T) {
	o := newOperator(t)
	s := o.open(`name: a, url: "` + store(t, func(*http.Request) int { return 1 }) + `", namespaces: [a]`)
	good := func() float64 {
		return testutil.ToFloat64(filtered{s, "forewarm_sources_last_reload_successful"})
	}
	for _, text := range []string{"sources: [", "sources: []", "", "sources:\n- {name: a}\n"} {
		o.write("sources.yaml", text)
		if err := s.Reload(); err == nil || !strings.Contains(err.Error(), "sources.yaml") {
			t.Errorf("%q: %v, want an error with the file", text, err)
		}
		if good() != 0 {
			t.Errorf("%q: the metric says that it was read", text)
		}
		if got, err := ask(t, s, query(t, s, "a", "a")); got != 1 || err != nil {
			t.Errorf("%q: %d, %v, want that the source answers as before", text, got, err)
		}
	}
	if err := os.Remove(filepath.Join(o.dir, "sources.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err == nil {
		t.Error("a file that is gone gives no error")
	}
	o.list(`name: b, url: "http://127.0.0.1:1", namespaces: [a]`)
	o.reload(s)
	if good() != 1 {
		t.Error("the metric says that the fixed file was not read")
	}
	if got, err := s.Find("a", "a"); err == nil {
		t.Errorf("the source that was removed is still %+v", got)
	}
}
