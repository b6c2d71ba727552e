package apiserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/casetest"
	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// startStandalone serves the store on a free port.
func startStandalone(tb testing.TB, snapshots *snapshot.Store, checks ...run.Check) string {
	tb.Helper()
	server, err := apiserver.NewStandalone(apiserver.StandaloneConfig{}, deps(snapshots, checks...))
	if err != nil {
		tb.Fatal(err)
	}
	startServer(tb, server)
	waitLive(tb, server.URL())
	return server.URL()
}

// waitLive asks until an unknown path is 404 and the server calls itself live: until then it does not know all of its own
// paths, or has hooks to run.
func waitLive(tb testing.TB, base string) {
	tb.Helper()
	client := apiPlain(tb)
	for range 200 {
		if get(tb, client, base+"/unknown").code == http.StatusNotFound &&
			get(tb, client, base+"/livez").code == http.StatusOK {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	tb.Fatal("the server does not come up")
}

func apiPlain(tb testing.TB) *http.Client {
	tb.Helper()
	transport := &http.Transport{}
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

const (
	outlooksPath = "/apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks"
	objectPath   = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/inference/forecasts.forewarm.dev"
)

func TestStandaloneAnswers(t *testing.T) {
	base := startStandalone(t, snapshottest.Store(snapshottest.EveryState()...))
	client := apiPlain(t)
	for _, test := range casetest.Read[struct {
		Path  string
		Code  int
		Words []string
	}](t, "answers.yaml") {
		t.Run(test.Path, func(t *testing.T) {
			got := get(t, client, base+test.Path)
			if got.code != test.Code {
				t.Errorf("code %d, want %d", got.code, test.Code)
			}
			for _, word := range test.Words {
				if !strings.Contains(got.body, word) {
					t.Errorf("answer does not hold %s:\n%.600s", word, got.body)
				}
			}
			// Clients measure ages by it, also where the server's clock is not life's.
			if date, err := http.ParseTime(got.header.Get("Date")); err != nil || !date.Equal(snapshottest.Now()) {
				t.Errorf("the Date is %v (%v), want %v", date, err, snapshottest.Now())
			}
		})
	}
}

func TestNoDataYetIsUnavailable(t *testing.T) {
	snapshots := &snapshot.Store{}
	base := startStandalone(t, snapshots, run.Check{Name: "snapshot", Run: func() error {
		if snapshots.Load() == nil {
			return errors.New("no snapshot yet: the first refresh is in progress")
		}
		return nil
	}})
	client := apiPlain(t)
	for _, path := range []string{
		"/apis/external.metrics.k8s.io/v1beta1/namespaces/inference/ready", objectPath + "/ready/demand", outlooksPath,
		outlooksPath + "/ready", outlooksPath + "/ready/page",
		outlooksPath + "/-/frontpage", "/",
	} {
		if got := get(t, client, base+path); got.code != http.StatusServiceUnavailable ||
			!strings.Contains(got.body, "no data yet") {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
	if got := get(t, client, base+"/readyz"); got.code != http.StatusServiceUnavailable ||
		!strings.Contains(got.body, "[-]snapshot failed: no snapshot yet") {
		t.Errorf("readyz: %d %s", got.code, got.body)
	}
	snapshots.Publish(snapshottest.Snapshot(snapshottest.Ready(snapshottest.Key("ready"))))
	if got := get(t, client, base+"/readyz"); got.code != http.StatusOK ||
		!strings.Contains(got.body, "[+]snapshot ok") {
		t.Errorf("readyz with data: %d %s", got.code, got.body)
	}
}

func TestReadinessSaysWhichCheckFails(t *testing.T) {
	base := startStandalone(t, snapshottest.Store(), run.Check{Name: "config", Run: func() error { return nil }},
		run.Check{Name: "source", Run: func() error { return errors.New("no answer\nfor 3m") }})
	got := get(t, apiPlain(t), base+"/readyz")
	for _, line := range []string{"[+]config ok\n", "[-]source failed: no answer for 3m\n", "readyz check failed\n"} {
		if !strings.Contains(got.body, line) {
			t.Errorf("%q is not in\n%s", line, got.body)
		}
	}
	if live := get(t, apiPlain(t), base+"/livez"); live.code != http.StatusOK {
		t.Errorf("not ready is not dead: livez %d", live.code)
	}
}

func TestTableOverHTTP(t *testing.T) {
	base := startStandalone(t, snapshottest.Store(snapshottest.EveryState()...))
	got := get(t, apiPlain(t), base+outlooksPath+"?limit=3",
		"Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
	var table metav1.Table
	if err := json.Unmarshal([]byte(got.body), &table); err != nil {
		t.Fatal(err)
	}
	if table.Kind != "Table" || len(table.Rows) != 3 || table.Continue == "" {
		t.Errorf("%s of %d rows, continue %q", table.Kind, len(table.Rows), table.Continue)
	}
	if len(got.body) > 16<<10 {
		t.Errorf("a table of 3 rows takes %d bytes: it holds the whole outlooks", len(got.body))
	}
}

// A page that resolves its own name to 127.0.0.1, or posts from another site, must get nothing.
func TestOtherSitesAreKeptOut(t *testing.T) {
	base := startStandalone(t, snapshottest.Store(snapshottest.EveryState()...))
	port := base[strings.LastIndex(base, ":"):]
	client := apiPlain(t)
	for host, code := range map[string]int{
		"127.0.0.1" + port: 200, "localhost" + port: 200, "LOCALHOST" + port: 200, "localhost:9": 200, "127.0.0.1": 200, "[::1]" + port: 200,
		"evil.example" + port: 421, "evil.example": 421, "127.0.0.1.evil.example" + port: 421, "10.0.0.1" + port: 421,
		"localhost.evil.example": 421, "0.0.0.0" + port: 421,
	} {
		if got := get(t, client, base+"/livez", "Host: "+host); got.code != code {
			t.Errorf("host %s: %d, want %d", host, got.code, code)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+outlooksPath, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := do(t, client, request, "Sec-Fetch-Site: cross-site",
		"Origin: https://evil.example"); got.code != http.StatusForbidden {
		t.Errorf("a post from another site: %d, want 403", got.code)
	}
	if got := get(t, client, base+outlooksPath,
		"Origin: https://evil.example"); got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("another site may read the answer")
	}
}

func TestStandaloneListensOnLoopbackOnly(t *testing.T) {
	server, err := apiserver.NewStandalone(apiserver.StandaloneConfig{}, deps(snapshottest.Store()))
	if err != nil {
		t.Fatal(err)
	}
	startServer(t, server)
	address, ok := server.Addr().(*net.TCPAddr)
	if !ok || !address.IP.IsLoopback() {
		t.Errorf("listens on %v", server.Addr())
	}
	_, err = apiserver.NewStandalone(apiserver.StandaloneConfig{Port: address.Port}, deps(snapshottest.Store()))
	if err == nil || !strings.Contains(err.Error(), "choose another --port") {
		t.Errorf("a taken port: %v", err)
	}
	_, err = apiserver.NewStandalone(apiserver.StandaloneConfig{Port: 70000}, deps(snapshottest.Store()))
	if err == nil || !strings.Contains(err.Error(), "--port 70000") {
		t.Errorf("no port: %v", err)
	}
}

// A browser that has dialled in advance and asked nothing does not hold up the end.
func TestUnusedConnectionsDoNotDelayTheStop(t *testing.T) {
	server, err := apiserver.NewStandalone(apiserver.StandaloneConfig{}, deps(snapshottest.Store()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	waitLive(t, server.URL())
	conn, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // Nothing was written.
	get(t, apiPlain(t),
		server.URL()+"/livez") // A connection that came later is answered, so this one has been taken, too.
	cancel()
	select {
	case err := <-stopped:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(4 * time.Second): // http.Server would wait for five.
		t.Fatal("a connection without a request holds up the stop")
	}
}

func TestOnlyReading(t *testing.T) {
	base := startStandalone(t, snapshottest.Store(snapshottest.EveryState()...))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		request, err := http.NewRequestWithContext(t.Context(), method, base+outlooksPath+"/ready",
			strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := do(t, apiPlain(t), request); got.code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d, want 405", method, got.code)
		}
	}
}

func TestClientsDiscoverEverything(t *testing.T) {
	base := startStandalone(t, snapshottest.Store(snapshottest.EveryState()...))
	config := &rest.Config{Host: base}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string][]string)
	for _, list := range lists {
		for _, r := range list.APIResources {
			found[list.GroupVersion] = append(found[list.GroupVersion], r.Name)
		}
	}
	for group, resource := range map[string]string{
		"external.metrics.k8s.io/v1beta1": "externalmetrics", "custom.metrics.k8s.io/v1beta1": "forecasts.forewarm.dev/demand",
		"inspect.forewarm.dev/v1alpha1": "outlooks/page",
	} {
		if !slices.Contains(found[group], resource) {
			t.Errorf("%s has no %s: %v", group, resource, found)
		}
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	outlook, err := objects.Resource(v1alpha1.GroupVersion().WithResource("outlooks")).Namespace("inference").
		Get(t.Context(), "ready", metav1.GetOptions{})
	if err != nil || outlook.GetName() != "ready" {
		t.Errorf("dynamic client: %v, %v", outlook, err)
	}
}

// kubectl is the real one where it was built.
func kubectl(t *testing.T, base string, args ...string) string {
	t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		t.Skip("KUBEBUILDER_ASSETS is unset: make test-cluster builds what it names, and sets it")
	}
	home := t.TempDir()
	command := exec.CommandContext(t.Context(), filepath.Join(assets, "kubectl"),
		append([]string{"--server", base}, args...)...)
	command.Env = []string{"HOME=" + home, "KUBECONFIG=" + filepath.Join(home, "none"), "PATH=" + os.Getenv("PATH")}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestKubectl(t *testing.T) {
	base := startStandalone(t, snapshottest.Store(snapshottest.EveryState()...))
	for _, test := range casetest.Read[struct {
		Args  []string
		Words []string
	}](t, "kubectl.yaml") {
		t.Run(strings.Join(test.Args, " "), func(t *testing.T) {
			out := kubectl(t, base, test.Args...)
			for _, word := range test.Words {
				if !strings.Contains(out, word) {
					t.Errorf("%q is not in\n%.2000s", word, out)
				}
			}
		})
	}
}

func TestFurtherPaths(t *testing.T) {
	d := deps(snapshottest.Store())
	d.Handle = map[string]http.Handler{"/demo": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})}
	server, err := apiserver.NewStandalone(apiserver.StandaloneConfig{}, d)
	if err != nil {
		t.Fatal(err)
	}
	startServer(t, server)
	if got := get(t, apiPlain(t), server.URL()+"/demo"); got.code != http.StatusTeapot {
		t.Errorf("%d %s", got.code, got.body)
	}
}
