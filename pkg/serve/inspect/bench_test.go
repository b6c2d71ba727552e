package inspect_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// One part of a list of 1,000, as kubectl asks for it.
func BenchmarkListPart(b *testing.B) {
	s := outlooks(b, snapshottest.Store(snapshottest.Many(1000)...))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.List(b.Context(), &internalversion.ListOptions{Limit: 500}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPage(b *testing.B) {
	connecter, ok := storages(b, everyState())["outlooks/page"].(rest.Connecter)
	if !ok {
		b.Fatal("no connecter")
	}
	b.ReportAllocs()
	for b.Loop() {
		handler, err := connecter.Connect(request.WithNamespace(b.Context(), "inference"), "ready", nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	}
}
