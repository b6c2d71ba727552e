package prometheus

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	promconfig "github.com/prometheus/common/config"
)

// Config says where the server is and what it may cost. The zero value of every field but URL is its default.
type Config struct {
	// URL of the server with whatever stands before /api/v1, "http://prometheus.monitoring:9090" or
	// "https://mimir.example/prometheus". Its query string is sent with every request.
	URL string
	// BearerTokenFile holds the token to send; it is read again for every request.
	BearerTokenFile string
	// Headers to send, {"X-Scope-OrgID": "team-a"}.
	Headers map[string]string
	// CAFile holds the certificates that the server's is checked against; empty means the system's.
	CAFile string
	// CertFile and KeyFile are the client's certificate, both or neither; they are read again when they change.
	CertFile, KeyFile string

	// Timeout of one request; default 30 s. A Fetch makes one for every 10,000 points.
	Timeout time.Duration
	// MaxBytes is the largest answer to one request; default 16 MiB. A full piece of one series is about 400 KiB.
	MaxBytes int64
	// MaxPoints is the longest range of one Fetch in steps; default 1,000,000. Beyond it memory is at stake, 8 bytes a
	// point.
	MaxPoints int
	// Lookback is how long a sample counts after its time where none follows, sent as lookback_delta; default 0 leaves
	// it to the server (usually 5 m). Set it to two or three scrape intervals to see short gaps; engines that do not
	// know the parameter ignore it.
	Lookback time.Duration
}

const (
	defaultTimeout   = 30 * time.Second
	defaultMaxBytes  = 16 << 20
	defaultMaxPoints = 1_000_000
)

// Validate reports every problem of the configuration.
func (c Config) Validate() error {
	problems := []error{c.validateURL()}
	if (c.CertFile == "") != (c.KeyFile == "") {
		problems = append(problems, errors.New("client certificate and key: set both or neither"))
	}
	if c.Timeout < 0 || c.MaxBytes < 0 || c.MaxPoints < 0 || c.Lookback < 0 {
		problems = append(problems, errors.New("timeout, lookback and limits must not be negative"))
	}
	for name := range c.Headers {
		if _, ok := promconfig.ReservedHeaders[http.CanonicalHeaderKey(name)]; ok {
			problems = append(problems, fmt.Errorf("header %q is not yours to set", name))
		}
	}
	return errors.Join(problems...)
}

func (c Config) validateURL() error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil:
		// What is wrong with it is not said, as that may be a part of a password.
		return errors.New(
			"prometheus URL: it is none: want http://HOST:PORT or https://HOST:PORT, and in a password %40 for " +
				"@ and the like",
		)
	case !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "":
		return fmt.Errorf("prometheus URL %q: want http://HOST:PORT or https://HOST:PORT", Redacted(c.URL))
	}
	return nil
}

// Redacted is a URL as it may be shown: without user and password, and without the query, in which tokens stand.
func Redacted(rawURL string) string {
	u, err := url.Parse(rawURL)
	// Without a host, and where a slash stands in it, a password is read as something else.
	if err != nil || u.Host == "" || strings.Contains(u.Path, "@") {
		return "a Prometheus"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// cause is an error without the URL that it is about, as that may hold secrets.
func cause(err error) error {
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

// client is the API's HTTP client: credentials inside, limits on what comes back outside of them.
func (c Config) client() (api.Client, error) { //nolint:ireturn // The library's own constructor returns it.
	settings := promconfig.HTTPClientConfig{
		TLSConfig: promconfig.TLSConfig{
			CAFile: c.CAFile, CertFile: c.CertFile, KeyFile: c.KeyFile, MinVersion: promconfig.TLSVersions["TLS12"],
		},
		EnableHTTP2: true,
		ProxyConfig: promconfig.ProxyConfig{ProxyFromEnvironment: true},
	}
	if c.BearerTokenFile != "" {
		settings.Authorization = &promconfig.Authorization{Type: "Bearer", CredentialsFile: c.BearerTokenFile}
	}
	if len(c.Headers) > 0 {
		headers := make(map[string]promconfig.Header, len(c.Headers))
		for name, value := range c.Headers {
			headers[name] = promconfig.Header{Secrets: []promconfig.Secret{promconfig.Secret(value)}}
		}
		settings.HTTPHeaders = &promconfig.Headers{Headers: headers}
	}
	transport, err := promconfig.NewRoundTripperFromConfig(settings, "forewarm")
	if err != nil {
		return nil, fmt.Errorf("prometheus client: %w", err)
	}
	return api.NewClient(api.Config{Address: c.URL, Client: &http.Client{
		Transport:     guard{next: transport, maxBytes: c.MaxBytes},
		CheckRedirect: func(to *http.Request, _ []*http.Request) error { return &redirectError{to: to.URL} },
	}})
}
