package prometheus

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"os"
	"strconv"
	"strings"
)

const (
	// redactedText replaces a secret.
	redactedText = "xxxxx"
	// minSecret is the minimum length of a text that is redacted. To redact a word like "true" would only garble the message.
	minSecret = 6
)

// redact removes secrets from a message of the server or of a proxy before it. Some servers repeat the request that they reject, and errors
// appear in logs, in statuses and on pages.
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

// urlSecrets returns the parts of the URL that may be confidential.
func (c Config) urlSecrets() []string {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil
	}
	all := []string{u.RawQuery, u.Fragment}
	if u.User != nil {
		password, _ := u.User.Password()
		all = append(all, basicSecrets(u.User.Username(), password)...)
	}
	for _, values := range u.Query() {
		all = append(all, values...)
	}
	if c.Hidden {
		all = append(all, u.Host, u.Hostname())
	}
	return all
}

// secrets returns the parts of a request that may be confidential.
func (c Config) secrets() []string {
	all := c.urlSecrets()
	if c.auth != nil {
		all = append(all, c.auth.Secrets()...)
	}
	if basic := c.HTTP.BasicAuth; basic != nil {
		name := cmp.Or(basic.Username, contentOf(basic.UsernameFile))
		all = append(all, basicSecrets(name, cmp.Or(string(basic.Password), contentOf(basic.PasswordFile)))...)
	}
	if a := c.HTTP.Authorization; a != nil {
		all = append(all, string(a.Credentials), contentOf(a.CredentialsFile))
	}
	if o := c.HTTP.OAuth2; o != nil {
		all = append(all, string(o.ClientSecret), contentOf(o.ClientSecretFile))
	}
	all = append(all, string(c.HTTP.BearerToken), contentOf(c.HTTP.BearerTokenFile))
	if c.HTTP.HTTPHeaders == nil {
		return all
	}
	for _, header := range c.HTTP.HTTPHeaders.Headers {
		all = append(all, header.Values...)
		for _, value := range header.Secrets {
			all = append(all, string(value))
		}
		for _, file := range header.Files {
			all = append(all, contentOf(file))
		}
	}
	return all
}

// basicSecrets returns a user and a password, separately and in the form in which they are sent.
func basicSecrets(name, password string) []string {
	return []string{base64.StdEncoding.EncodeToString([]byte(name + ":" + password)), password, name}
}

// contentOf returns the content of a file with a secret; empty if there is none.
func contentOf(file string) string {
	if file == "" {
		return ""
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
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
