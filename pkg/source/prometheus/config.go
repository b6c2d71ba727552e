// Package prometheus fetches a query's history from the API of Prometheus, or of Thanos, Mimir or VictoriaMetrics.
//
// A Source answers a query with one series on the query's grid, NaN where there is no sample. A range that is too long
// for one request is fetched in pieces. Values are returned unchanged, infinite and negative ones too; the loop decides
// which of them are demand. If the server is down or slow, or returns several series, a part of an answer, a login page
// or too much, the error wraps a sentinel of package [series] and has an action.
//
// Some engines return a part of the data while a store behind them is down. Thanos then adds a warning, also with
// ?partial_response=false, and vmselect of VictoriaMetrics the field isPartial. Such an answer is an error. A store that
// the engine itself has forgotten cannot be seen here: docs/stores.md has the settings.
package prometheus

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	promconfig "github.com/prometheus/common/config"
	"golang.org/x/net/http/httpguts"

	"github.com/forewarm/forewarm/pkg/source/cloudauth"
)

// Config is the server and its limits. The zero value of every field but URL is its default.
type Config struct {
	// URL of the server without /api/v1, "http://prometheus.monitoring:9090" or
	// "https://mimir.example/prometheus". Its query string is sent with every request.
	URL string
	// HTTP is how the server is reached: credentials, certificates, headers, proxy. Files are read again when they
	// change. Redirects are never followed, whatever it says.
	HTTP promconfig.HTTPClientConfig
	// Auth adds the credentials of a cloud, for its managed Prometheus.
	Auth cloudauth.Config

	// Hidden keeps the server's address out of errors, which those read in statuses who need not know it.
	Hidden bool

	// Timeout of one request; default 30 s. A Fetch makes one for every 10,000 points.
	Timeout time.Duration
	// MaxBytes is the largest answer to one request; default 16 MiB. No more is read of it than two series of the asked length
	// can have: at most 1.4 MiB. A full piece of one series is about 400 KiB.
	MaxBytes int64
	// MaxPoints is the longest range of one Fetch in steps, 8 bytes of memory each; default 1,000,000.
	MaxPoints int
	// Lookback is how long a sample counts if none follows, sent as lookback_delta, which some engines ignore; default
	// 0 is the server's own (usually 5 m). Set it to two or three scrape intervals to see short gaps.
	Lookback time.Duration

	// auth is the transport for Auth, which knows the secrets that it sent.
	auth *cloudauth.Transport
}

// maxTokenWait is how long a request waits for the credentials of a cloud, at most half of its own timeout.
const maxTokenWait = 10 * time.Second

const (
	defaultTimeout   = 30 * time.Second
	defaultMaxBytes  = 16 << 20
	defaultMaxPoints = 1_000_000
)

// Validate reports every problem of the configuration.
func (c Config) Validate() error {
	problems := []error{c.validateURL(), c.validateHTTP(), c.validateAuth()}
	if c.Timeout < 0 || c.MaxBytes < 0 || c.MaxPoints < 0 || c.Lookback < 0 {
		problems = append(problems, errors.New("timeout, lookback and limits must not be negative"))
	}
	return errors.Join(problems...)
}

func (c Config) validateURL() error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil:
		// The cause is not reported, because it may quote a part of a password.
		return errors.New("prometheus URL: not a valid URL: expected http://HOST:PORT or https://HOST:PORT; " +
			"escape special characters in a password, for example write %40 for @")
	case !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "":
		return fmt.Errorf("prometheus URL %q: expected http://HOST:PORT or https://HOST:PORT", RedactedURL(c.URL))
	}
	return nil
}

// RedactedURL is a URL without user, password and query, which may have tokens.
func RedactedURL(rawURL string) string {
	u, err := url.Parse(rawURL)
	// Without a host, or with a slash in the password, the password is parsed as a different part of the URL.
	if err != nil || u.Host == "" || strings.Contains(u.Path, "@") {
		return "a Prometheus"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// withoutURL returns an error without its URL, which may contain secrets.
func withoutURL(err error) error {
	if about, ok := errors.AsType[*url.Error](err); ok {
		return about.Err
	}
	return err
}

func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.MaxBytes = cmp.Or(c.MaxBytes, defaultMaxBytes)
	c.MaxPoints = cmp.Or(c.MaxPoints, defaultMaxPoints)
	return c
}

// validateHTTP also checks what the library would only notice when it sends a request.
func (c Config) validateHTTP() error {
	problems := []error{c.HTTP.Validate()}
	if (c.HTTP.TLSConfig.CertFile == "") != (c.HTTP.TLSConfig.KeyFile == "") {
		problems = append(problems, errors.New("client certificate and key: set both or neither"))
	}
	if c.HTTP.HTTPHeaders == nil {
		return errors.Join(problems...)
	}
	for name, header := range c.HTTP.HTTPHeaders.Headers {
		if !httpguts.ValidHeaderFieldName(name) {
			problems = append(problems, fmt.Errorf("header %.64q: this is not a valid header name", name))
		}
		for _, value := range header.Values {
			problems = append(problems, checkHeaderValue(name, value))
		}
		for _, value := range header.Secrets {
			problems = append(problems, checkHeaderValue(name, string(value)))
		}
	}
	return errors.Join(problems...)
}

// validateAuth checks what the credentials of a cloud need.
func (c Config) validateAuth() error {
	problems := []error{c.Auth.Validate()}
	if !c.Auth.Enabled() {
		return problems[0]
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		u = &url.URL{} // See validateURL.
	}
	h := c.HTTP
	basic := u.User != nil || h.BasicAuth != nil
	if basic || h.Authorization != nil || h.OAuth2 != nil || h.BearerToken != "" || h.BearerTokenFile != "" {
		problems = append(problems, errors.New(
			"a token or a password and the credentials of a cloud exclude each other: keep one"))
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && (ip == nil || !ip.IsLoopback()) {
		problems = append(problems, errors.New(
			"prometheus URL: the credentials of a cloud are sent over HTTPS only: write https://"))
	}
	return errors.Join(problems...)
}

// checkHeaderValue rejects a value with a line break, which would begin another header. The value may be a secret.
func checkHeaderValue(name, value string) error {
	if httpguts.ValidHeaderFieldValue(value) {
		return nil
	}
	return fmt.Errorf("header %.64q: its value has a line break or a control character: remove that character", name)
}

// client is the HTTP client of the API, with credentials and with limits on answers.
func (c Config) client() (api.Client, *cloudauth.Transport, error) { //nolint:ireturn // The library's own constructor returns it.
	settings := c.HTTP
	settings.TLSConfig.MinVersion = max(settings.TLSConfig.MinVersion, promconfig.TLSVersions["TLS12"])
	// Validate moves a bearer token to where the transport reads it.
	if err := settings.Validate(); err != nil {
		return nil, nil, fmt.Errorf("prometheus client: %w", err)
	}
	headers := settings.HTTPHeaders
	if c.Auth.Enabled() {
		settings.HTTPHeaders = nil
	}
	transport, err := promconfig.NewRoundTripperFromConfig(settings, "forewarm")
	if err != nil {
		return nil, nil, fmt.Errorf("prometheus client: %w", err)
	}
	var auth *cloudauth.Transport
	if c.Auth.Enabled() { // A signature is made last, so that it covers the headers.
		auth = cloudauth.New(c.Auth, transport, min(maxTokenWait, c.Timeout/2))
		transport = auth
		if headers != nil {
			transport = promconfig.NewHeadersRoundTripper(headers, transport)
		}
	}
	client, err := api.NewClient(api.Config{Address: c.URL, Client: &http.Client{
		Transport:     boundedTransport{next: transport, maxBytes: c.MaxBytes},
		CheckRedirect: func(to *http.Request, _ []*http.Request) error { return &redirectError{to: to.URL} },
	}})
	return client, auth, err
}
