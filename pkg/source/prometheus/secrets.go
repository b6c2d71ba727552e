package prometheus

import (
	"encoding/base64"
	"net/url"
	"os"
	"strconv"
	"strings"
)

const (
	// hidden stands where a secret stood.
	hidden = "xxxxx"
	// shortest is the length from which on something counts as a secret: hiding "true" would only spoil the text.
	shortest = 6
)

// hide takes the secrets out of what the server, or a proxy before it, says. Some repeat the request that they refuse, and an
// error stands in logs, in statuses and on pages.
func (c Config) hide(text string) string {
	for _, secret := range c.secrets() {
		if len(secret) < shortest {
			continue
		}
		quoted := strconv.Quote(secret)
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), quoted[1 : len(quoted)-1]} {
			text = strings.ReplaceAll(text, form, hidden)
		}
	}
	return text
}

// secrets are what the server is told beside the query.
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

// hiddenError says what an error says, without the secrets.
type hiddenError struct {
	error

	text string
}

// Error implements error.
func (e hiddenError) Error() string { return e.text }

// Unwrap is for errors.Is.
func (e hiddenError) Unwrap() error { return e.error }
