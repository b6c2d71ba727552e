package cli_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
	"github.com/forewarm/forewarm/hack/processtest"
)

// What is planted; no six letters of it may be shown, by anything.
const (
	inUser     = "uQ7zK2vW9xJ4"
	inPassword = "pT5mB8rN3cL6"
	inQuery    = "qG4hD9sF2kP7"
	inFragment = "fY6wE3jR8nX5"
	inHeader   = "hM2cV7bZ4tQ9"
	inTenant   = "oS8dK5gL3vB6"
	inToken    = "tN9xH4pJ7mC2"
)

// planted are the secrets in the forms in which they travel.
func planted() []string {
	basic := base64.StdEncoding.EncodeToString([]byte(inUser + ":" + inPassword))
	return []string{inUser, inPassword, inQuery, inFragment, inHeader, inTenant, inToken, basic}
}

// leak is a piece of a secret that stands in the text, with what stands around it.
func leak(text string) string {
	const piece = 6
	for _, secret := range planted() {
		for i := range len(secret) - piece + 1 {
			if at := strings.Index(text, secret[i:i+piece]); at >= 0 {
				return fmt.Sprintf("…%s…", text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
	return ""
}

// echoes are servers that fail, and say whatever they were told while they do.
func echoes() map[string]http.HandlerFunc {
	const envelope = `{"status":"success","data":{"resultType":"matrix","result":[%s]}%s}`
	series := func(label string) string { return fmt.Sprintf(`{"metric":{"echo":%q},"values":[]}`, label) }
	told := func(r *http.Request) string {
		dump, err := httputil.DumpRequest(r, true)
		if err != nil {
			return err.Error()
		}
		return r.Header.Get("Authorization") + " " + r.Header.Get("X-Api-Key") + " " + r.RequestURI + " " + string(dump)
	}
	asJSON := func(code int, format string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			fmt.Fprintf(w, format, told(r))
		}
	}
	return map[string]http.HandlerFunc{
		"it refuses":      func(w http.ResponseWriter, r *http.Request) { http.Error(w, told(r), http.StatusUnauthorized) },
		"it fails":        func(w http.ResponseWriter, r *http.Request) { http.Error(w, told(r), http.StatusInternalServerError) },
		"it has an error": asJSON(http.StatusBadRequest, `{"status":"error","errorType":"bad_data","error":%q}`),
		"it is internal": asJSON(http.StatusInternalServerError,
			`{"status":"error","errorType":"internal","error":%q}`),
		"it is malformed": asJSON(http.StatusOK, `{"status":%q,"data":oops`),
		"it is of a wrong kind": asJSON(http.StatusOK,
			`{"status":"success","data":{"resultType":"matrix","result":%q}}`),
		"it says just that": asJSON(http.StatusOK, `%s`),
		"it warns": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, envelope, series("x"), fmt.Sprintf(`,"warnings":[%q]`, told(r)))
		},
		"it has several": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, envelope, series(told(r))+","+series(r.Header.Get("Authorization")), "")
		},
		"it redirects": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://elsewhere.example/"+r.Header.Get("X-Api-Key")+"?"+r.URL.RawQuery)
			w.WriteHeader(http.StatusFound)
		},
		"it does not speak HTTP": func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(conn, "%s\r\n\r\n", told(r))
			conn.Close() //nolint:errcheck // It was enough.
		},
		"it has a bad header": func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\n%s\r\n\r\n", r.Header.Get("Authorization"))
			conn.Close() //nolint:errcheck // It was enough.
		},
		"it hangs": func(_ http.ResponseWriter, r *http.Request) {
			told(r) // Only who has read the body is told that the client has gone.
			<-r.Context().Done()
		},
	}
}

// targets are URLs of servers that fail, by how.
func targets(t *testing.T) map[string]string {
	t.Helper()
	urls := make(map[string]string)
	for how, handler := range echoes() {
		urls[how] = start(t, handler)
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(untrusted.Close)
	urls["no server listens"], urls["untrusted"] = closed.URL, untrusted.URL
	urls["it does not speak TLS"] = strings.Replace(urls["it fails"], "http:", "https:", 1)
	urls["there is no such host"] = "http://no-such-host.invalid"
	for how, url := range maps.Clone(urls) {
		url += "/prom?key=" + inQuery + "#" + inFragment
		urls[how] = strings.Replace(url, "://", "://"+inUser+":"+inPassword+"@", 1)
		urls[how+", by token"] = url // A user in the URL goes before a token.
	}
	return urls
}

// credentials are the flags of all other secrets.
func credentials(t *testing.T) []string {
	t.Helper()
	return []string{
		"--prometheus-token-file", write(t, "token", inToken+"\n"), "--prometheus-header", "X-Scope-OrgID=" + inTenant,
		"--prometheus-header", "X-Api-Key=" + inHeader, "--query-timeout", "500ms",
	}
}

const secretive = `apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: load, namespace: team}
spec:
  targetRef: {kind: Deployment, name: web}
  signal: {query: 'sum(load{namespace="team"})'}
  quantile: "0.9"
`

// Whatever a Prometheus does, and though it says itself what it was told: nothing that a command writes has a secret in it.
func TestCommandsTellNoSecrets(t *testing.T) {
	further := credentials(t)
	hpa := write(t, "hpa.yaml", scales)
	kubeconfig := write(
		t,
		"kubeconfig",
		contextOf(start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
		}))),
	)
	for how, url := range targets(t) {
		for _, command := range [][]string{
			{"simulate", "--forecasts", "--query", "sum(load)", "--range", "6h"},
			{"capacity", "--query", "sum(load)", "--saturated", "sum(waiting)", "--replicas", "sum(ready)", "--range", "5d"},
			{"simulate", "--query", "sum(load)", "--range", "6h", "--hpa", hpa, "--replica-capacity", "100"},
			{"doctor", "--kubeconfig", kubeconfig},
		} {
			var out processtest.LogBuffer
			arguments := append(append(command, "--prometheus", url), further...)
			if code := (cli.Program{}).Run(t.Context(), arguments, &out, &out); code == 0 {
				t.Errorf("%s, %s: it succeeds: %s", how, command[0], &out)
			}
			if found := leak(out.String()); found != "" {
				t.Errorf("%s: %s tells a secret: %s", how, command[0], found)
			}
			if !strings.Contains(out.String(), "/prom: ") && !strings.Contains(out.String(), "Prometheus") {
				t.Errorf("%s: %s does not tell of the Prometheus: %s", how, command[0], &out)
			}
		}
	}
}

// Nor is a mistake told with the secret in it.
func TestWrongFlagsTellNoSecrets(t *testing.T) {
	for _, flag := range [][]string{
		{"--prometheus-header", inHeader},
		{"--prometheus-header", "X-Api-Key=" + inHeader + "," + inTenant},
		{"--prometheus-header", "Authorization=" + inHeader},
		{"--prometheus-url", "http://" + inUser + ":" + inPassword + "#@host:9090"},
		{"--prometheus-url", "ftp://" + inUser + ":" + inPassword + "@host?" + inQuery},
	} {
		var out processtest.LogBuffer
		code := cli.Program{}.Run(t.Context(),
			append([]string{"serve", "--standalone", "--config-dir", "."}, flag...), &out, &out)
		if found := leak(out.String()); found != "" || code == 0 {
			t.Errorf("%s: code %d: %s", flag[0], code, &out)
		}
	}
}

// The server's log at its most verbose, every page and every API are searched.
func TestServeTellsNoSecrets(t *testing.T) {
	t.Parallel()
	further := credentials(t)
	for how, url := range targets(t) {
		t.Run(how, func(t *testing.T) {
			t.Parallel() // Most of the time goes into waiting.
			folder := filepath.Dir(write(t, "f.yaml", secretive))
			ctx, stop := context.WithCancel(t.Context())
			var out processtest.LogBuffer
			done := make(chan int)
			go func() {
				done <- cli.Program{}.Run(ctx, append([]string{
					"serve", "--standalone", "--port", "0", "--config-dir", folder, "--log-level", "debug",
					"--keda-address", "127.0.0.1:0", "--prometheus-url", url,
				}, further...), &out, &out)
			}()
			defer func() {
				stop()
				<-done
				if found := leak(out.String()); found != "" {
					t.Errorf("its log tells a secret: %s", found)
				}
			}()
			base := address(t, &out)
			waitTold(t, &out, "query failed")
			for _, page := range pages {
				if found := leak(fetch(t, base+page)); found != "" {
					t.Errorf("%s tells a secret: %s", page, found)
				}
			}
			const outlook = "/apis/inspect.forewarm.dev/v1alpha1/namespaces/team/outlooks/load"
			if text := fetch(t, base+outlook); !strings.Contains(text, "/prom: ") {
				t.Errorf("the outlook does not tell of the Prometheus: %s", text)
			}
		})
	}
}

// pages are where a server could tell: its own, and those that other API servers have.
var pages = []string{
	"/", "/readyz?verbose", "/livez?verbose", "/healthz?verbose", "/metrics", "/metrics/slis", "/version", "/apis",
	"/openapi/v2", "/openapi/v3", "/flagz", "/statusz", "/configz", "/debug/pprof/", "/debug/pprof/cmdline",
	"/debug/flags/v", "/logs/",
	"/apis/external.metrics.k8s.io/v1beta1/namespaces/team/load",
	"/apis/custom.metrics.k8s.io/v1beta2/namespaces/team/forecasts.forewarm.dev/load/demand",
	"/apis/inspect.forewarm.dev/v1alpha1/outlooks",
	"/apis/inspect.forewarm.dev/v1alpha1/namespaces/team/outlooks/load",
	"/apis/inspect.forewarm.dev/v1alpha1/namespaces/team/outlooks/load/page",
	"/apis/inspect.forewarm.dev/v1alpha1/namespaces/team/outlooks/load/plot",
}

// address waits until the server says where it serves.
func address(t *testing.T, log *processtest.LogBuffer) string {
	t.Helper()
	waitTold(t, log, "msg=serving address=")
	return regexp.MustCompile(`msg=serving address=(http://\S+)`).FindStringSubmatch(log.String())[1]
}

func waitTold(t *testing.T, log *processtest.LogBuffer, words string) {
	t.Helper()
	for range 600 {
		if strings.Contains(log.String(), words) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%q is not in the log: %s", words, log)
}

// fetch is an answer with its headers.
func fetch(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	text, err := httputil.DumpResponse(response, true)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// scales is an HPA on a load.
const scales = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama}
spec:
  scaleTargetRef: {kind: Deployment, name: llama}
  maxReplicas: 100
  metrics:
    - {type: External, external: {metric: {name: load}, target: {type: AverageValue, averageValue: 80}}}
`
