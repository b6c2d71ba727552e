package apiserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// A browser and curl get the front page, and clients of the API the list, as they prefer.
func TestFrontPageByAcceptHeader(t *testing.T) {
	base := startStandalone(t, snapshottest.Store(snapshottest.EveryState()...))
	const html, list = "<!DOCTYPE html>", `{"kind":"OutlookList",`
	for accept, want := range map[string]string{
		"": html, "*/*": html, "image/png": html, "application/json;q=0.5,text/html": html,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": html,
		"application/json": list, "application/json, */*": list, "application/json,text/html;q=0.5": list,
		"application/json;as=Table;v=v1;g=meta.k8s.io": `{"kind":"Table",`, "application/yaml": "apiVersion: inspect",
	} {
		got := get(t, apiPlain(t), base+"/", "Accept: "+accept)
		if got.code != http.StatusOK || !strings.HasPrefix(got.body, want) ||
			!strings.Contains(got.body, "falling-back") {
			t.Errorf("Accept: %s: %d, want %s: %.100s", accept, got.code, want, got.body)
		}
	}
}
