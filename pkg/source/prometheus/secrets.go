package prometheus

import (
	"encoding/base64"
	"net/url"
	"os"
	"strconv"
	"strings"
)

const (
	// redactedText replaces a secret.
	redactedText = "xxxxx"
	// minSecret is the length of the shortest secret: to redact "true" would only garble the text.
	minSecret = 6
)

// redact removes the secrets from a message of the server, or of a proxy before it. Some repeat the request that they
// refuse, and errors are in logs, in statuses and on pages.
func (c Config) redact(text string) string {
	for _, secret := range c.secrets() {
		if len(secret) < minSecret {
			continue
		}
		quoted := strconv.Quote(secret)
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), quoted[1 : len(quoted)-1]} {
			text = strings.ReplaceAll(text, form, redactedText)
		}
	}
	return text
}

// secrets are the parts of a request that may be confidential.
func (c Config) secrets() []string {
	var all []string
	if u, err := url.Parse(c.URL); err == nil {
		if u.User != nil {
			name := u.User.Username()
			password, _ := u.User.Password()
			all = append(all, base64.StdEncoding.EncodeToString([]byte(name+":"+password)), password, name)
		}
		for _, values := range u.Query() {
			all = append(all, values...)
		}
		all = append(all, u.RawQuery, u.Fragment)
	}
	for _, value := range c.Headers {
		all = append(all, value)
	}
	if c.BearerTokenFile != "" {
		if token, err := os.ReadFile(c.BearerTokenFile); err == nil {
			all = append(all, strings.TrimSpace(string(token)))
		}
	}
	return all
}

// redactedError is an error with a text without secrets.
type redactedError struct {
	error

	text string
}

// Error implements error.
func (e redactedError) Error() string { return e.text }

// Unwrap is for errors.Is.
func (e redactedError) Unwrap() error { return e.error }
