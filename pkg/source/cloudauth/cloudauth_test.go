package cloudauth_test

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	promconfig "github.com/prometheus/common/config"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

var at = time.Unix(1_700_000_040, 0).UTC()

// way is one way to get credentials: the YAML for it, in an environment that it sets.
type way func(c *cloud) string

func ways() map[string]way {
	return map[string]way{
		"sigv4 by a key": func(c *cloud) string { // The identity of the process is not used.
			c.t.Setenv("AWS_ACCESS_KEY_ID", "AKIDPOD")
			c.t.Setenv("AWS_SECRET_ACCESS_KEY", "s3cret-pod")
			file := c.file("secret", "s3cret-static\n")
			return "sigv4: {region: eu-central-1, access_key: AKIDSTATIC, secret_key_file: " + file + "}"
		},
		"sigv4 by the role of a service account": func(c *cloud) string {
			c.t.Setenv("AWS_ENDPOINT_URL_STS", c.URL)
			c.t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/r")
			c.t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", c.file("secret", "s3cret-jwt"))
			return "sigv4: {region: eu-central-1}"
		},
		"sigv4 by EKS Pod Identity": func(c *cloud) string {
			c.t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", c.URL+"/pod")
			c.t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", c.file("secret", "s3cret-jwt"))
			return "sigv4: {region: eu-central-1}"
		},
		"sigv4 by an assumed role": func(c *cloud) string {
			c.t.Setenv("AWS_ENDPOINT_URL_STS", c.URL)
			c.t.Setenv("AWS_ACCESS_KEY_ID", "AKIDSTATIC")
			c.t.Setenv("AWS_SECRET_ACCESS_KEY", "s3cret-static")
			return "sigv4: {region: eu-central-1, role_arn: 'arn:aws:iam::2:role/r', external_id: x}"
		},
		"google_iam by a key": func(c *cloud) string {
			key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(c.key))})
			text := must(json.Marshal(map[string]string{
				"type": "service_account", "client_email": "a@b", "token_uri": c.URL + "/google",
				"private_key": string(key),
			}))
			return "google_iam: {credentials_file: " + c.file("secret", string(text)) + "}"
		},
		"google_iam by the metadata server": func(c *cloud) string {
			c.t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(c.URL, "http://"))
			return "google_iam: {}"
		},
		"google_iam by workload identity federation": func(c *cloud) string {
			text := fmt.Sprintf(`{"type": "external_account", "audience": "a", "token_url": "%s/federation",
				"subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "credential_source": {"file": "%s"}}`,
				c.URL, c.file("secret", "s3cret-jwt"))
			c.t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", c.file("federation", text))
			return "google_iam: {}"
		},
		"azuread by a client secret": func(c *cloud) string {
			return fmt.Sprintf("azuread: {oauth: {client_id: %s, tenant_id: %[1]s, client_secret_file: %s}}",
				newID(), c.file("secret", "s3cret-app"))
		},
		"azuread by workload identity": func(c *cloud) string {
			c.t.Setenv("AZURE_FEDERATED_TOKEN_FILE", c.file("secret", "s3cret-jwt"))
			return fmt.Sprintf("azuread: {workload_identity: {client_id: %s, tenant_id: %[1]s}}", newID())
		},
		"azuread by managed identity": func(c *cloud) string {
			c.t.Setenv("IDENTITY_ENDPOINT", c.URL+"/msi")
			c.t.Setenv("IDENTITY_HEADER", "s3cret-header")
			return "azuread: {managed_identity: {client_id: " + newID() + "}}"
		},
	}
}

// newID returns an ID of an application that no other test has, because a library keeps tokens by it.
func newID() string {
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", time.Now().UnixNano()&0xffffffffffff)
}

// open opens the store of a cloud.
func open(t *testing.T, c *cloud, auth string, timeout time.Duration) *prometheus.Source {
	t.Helper()
	config := prometheus.Config{URL: c.URL + "/store?a=b%20c", Timeout: timeout, Hidden: true}
	must(0, config.Auth.Set(auth))
	headers := map[string]promconfig.Header{"X-Scope": {Values: []string{"x"}}}
	config.HTTP.HTTPHeaders = &promconfig.Headers{Headers: headers}
	source := must(prometheus.New(config))
	t.Cleanup(source.Close)
	return source
}

func query(t *testing.T, source *prometheus.Source) error {
	t.Helper()
	_, err := source.Fetch(t.Context(), refresh.Query{Expr: "sum(up)", From: at, To: at, Step: time.Minute})
	return err
}

// checkError wants an error that says something, and that has no secret.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	text := fmt.Sprint(err)
	if !errors.Is(err, series.ErrUnavailable) || !strings.Contains(text, want) || strings.Contains(text, "s3cret") {
		t.Errorf("%v, want that the source is unavailable, %q and no secret", err, want)
	}
}

// Each store, by each way to its credentials: it answers, and after every trouble it answers again without a restart.
func TestStores(t *testing.T) {
	codes := map[string]string{
		"sigv4 by an assumed role":     "(ExpiredToken)",
		"azuread by workload identity": "(AADSTS700024)",
		"google_iam by a key":          "(invalid_client)",
	}
	for name, way := range ways() {
		for i, trouble := range []struct {
			tokens, store string
			ahead         time.Duration
			want          string
		}{
			{},
			{tokens: "refuse", want: "answered 401 " + codes[name]},
			{tokens: "hang", want: "did not answer in time"},
			{tokens: "redirect", want: "redirects to another address"},
			{tokens: "page", want: "HTML page"},
			{store: "refuse", want: "client error: 403: "},
			{store: "redirect", want: "the server redirects"},
			{store: "page", want: "HTML page"},
			{store: "refuse", ahead: 12 * time.Minute, want: "correct the clock of the node"},
		} {
			ownClient := strings.Contains(name, "metadata") &&
				(trouble.tokens == "redirect" || trouble.tokens == "page")
			if trouble.tokens != "" && strings.HasSuffix(name, "v4 by a key") || ownClient {
				continue // It requests no token, or Google's library requests it without a credential.
			}
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				c := newCloud(t)
				timeout := 10 * time.Second
				if trouble.tokens == "hang" {
					timeout = time.Second
				}
				source := open(t, c, way(c), timeout)
				c.with(func() { c.tokens, c.store, c.ahead = trouble.tokens, trouble.store, trouble.ahead })
				began := time.Now()
				if err := query(t, source); trouble.want != "" {
					checkError(t, err, strings.TrimSpace(trouble.want))
				}
				took := time.Since(began)
				if trouble.tokens == "hang" && took > 900*time.Millisecond || c.elsewhere > 0 {
					t.Errorf("%v, %d requests elsewhere; want half the timeout, and none", took, c.elsewhere)
				}
				c.with(func() { c.tokens, c.store, c.ahead = "", "", 0 })
				if trouble.ahead != 0 {
					t.Log(query(t, source)) // AWS' library learns the clock of STS from its answers.
				}
				if err := query(t, source); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A file with a secret that is wrong, empty or missing, or was replaced.
func TestFilesWithSecrets(t *testing.T) {
	for name, way := range ways() {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t)
			auth := way(c)
			good, err := os.ReadFile(filepath.Join(c.dir, "secret"))
			if err != nil {
				t.Skip("it needs no file")
			}
			source := open(t, c, auth, 10*time.Second)
			for _, text := range []string{"s3cret-of-another", " \n"} {
				c.file("secret", text)
				checkError(t, query(t, source), "")
			}
			must(0, os.Remove(filepath.Join(c.dir, "secret")))
			checkError(t, query(t, source), "credentials (")
			c.file("secret", string(good))
			if err := query(t, source); err != nil {
				t.Error(err)
			}
		})
	}
}

// Tokens are kept, and replaced before they expire.
func TestTokensAreRenewed(t *testing.T) {
	for name, way := range ways() {
		for lifetime, want := range map[int]int{3600: 1, 1: 2} {
			t.Run(fmt.Sprint(name, lifetime), func(t *testing.T) {
				c := newCloud(t)
				c.lifetime = lifetime
				source := open(t, c, way(c), 10*time.Second)
				err := query(t, source)
				if lifetime == 1 && strings.HasPrefix(name, "google") { // The others renew it earlier.
					time.Sleep(1100 * time.Millisecond)
				}
				err = errors.Join(err, query(t, source))
				if noToken := strings.HasSuffix(name, "v4 by a key"); err != nil || c.issued != want && !noToken {
					t.Errorf("%v, %d tokens, want %d", err, c.issued, want)
				}
			})
		}
	}
}

// Every request is signed on its own: a query that is repeated, and one that the store does not take as a POST.
func TestEveryRequestIsSigned(t *testing.T) {
	c := newCloud(t)
	c.store = "not by POST"
	source := open(t, c, ways()["sigv4 by a key"](c), 10*time.Second)
	err := query(t, source)
	time.Sleep(1100 * time.Millisecond) // Signatures have a time in seconds.
	if err = errors.Join(err, query(t, source)); err != nil || c.queries != 4 || c.signatures[0] == c.signatures[1] {
		t.Errorf("%v after %d requests, signed by %q; want 4 with their own", err, c.queries, c.signatures)
	}
}

// The endpoints of a node have addresses of IPv6, too. No proxy sees the token of the pod.
func TestNoProxyForEndpointsOfTheNode(t *testing.T) {
	c := newCloud(t)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://[100::23]/v1/credentials") // EKS has fd00:ec2::23.
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", c.file("secret", "s3cret-jwt"))
	checkError(t, query(t, open(t, c, "sigv4: {region: eu-central-1}", time.Second)), "100::23 ")
}

// What is refused, without a secret in the message.
func TestConfigsAreRefused(t *testing.T) {
	for _, c := range []struct{ auth, url, want string }{
		{"", "https://h", "write one of sigv4, azuread and google_iam"},
		{"sigv4:", "https://h", "write one of"},
		{"google_iam: s3cret-value", "https://h", "line 1: cannot unmarshal"},
		{"sigv4: {}\ngoogle_iam: {}", "https://h", "exclude each other"},
		{"sigv4: {region: r, access_key: a, secret_key: s3cret}", "https://h", "secret_key not found"},
		{"sigv4: {region: r, access_key: a}", "https://h", "set both access_key and secret_key_file"},
		{"sigv4: {access_key: a, secret_key_file: f}", "https://h", "set region"},
		{"sigv4: {region: r, external_id: x}", "https://h", "role_arn"},
		{"azuread: {}", "https://h", "must provide"},
		{"azuread: {oauth: {client_id: a, client_secret: s3cret}}", "https://h", "client_secret not found"},
		{"azuread: {oauth: {client_id: a, tenant_id: b}}", "https://h", "client_secret_file"},
		{"azuread: {managed_identity: {}, workload_identity: {client_id: a}}", "https://h", "multiple"},
		{"azuread: {managed_identity: {}, cloud: Moon}", "https://h", "cloud"},
		{"google_iam: {}", "http://h", "HTTPS only"},
		{"google_iam: {}", "https://u:s3cret@h", "exclude each other"},
		{"google_iam: {}", "http://[::1]:1", ""},
	} {
		config := prometheus.Config{URL: c.url}
		must(0, config.Auth.Set(c.auth))
		got := fmt.Sprint(config.Validate())
		if !strings.Contains(got, c.want) || strings.Contains(got, "s3cret") || (got == "<nil>") != (c.want == "") {
			t.Errorf("%s at %s: %v, want %q", c.auth, c.url, got, c.want)
		}
		config.HTTP.BearerTokenFile = "f"
		if err := config.Validate(); err == nil {
			t.Errorf("%s: a token is accepted, too", c.auth)
		}
	}
}

// A key that requests its tokens elsewhere than from Google makes Forewarm send no request there.
func TestTokensComeFromGoogle(t *testing.T) {
	for _, c := range []struct{ uri, want string }{
		{"http://10.0.0.1:8080/x", `token_uri of the key is at "10.0.0.1", which is not Google`},
		{"https://kubernetes.default.svc/token", `"kubernetes.default.svc", which is not Google`},
		{"https://googleapis.com.example/token", "which is not Google"},
		{"https://oauth2.googleapis.com@example.com/token", `"example.com", which is not Google`},
		{"http://oauth2.googleapis.com/token", "which is not Google"},
		{"://", "token_uri of the key is not a URL"},
	} {
		cloud := newCloud(t)
		const format = `{"type": "service_account", "client_email": "a@b", "private_key": "s3cret", "token_uri": %q}`
		key := fmt.Sprintf(format, c.uri)
		source := open(t, cloud, "google_iam: {credentials_file: "+cloud.file("secret", key)+"}", 10*time.Second)
		checkError(t, query(t, source), c.want)
	}
	cloud := newCloud(t)
	source := open(t, cloud, "google_iam: {credentials_file: "+cloud.file("secret", "s3cret")+"}", 10*time.Second)
	checkError(t, query(t, source), "the key of the service account is not JSON")
}
