package prometheus_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	promconfig "github.com/prometheus/common/config"

	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Secrets that stand in a URL, in a header or in a file are in no error, whatever goes wrong.
func TestErrorsHoldNoSecrets(t *testing.T) {
	const secret = "hunter2"
	answers := func(status int) string {
		s := httptest.NewServer(answering(status))
		t.Cleanup(s.Close)
		return s.URL
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	token := t.TempDir() + "/token"
	write(t, token, secret)
	with := func(url string) string {
		return strings.Replace(url, "http://", "http://user:"+secret+"@", 1) + "/prom?token=" + secret + "#" + secret
	}
	for name, url := range map[string]string{
		"no server listens":   with(closed.URL),
		"no such host":        with("http://no-such-host.invalid:9090"),
		"refused":             with(answers(http.StatusForbidden)),
		"an error":            with(answers(http.StatusInternalServerError)),
		"not TLS":             strings.Replace(with(answers(http.StatusOK)), "http://", "https://", 1),
		"another scheme":      "ftp://user:" + secret + "@host/?token=" + secret,
		"no host":             "http:///?token=" + secret,
		"a password unquoted": "http://user:" + secret + "#@host:9090",
		"a space in it":       "http://user:" + secret + " @host:9090",
	} {
		c := prometheus.Config{
			URL:     url,
			HTTP:    promconfig.HTTPClientConfig{BearerTokenFile: token, HTTPHeaders: header("X-Api-Key", secret)},
			Timeout: 5 * time.Second,
		}
		source, err := prometheus.New(c)
		if err == nil {
			at := time.Unix(1_700_000_000, 0).UTC()
			_, err = source.Fetch(t.Context(), refresh.Query{Expr: "up", From: at, To: at, Step: time.Second})
			source.Close()
		}
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want an error without the secret", name, err)
		}
	}
}

// What tenants read in a status does not say where the server is.
func TestErrorsHoldNoAddress(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	elsewhere := httptest.NewServer(http.RedirectHandler("http://login.internal/", http.StatusFound))
	t.Cleanup(elsewhere.Close)
	for name, test := range map[string]struct{ url, says string }{
		"no server listens": {closed.URL, "refused"},
		"no such host":      {"http://prometheus.no-such-host.invalid:9090", "the host was not found"},
		"no series":         {"", "metric exists"},
		"not TLS":           {"https", "HTTPS"},
		"redirected":        {elsewhere.URL, "redirects"},
	} {
		source := source(t, answeringBody(matrix("")), func(c *prometheus.Config) {
			c.Hidden, c.Timeout = true, 5*time.Second
			switch test.url {
			case "":
			case "https":
				c.URL = strings.Replace(c.URL, "http://", "https://", 1)
			default:
				c.URL = test.url
			}
		})
		_, err := source.Fetch(t.Context(), query(3))
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Fatalf("%s: %v, want it to say %q", name, err, test.says)
		}
		for _, address := range []string{"127.0.0.1", "no-such-host", "http://", "https://", "login.internal"} {
			if strings.Contains(err.Error(), address) {
				t.Errorf("%s: %v, which names %s", name, err, address)
			}
		}
	}
}

func answering(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", code) }
}
