package apiserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// pausable are Forecasts that can be paused.
type pausable map[snapshot.Key]bool

func (p pausable) Objects() (all []v1alpha1.Forecast) {
	for key := range p {
		var f v1alpha1.Forecast
		f.Namespace, f.Name = key.Namespace, key.Name
		all = append(all, f)
	}
	return all
}

func (p pausable) SetPaused(key snapshot.Key, paused bool) bool {
	_, found := p[key]
	if found {
		p[key] = paused
	}
	return found
}

// TestForecastFilesAcceptAPauseOnly: of everything that a client can send, only the annotation changes anything.
func TestForecastFilesAcceptAPauseOnly(t *testing.T) {
	llama := snapshot.Key{Namespace: "inference", Name: "llama"}
	files := pausable{llama: false}
	with := deps(snapshottest.Store())
	with.Forecasts = files
	server, err := apiserver.NewStandalone(apiserver.StandaloneConfig{}, with)
	if err != nil {
		t.Fatal(err)
	}
	startServer(t, server)
	waitLive(t, server.URL())
	const (
		path  = "/apis/forewarm.dev/v1alpha1/namespaces/inference/forecasts/llama"
		pause = `{"metadata": {"annotations": {"forewarm.dev/pause": "true"}}}`
		merge = "application/merge-patch+json"
	)
	for _, test := range []struct {
		name, method, path, kind, body string
		code                           int
		paused                         bool
	}{
		{"a pause", http.MethodPatch, path, merge, pause, 200, true},
		{"the end of it", http.MethodPatch, path, merge, strings.Replace(pause, `"true"`, "null", 1), 200, false},
		{"a dry run", http.MethodPatch, path + "?dryRun=All", merge, pause, 200, false},
		{"another word for true", http.MethodPatch, path, merge + "; charset=utf-8", strings.Replace(pause, "true", "1", 1), 200, true},
		{"no truth value", http.MethodPatch, path, merge, strings.Replace(pause, "true", "yes", 1), 400, true},
		{"another annotation", http.MethodPatch, path, merge, strings.Replace(pause, "pause", "other", 1), 400, true},
		{"a spec as well", http.MethodPatch, path, merge, strings.Replace(pause, "{", `{"spec": {"serve": "Forecast"}, `, 1), 400, true},
		{"another patch", http.MethodPatch, path, "application/json-patch+json", pause, 400, true},
		{"no type", http.MethodPatch, path, "", pause, 400, true},
		{"a large body", http.MethodPatch, path, merge, strings.Repeat(" ", 1<<20) + pause, 400, true},
		{"an unknown name", http.MethodPatch, path + "x", merge, strings.Replace(pause, `"true"`, "null", 1), 404, true},
		{"a deletion", http.MethodDelete, path, "", "", 405, true},
		{"a put", http.MethodPut, path, merge, pause, 405, true},
		{"a new one", http.MethodPost, strings.TrimSuffix(path, "/llama"), "application/json", "{}", 405, true},
		{"reading it", http.MethodGet, path, "", "", 200, true},
		{"reading an unknown one", http.MethodGet, path + "%0ax", "", "", 404, true},
		{"the list", http.MethodGet, strings.TrimSuffix(path, "/llama"), "", "", 200, true},
		{"the group", http.MethodGet, "/apis/forewarm.dev", "", "", 200, true},
		{"its status", http.MethodGet, path + "/status", "", "", 404, true},
	} {
		request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL()+test.path,
			strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", test.kind)
		response, err := apiPlain(t).Do(request)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if response.StatusCode != test.code || files[llama] != test.paused {
			t.Errorf(
				"%s: code %d, want %d; paused %v, want %v",
				test.name,
				response.StatusCode,
				test.code,
				files[llama],
				test.paused,
			)
		}
	}
}
