package cli_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	api "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
	"github.com/forewarm/forewarm/pkg/source/recorded/recordedtest"
)

// The scripts run forewarm in this process. It says its exit code, so that they can tell codes apart. With exec, they run it in
// a process of its own.
func TestScripts(t *testing.T) {
	many := 1234 // Three pages; two under the race detector.
	if testing.Short() {
		many = 501
	}
	servers := map[string]http.Handler{
		"SERVER": serveOutlooks(snapshottest.EveryState()...),
		"HEALTHY": serveOutlooks(snapshottest.Ready(snapshottest.Key("llama")),
			snapshottest.WithObjective(snapshottest.Key("qwen"))),
		"PROMETHEUS": &recordedtest.Prometheus{Demand: recordedtest.Hourly},
		"FLEET":      &recordedtest.Prometheus{Answer: fleetAnswer},
		"LIMITED":    &recordedtest.Prometheus{Answer: limited},
		// Of its own, as it counts what it is asked.
		"STALLS":       &recordedtest.Prometheus{Demand: recordedtest.Hourly, Stalls: 3},
		"STUCK":        &recordedtest.Prometheus{Stalls: -1},
		"REFUSES":      &recordedtest.Prometheus{Refusal: "parse error: unexpected end"},
		"OVERLOADED":   &recordedtest.Prometheus{Refusal: "query processing would load too many samples"},
		"SEVERAL":      &recordedtest.Prometheus{Demand: recordedtest.Hourly, Several: true},
		"BARE":         &recordedtest.Prometheus{},
		"PRICED":       serveOutlooks(snapshottest.WithCostRatio(snapshottest.Key("qwen"))),
		"BADHOURS":     serveOutlooks(snapshottest.WithBadHours(snapshottest.Key("qwen"))),
		"UNCALIBRATED": serveOutlooks(uncalibrated()),
		"MANY":         serveOutlooks(snapshottest.Many(many)...),
		"EMPTY":        serveOutlooks(),
		"HOSTILE":      serveOutlooks(hostile()),
		"CLUSTER":      clusterOf(),
		"KEDA":         clusterOf("keda"),
		"AILING":       clusterOf("ailing"),
		"FEW_RIGHTS":   clusterOf("few-rights"),
		"TWO":          clusterOf("two"),
		"COVERED":      clusterOf("covered"),
		"UNCOVERED":    clusterOf("covered", "covered-no-more"),
		"ODD_COVER":    clusterOf("covered", "covered-oddly"),
		"OTHER_LEAD":   clusterOf("covered", "healthy"),
		"RECORDED":     &recordedtest.Prometheus{Answer: recorded},
		"HTML":         http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello") }),
		"HANGS":        http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		"PLAIN":        http.NotFoundHandler(),
		"BUSY": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no endpoints", http.StatusServiceUnavailable)
		}),
		"OTHER": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			refuse(w,
				&apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{}, "", "", 0, false).ErrStatus)
		}),
		"FORBIDDEN": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			refuse(
				w,
				&apierrors.NewForbidden(schema.GroupResource{Resource: api.Resource}, "",
					errors.New("no role")).ErrStatus,
			)
		}),
	}
	standalone := startStandalone(t)
	// Commands change the process's folder while other scripts are read.
	scripts, err := filepath.Abs("testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: scripts,
		Setup: func(env *testscript.Env) error {
			if err := executable(env.WorkDir); err != nil {
				return err
			}
			env.Setenv("PATH", env.WorkDir+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("TZ", "UTC")
			env.Setenv("COUNT", strconv.Itoa(many))
			env.Setenv("STANDALONE", standalone)
			for name, handler := range servers {
				server := httptest.NewServer(handler)
				env.Defer(server.Close)
				env.Setenv(name, server.URL)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"forewarm":   forewarm,
			"kubeconfig": kubeconfig, "demand": demand,
		},
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// forewarm runs the program. The last argument may be <FILE, its standard input, or >FILE, for output that is too long for the
// script's log. Scripts change no other variable that it reads.
func forewarm(ts *testscript.TestScript, fails bool, args []string) {
	s := shell{folder: ts.MkAbs("."), env: map[string]string{"HOME": ts.Getenv("HOME")}}
	file := ""
	if last := len(args) - 1; last >= 0 && strings.HasPrefix(args[last], "<") {
		s.stdin, args = ts.ReadFile(args[last][1:]), args[:last]
	} else if last >= 0 && strings.HasPrefix(args[last], ">") {
		file, args = args[last][1:], args[:last]
	}
	got, err := s.run(context.Background(), args)
	ts.Check(err)
	if file != "" {
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(got.stdout), 0o600))
		got.stdout = ""
	}
	fmt.Fprint(ts.Stdout(), got.stdout)
	fmt.Fprintf(ts.Stderr(), "%sexit code %d\n", got.stderr, got.code)
	if fails != (got.code != 0) {
		ts.Fatalf("forewarm %q: exit code %d\n%s", args, got.code, got.stderr)
	}
}

// kubeconfig writes the file config with a context for each NAME=SERVER[@NAMESPACE]. The first is the current one.
func kubeconfig(ts *testscript.TestScript, _ bool, args []string) {
	current, _, _ := strings.Cut(args[0], "=")
	var clusters, contexts []string
	for _, arg := range args {
		name, server, _ := strings.Cut(arg, "=")
		server, namespace, _ := strings.Cut(server, "@")
		const entry = "{name: %s, context: {cluster: %[1]s, user: me, namespace: %s}}"
		clusters = append(clusters, fmt.Sprintf("{name: %s, cluster: {server: %q}}", name, server))
		contexts = append(contexts, fmt.Sprintf(entry, name, cmp.Or(namespace, "inference")))
	}
	const config = "{apiVersion: v1, kind: Config, users: [{name: me, user: {}}], current-context: %s,\n" +
		"clusters: [%s],\ncontexts: [%s]}\n"
	text := fmt.Sprintf(config, current, strings.Join(clusters, ", "), strings.Join(contexts, ", "))
	ts.Check(os.WriteFile(ts.MkAbs("config"), []byte(text), 0o600))
}

// demand writes a trace of so many minutes; with "gaps" ten of every ninety are missing, with "every other" half of them and with
// "late" the first 205. It is 0 with "zero".
func demand(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var text strings.Builder
	text.WriteString("t,load\n")
	for i := range n {
		at := time.Unix(int64(1767571200+60*i), 0)
		value := recordedtest.Hourly(at)
		switch mode := strings.Join(args[2:], " "); {
		case mode == "gaps" && i%90 >= 80, mode == "every other" && i%2 == 0, mode == "late" && i < 205:
			value = math.NaN()
		case mode == "zero":
			value = 0
		}
		fmt.Fprintf(&text, "%d,%s\n", at.Unix(), strings.TrimPrefix(fmt.Sprintf("%.6g", value), "NaN"))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text.String()), 0o600))
}

// limited is what a Prometheus knows of three replicas that come to their limit at 50 requests each, by what a query is about.
func limited(query string) func(at time.Time) float64 {
	switch {
	case strings.Contains(query, "running"):
		return recordedtest.Hourly
	case strings.Contains(query, "waiting"):
		return func(at time.Time) float64 { return max(recordedtest.Hourly(at)-150, 0) }
	case strings.Contains(query, "ready"):
		return func(time.Time) float64 { return 3 }
	}
	return nil
}

// recorded is what a Prometheus knows of a Forecast and of Forewarm, by what a query is about.
func recorded(query string) func(at time.Time) float64 {
	for part, value := range map[string]float64{"forewarm_served": 175, "forewarm_observed": 99, `state="wanted"`: 12, `state="ready"`: 11} {
		if strings.Contains(query, part) {
			return func(time.Time) float64 { return value }
		}
	}
	if strings.Contains(query, "num_requests_running") {
		return recordedtest.Hourly
	}
	return nil
}

// fleet is what a Prometheus knows of vLLMs: one is loaded every other day, which no one foresees in five days, and one is behind a
// gateway.
func fleetAnswer(query string) func(at time.Time) float64 {
	vllm := strings.Contains(query, "vllm:num_requests_running") && !strings.Contains(query, "nv_inference") &&
		strings.Contains(query, `owner_name="chat`)
	switch {
	case vllm && strings.Contains(query, `namespace="batch"`):
		return func(at time.Time) float64 { return float64(20 + 80*(at.Unix()/86400%2)) }
	case vllm, strings.Contains(query, "llm_d_epp_request_running") && strings.Contains(query, "chat-gateway"):
		return recordedtest.Hourly
	}
	return nil
}

// serveOutlooks answers as forewarm's inspection API does, at the moment of the test's snapshot.
func serveOutlooks(entries ...*snapshot.ForecastSnapshot) http.Handler {
	root := "/apis/" + api.GroupVersion().String()
	board := snapshottest.Snapshot(entries...)
	mux := http.NewServeMux()
	list := func(w http.ResponseWriter, r *http.Request) {
		entries := board.Entries(r.PathValue("namespace"))
		if text := r.URL.Query().Get("labelSelector"); text != "" {
			selector, err := labels.Parse(text)
			if err != nil {
				panic(err)
			}
			entries = slices.DeleteFunc(entries, func(e *snapshot.ForecastSnapshot) bool {
				return !selector.Matches(labels.Set(inspect.Outlook(e, snapshottest.Now()).Labels))
			})
		}
		answer(w, http.StatusOK, page(entries, r))
	}
	mux.HandleFunc("GET "+root+"/outlooks", list)
	mux.HandleFunc("GET "+root+"/namespaces/{namespace}/outlooks", list)
	mux.HandleFunc("GET "+root+"/namespaces/{namespace}/outlooks/{name}", func(w http.ResponseWriter, r *http.Request) {
		key := snapshot.Key{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
		entry := board.Get(key)
		if entry == nil {
			refuse(
				w,
				&apierrors.NewNotFound(schema.GroupResource{Group: api.GroupName, Resource: api.Resource},
					key.Name).ErrStatus,
			)
			return
		}
		answer(w, http.StatusOK, inspect.Outlook(entry, snapshottest.Now()))
	})
	return mux
}

// page is a part of a list, and where the next one begins.
func page(entries []*snapshot.ForecastSnapshot, r *http.Request) api.OutlookList {
	from, limit := count(r, "continue"), count(r, "limit")
	to := min(len(entries), from+limit)
	list := api.OutlookList{TypeMeta: metav1.TypeMeta{APIVersion: api.GroupVersion().String(), Kind: "OutlookList"}}
	if to < len(entries) {
		list.Continue = strconv.Itoa(to)
	}
	for _, e := range entries[from:to] {
		list.Items = append(list.Items, inspect.Outlook(e, snapshottest.Now()))
	}
	return list
}

// count is a number of the query, 0 where it is none.
func count(r *http.Request, name string) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil {
		return 0
	}
	return n
}

// hostile is a Forecast whose texts would drive the terminal that shows them.
func hostile() *snapshot.ForecastSnapshot {
	e := snapshottest.Invalid(snapshottest.Key("hostile"))
	e.Conditions[0].Message = "query \x1b]0;owned\a\x1b[2J and \u009b31m"
	return e
}

// uncalibrated is a Forecast whose objective no outcome calibrates.
func uncalibrated() *snapshot.ForecastSnapshot {
	e := snapshottest.WithObjective(snapshottest.Key("llama"))
	e.Objective = nil
	e.Conditions = append(e.Conditions, snapshot.Condition{
		Type: snapshot.ConditionUncalibrated, True: true, Reason: "FixedMargin", Message: "set spec.scaling.target",
	})
	return e
}

func refuse(w http.ResponseWriter, status *metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	answer(w, int(status.Code), status)
}

func answer(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", snapshottest.Now().Format(http.TimeFormat))
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(object); err != nil {
		panic(err)
	}
}
