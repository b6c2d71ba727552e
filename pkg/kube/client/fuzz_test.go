package client_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/kube/client"
)

// Whatever answers at the address that was named, asking ends, with outlooks or with an error that repeats little of it.
func FuzzOutlooks(f *testing.F) {
	f.Add([]byte(`{"kind":"OutlookList","items":[{"metadata":{"name":"a"},"status":{"served":1}}]}`), http.StatusOK)
	f.Add([]byte(`{"metadata":{"continue":"a"},"items":[{}]}`), http.StatusOK)
	f.Add([]byte(`{"kind":"Status","message":"not here","reason":"NotFound","details":{"name":"a"},"code":404}`), 404)
	f.Add([]byte(`{"kind":"Status","message":"`+strings.Repeat("x", 5000)+`"}`), 500)
	f.Add([]byte("<html>"), http.StatusOK)
	f.Add([]byte(`{"items":3}`), http.StatusOK)
	f.Add([]byte("null"), http.StatusServiceUnavailable)
	var body atomic.Pointer[[]byte]
	var code, asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(int(code.Load()))
		w.Write(*body.Load()) //nolint:errcheck // The client may have hung up.
	}))
	f.Cleanup(server.Close)
	c, err := client.New(&rest.Config{Host: server.URL, Timeout: 10 * time.Second}, "inference")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte, status int) {
		if status < 200 || status > 599 || status/100 == 3 {
			t.Skip("no answer, or that of another address")
		}
		body.Store(&answer)
		code.Store(int64(status))
		asked.Store(0)
		list, _, err := c.Outlooks(t.Context(), "", "")
		if asked.Load() > 2 || err == nil && list == nil {
			t.Fatalf("%q: asked %d times, %v, %v", answer, asked.Load(), list, err)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Fatalf("%q: an error of %d bytes", answer, len(err.Error()))
		}
		if _, _, err := c.Outlook(t.Context(), "inference", "a"); err != nil && len(err.Error()) > 1000 {
			t.Fatalf("%q: an error of %d bytes", answer, len(err.Error()))
		}
	})
}
