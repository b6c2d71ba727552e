package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
	"github.com/forewarm/forewarm/hack/processtest"
	api "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
	"github.com/forewarm/forewarm/pkg/source/recorded/recordedtest"
)

// evil drives terminals by ESC, CR, BEL, DEL and C1, and turns the direction of what follows. It is marked so that it can be
// found in what a command shows.
const evil = "ev\x1b[2J\x1b]0;owned\a\r\u009b31m\x7f\u202e\u2066\u200f\u061cil"

// marked are the first letters of evil and of its escapes.
const marked = "ev"

// No name of a column, object, file or argument, and no answer of a server, drives a terminal, log or page.
func TestNoCharacterThatDrivesATerminalComesThrough(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	trace := write(evil+".csv", hostileTrace(""))
	worse := write("worse.csv", hostileTrace("12"+evil))
	hpa := write("hpa.yaml", hostileHPA())
	yaml := write(evil+".yaml", hostileHPA()+"  \"x"+escaped+"\": 1\n")
	folder := filepath.Join(dir, "forecasts "+evil)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(filepath.Base(folder), evil+".yaml"), hostileForecast())
	server := start(t, hostileOutlooks())
	cluster := write("kubeconfig", contextOf(start(t, hostileCluster())))
	refusing := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, &metav1.Status{Status: metav1.StatusFailure, Code: 403, Message: evil, Reason: "Forbidden"})
	}))
	refused := write("refused", contextOf(refusing))
	page := filepath.Join(dir, evil+".html")
	for _, args := range [][]string{
		{evil},
		{"--" + evil},
		{"-" + evil},
		{"help", evil},
		{"version", evil},
		{"version", "--" + evil},
		{"simulate", "--step", evil},
		{"simulate", "--forecasts", "--trace", evil},
		{"simulate", "--forecasts", "--trace", trace},
		{"simulate", "--forecasts", "--trace", trace, "--column", "none"},
		{"simulate", "--forecasts", "--trace", worse, "--column", evil},
		{"simulate", "--forecasts", "--trace", trace, "--column", evil},
		{"simulate", evil},
		{"simulate", "--" + evil},
		{"simulate", "--trace", trace, "--hpa", evil},
		{"simulate", "--trace", trace, "--hpa", yaml},
		{"simulate", "--trace", trace, "--hpa", hpa},
		{"simulate", "--trace", trace, "--column", evil, "--hpa", hpa, "--shape", "price=0,name=" + evil},
		{"simulate", "--trace", trace, "--column", evil, "--hpa", hpa, "--spot", evil},
		{"simulate", "--trace", trace, "--column", evil, "--hpa", hpa, "--lead-time-of", evil, "--server", server},
		{
			"simulate", "--trace", trace, "--column", evil, "--hpa", hpa, "--html", page,
			"--gpu-price", "1", "--shape", "capacity=10,name=" + evil,
		},
		{"simulate", "--trace", trace, "--column", evil, "--hpa", hpa, "--json"},
		{"capacity", evil},
		{"capacity", "--" + evil},
		{"capacity", "--trace", trace, "--column", evil, "--saturated-column", "none", "--replicas-column", evil},
		{"capacity", "--trace", trace, "--column", evil, "--saturated-column", evil, "--replicas-column", evil},
		{"capacity", "--trace", trace, "--column", evil, "--saturated-column", evil, "--replicas-column", evil, "--json"},
		{"explain", "a/" + evil + "/b"},
		{"explain", "--" + evil},
		{"explain", "--file", evil},
		{"explain", "--file", yaml},
		{"explain", "--file", hpa},
		{"explain", "--file", hpa, "--value", evil, "--replicas", "2"},
		{"explain", "--file", hpa, "--value", evil + "x=3", "--replicas", "2"},
		{"explain", "--file", hpa, "--value", "3", "--replicas", "2"},
		{"explain", "--file", hpa, "--value", "3", "--replicas", "2", "--json"},
		{"explain", "--kubeconfig", cluster, evil},
		{"explain", "--kubeconfig", cluster, "llama"},
		{"explain", "--kubeconfig", cluster, "llama", "--json"},
		{"explain", "--context", evil, "llama"},
		{"inspect", evil + "/"},
		{"inspect", "--" + evil},
		{"inspect", "--server", evil},
		{"inspect", "--kubeconfig", evil},
		{"inspect", "--server", refusing},
		{"inspect", "--server", refusing, evil + "/" + evil},
		{"inspect", "--server", server},
		{"inspect", "--server", server, "--json"},
		{"inspect", "--server", server, "inference/llama"},
		{"inspect", "--server", server, "inference/llama", "--json"},
		{"doctor", evil},
		{"doctor", "--" + evil},
		{"doctor", "--context", evil},
		{"doctor", "--kubeconfig", refused},
		{"doctor", "--kubeconfig", refused, "--json"},
		{"doctor", "--kubeconfig", refused, "-n", evil},
		{"presets", evil},
		{"presets", "--" + evil},
		{"presets", "--render", evil},
		{"presets", "--render", "vllm/inflight", "--target", "deployment/" + evil, "-n", evil},
		{"presets", "--json", "--target", "deployment/" + evil, "-n", evil},
		{"demo", evil},
		{"demo", "--" + evil},
		{"demo", "--log-level", evil},
		{"serve", evil},
		{"serve", "--" + evil},
		{"serve", "--config-dir", evil},
		{"serve", "--log-format", evil},
		{"serve", "--standalone", "--port", "0", "--prometheus-url", refusing, "--config-dir", folder},
		{"serve", "--standalone", "--port", "0", "--prometheus-url", refusing, "--config-dir", folder, "--log-format", "json"},
	} {
		t.Run(args[0]+" "+printed(args[1:]), func(t *testing.T) {
			out, words := ran(t, args)
			harmless(t, "stdout", out)
			harmless(t, "stderr", words)
			if !strings.Contains(out+words, marked) {
				t.Errorf("nothing of it is shown, so that nothing is proven:\n%s\n%s", out, words)
			}
			if args[len(args)-1] == "--json" && !json.Valid([]byte(out)) {
				t.Errorf("is no JSON:\n%s", out)
			}
		})
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	harmless(t, "the page", string(text))
	if !strings.Contains(string(text), marked+`\u001b`) {
		t.Error("nothing of it is shown in the page")
	}
}

// What programs read is the same, escaped or not.
func TestJSONKeepsWhatItEscapes(t *testing.T) {
	out, _ := ran(t, []string{"inspect", "--server", start(t, hostileOutlooks()), "inference/llama", "--json"})
	var o api.Outlook
	if err := json.Unmarshal([]byte(out), &o); err != nil {
		t.Fatal(err)
	}
	if o.Status.Unit != evil {
		t.Errorf("unit %q, want %q", o.Status.Unit, evil)
	}
}

// ran runs a command line to its end; a server is ended once it says that it serves.
func ran(t *testing.T, args []string) (out, words string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var stdout bytes.Buffer
	stderr := &until{serving: "msg=serving", stop: stop}
	if args[len(args)-1] == "json" {
		stderr.serving = `"msg":"serving"`
	}
	cli.Program{Version: "v0"}.Run(ctx, args, &stdout, stderr)
	return stdout.String(), stderr.String()
}

// until calls stop when it was written what says that a server serves. Libraries may log once a server has ended.
type until struct {
	processtest.LogBuffer

	serving string
	stop    func()
}

func (u *until) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte(u.serving)) {
		u.stop()
	}
	return u.LogBuffer.Write(text)
}

// harmless fails where a text holds characters that drive a terminal or turn the direction of writing.
func harmless(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s is no UTF-8", what)
	}
	for i, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Errorf("%s holds %U: %q", what, r, text[max(0, i-60):min(len(text), i+60)])
			return
		}
	}
}

func start(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// contextOf is a kubeconfig of a server.
func contextOf(server string) string {
	return "clusters: [{name: x, cluster: {server: '" + server + "'}}]\n" +
		"contexts: [{name: x, context: {cluster: x, namespace: inference}}]\ncurrent-context: x\n"
}

// printed are arguments as the name of a test.
func printed(args []string) string {
	return strings.ReplaceAll(fmt.Sprintf("%.100q", args), "/", "|")
}

// escaped is what stands for evil between the quotes of YAML.
var escaped = strings.Trim(strconv.QuoteToASCII(evil), `"`)

// hostileTrace has a day of minutes in two columns; one of the values is replaced.
func hostileTrace(value string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "t,\"%s\",\"b%[1]s\nforged\"\n", evil)
	for i := range 1500 {
		at := time.Unix(int64(1767571200+60*i), 0)
		shown := fmt.Sprintf("%.6g", recordedtest.Hourly(at))
		if i == 700 && value != "" {
			shown = value
		}
		fmt.Fprintf(&text, "%d,%s,%s\n", at.Unix(), shown, shown)
	}
	return text.String()
}

func hostileHPA() string {
	return fmt.Sprintf(`apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: "%s", namespace: inference}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: "%[1]s"}
  maxReplicas: 40
  metrics:
    - {type: External, external: {metric: {name: "%[1]s"}, target: {type: AverageValue, averageValue: "10"}}}
`, escaped)
}

func hostileForecast() string {
	return fmt.Sprintf(`apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: load, namespace: team}
spec:
  targetRef: {kind: Deployment, name: "%s"}
  signal: {query: "sum(load{x=\"%[1]s\"})"}
  "field %[1]s": 1
---
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: preset, namespace: team}
spec:
  targetRef: {kind: Deployment, name: web}
  signal: {preset: "vllm/%[1]s"}
`, escaped)
}

// hostileOutlooks have such texts wherever there is one.
func hostileOutlooks() http.Handler {
	e := snapshottest.WithObjective(snapshottest.Key("llama"))
	e.Unit, e.Model, e.Choice.Selected, e.Workload, e.LeadSource = evil, evil, evil, evil+"/"+evil, evil
	for i := range e.Conditions {
		e.Conditions[i].Message, e.Conditions[i].Reason = evil+"\nforged", evil
	}
	for i := range e.Candidates {
		e.Candidates[i].Title, e.Candidates[i].Name, e.Candidates[i].Error = evil, evil, evil
	}
	mux := http.NewServeMux()
	root := "/apis/" + api.GroupVersion().String()
	o := inspect.Outlook(e, snapshottest.Now())
	o.Status.State, o.Status.Reason, o.Status.Objective.Message, o.Status.Objective.Summary = evil, evil, evil, evil
	mux.HandleFunc("GET "+root+"/namespaces/inference/outlooks/llama", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, o)
	})
	named := o
	named.Name, named.Namespace = evil, evil
	mux.HandleFunc("GET "+root+"/outlooks", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, api.OutlookList{Items: []api.Outlook{named, o}})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w,
			&metav1.Status{Status: metav1.StatusFailure, Code: 404, Message: evil, Reason: metav1.StatusReasonNotFound})
	})
	return mux
}

// hostileCluster is one whose HPA, Forecast and refusals say so.
func hostileCluster() http.Handler {
	c, quoted := clusterOf(), `"`+escaped+`"`
	for _, change := range []struct{ path, old, replaced string }{
		{"/apis/autoscaling/v2/namespaces/inference/horizontalpodautoscalers/llama", "message: found", "message: " + quoted},
		{"/apis/autoscaling/v2/namespaces/inference/horizontalpodautoscalers/llama", "reason: ReadyForNewScale", "reason: " + quoted},
		{"/apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks/llama", "unit: requests", "unit: " + quoted},
		{"/apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks/llama", "fixed in spec.leadTime", quoted},
	} {
		if !strings.Contains(c[change.path], change.old) {
			panic(change.old)
		}
		c[change.path] = strings.ReplaceAll(c[change.path], change.old, change.replaced)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Warning", `299 - "`+"ev\u202eil"+`"`)
		if _, found := c[r.URL.Path]; !found {
			refuse(w, &metav1.Status{Status: metav1.StatusFailure, Code: 403, Message: evil, Reason: "Forbidden"})
			return
		}
		c.ServeHTTP(w, r)
	})
}
