package cloudauth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const entra = "login.microsoftonline.com"

// playing is the cloud whose handler answers for Microsoft Entra.
var playing atomic.Pointer[cloud]

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestMain gives the process a proxy and a certificate authority, by which the endpoints of Entra are on this machine: its library
// accepts neither plain HTTP nor another authority.
func TestMain(m *testing.M) {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{entra}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	certificate := must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))
	dir := must(os.MkdirTemp("", ""))
	roots := must(os.Create(filepath.Join(dir, "roots.pem")))
	must(roots.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})))
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		playing.Load().answer(w, r)
	}))
	pair := tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	secure.StartTLS()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != entra+":443" {
			log.Fatal("a request to ", r.Host)
		}
		near, _, err := http.NewResponseController(w).Hijack()
		must(0, err)
		far := must(net.Dial("tcp", secure.Listener.Addr().String()))
		must(io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n"))
		go io.Copy(far, near) //nolint:errcheck // Ends with either connection.
		go io.Copy(near, far) //nolint:errcheck // Ends with either connection.
	}))
	for name, value := range map[string]string{
		"HTTPS_PROXY": proxy.URL, "HTTP_PROXY": proxy.URL, "SSL_CERT_FILE": roots.Name(), "HOME": dir,
	} {
		must(0, os.Setenv(name, value))
	}
	status := m.Run()
	must(0, os.RemoveAll(dir))
	os.Exit(status)
}

// cloud plays a managed Prometheus, and the endpoints for tokens of three clouds. All its secrets begin with s3cret.
type cloud struct {
	*httptest.Server

	t   *testing.T
	dir string
	key *rsa.PrivateKey

	mu sync.Mutex
	// tokens is how the endpoints for tokens behave: well, or "refuse", "hang", "redirect" or "page". store is how the store does.
	tokens, store string
	// ahead is how far the clock is ahead of that of the test.
	ahead time.Duration
	// keys are AWS' access keys and their secrets. issued are the tokens that the store accepts, lifetime how long.
	keys     map[string]string
	issued   int
	lifetime int
	// signatures of the requests to the store; how many requests came there, and how many to where redirects lead.
	signatures         []string
	queries, elsewhere int
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	key := must(rsa.GenerateKey(rand.Reader, 2048))
	keys := map[string]string{"AKIDSTATIC": "s3cret-static"}
	c := &cloud{t: t, dir: t.TempDir(), key: key, lifetime: 3600, keys: keys}
	c.Server = httptest.NewServer(http.HandlerFunc(c.answer))
	t.Cleanup(func() { c.CloseClientConnections(); c.Close() })
	playing.Store(c)
	return c
}

// file writes a file, and returns its path.
func (c *cloud) file(name, text string) string {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	must(0, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// with changes the cloud between requests.
func (c *cloud) with(change func()) { c.mu.Lock(); defer c.mu.Unlock(); change() }

func (c *cloud) answer(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body := must(io.ReadAll(r.Body))
	w.Header().Set("Date", time.Now().Add(c.ahead).UTC().Format(http.TimeFormat))
	behaves, accepted := c.tokens, c.issue
	switch r.URL.Path {
	case "/elsewhere":
		c.elsewhere++
		return
	case "/store/api/v1/query_range":
		c.queries++
		behaves, accepted = c.store, c.query
		if behaves == "not by POST" && r.Method == http.MethodGet {
			behaves = ""
		}
	}
	switch behaves {
	case "hang":
		c.mu.Unlock()
		<-r.Context().Done()
		c.mu.Lock()
	case "not by POST":
		w.WriteHeader(http.StatusMethodNotAllowed)
	case "redirect":
		http.Redirect(w, r, c.URL+"/elsewhere", http.StatusTemporaryRedirect)
	case "page":
		w.Header().Set("Content-Type", "text/html")
		must(io.WriteString(w, "\n <HTML><title>Log in</title>s3cret-page"))
	default:
		text, status := accepted(r, body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		must(io.WriteString(w, text))
	}
}

// query answers a query whose credentials are valid. It repeats those of others, as careless servers do.
func (c *cloud) query(r *http.Request, body []byte) (string, int) {
	authorization := r.Header.Get("Authorization")
	err := fmt.Errorf("%s is not accepted", authorization)
	if strings.HasPrefix(authorization, "AWS4") {
		c.signatures = append(c.signatures, authorization)
		if err = c.checkSignature(r, body, "aps"); err == nil && !strings.Contains(authorization, "x-scope") {
			err = errors.New("a header was added after the signature")
		}
	} else if authorization == fmt.Sprintf("Bearer s3cret-token-%d", c.issued) && c.issued > 0 {
		err = nil
	}
	if err != nil || c.store == "refuse" {
		return fmt.Sprintf(`{"message": "%v %s"}`, err, r.Header.Get("X-Amz-Security-Token")), http.StatusForbidden
	}
	const answer = `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[%d,"1"]]}]}}`
	return fmt.Sprintf(answer, at.Unix()), http.StatusOK
}

// checkSignature computes the signature of a request again, by the documentation of AWS.
func (c *cloud) checkSignature(r *http.Request, body []byte, service string) error {
	var credential, names, signature string
	_, err := fmt.Sscanf(strings.ReplaceAll(r.Header.Get("Authorization"), ",", ""),
		"AWS4-HMAC-SHA256 Credential=%s SignedHeaders=%s Signature=%s", &credential, &names, &signature)
	signedAt, err2 := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	id, scope, _ := strings.Cut(credential, "/")
	secret, known := c.keys[id]
	switch {
	case errors.Join(err, err2) != nil:
		return errors.Join(err, err2)
	case !known, strings.HasPrefix(id, "ASIA") && r.Header.Get("X-Amz-Security-Token") != "s3cret-session":
		return errors.New("the security token is invalid")
	case time.Now().Add(c.ahead).Sub(signedAt).Abs() > 5*time.Minute:
		return errors.New("signature expired")
	case scope != signedAt.Format("20060102")+"/eu-central-1/"+service+"/aws4_request":
		return fmt.Errorf("scope %s", scope)
	}
	hash := func(text string) string { sum := sha256.Sum256([]byte(text)); return hex.EncodeToString(sum[:]) }
	sent := r.Header.Clone()
	sent.Set("Host", r.Host)
	sent.Set("Content-Length", strconv.Itoa(len(body)))
	var headers []string
	for name := range strings.SplitSeq(names, ";") {
		// AWS: IncompleteSignatureException. After a 403, the client repeats the query as a GET.
		if len(sent.Values(name)) == 0 {
			c.t.Errorf("%s: '%s' is named as a SignedHeader, but it does not exist in the HTTP request", r.Method, name)
		}
		headers = append(headers, name+":"+sent.Get(name)+"\n")
	}
	query := strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")
	canonical := strings.Join([]string{
		r.Method, r.URL.EscapedPath(), query, strings.Join(headers, ""), names, hash(string(body)),
	}, "\n")
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), scope, hash(canonical)}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range append(strings.Split(scope, "/"), toSign) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	if hex.EncodeToString(key) != signature {
		return errors.New("the signature does not match")
	}
	return nil
}

// issue plays the endpoints for tokens: AWS STS, Google's and its metadata server, Microsoft Entra and Azure's managed identity.
func (c *cloud) issue(r *http.Request, body []byte) (string, int) {
	form := must(url.ParseQuery(string(body)))
	expires := time.Now().Add(time.Duration(c.lifetime) * time.Second)
	const token = `{"access_token": "s3cret-token-%d", "token_type": "Bearer", "expires_in": %d, "expires_on": "%d"}`
	bearer := fmt.Sprintf(token, c.issued+1, c.lifetime, expires.Unix())
	const role = `<R><%sResult><Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s3cret-role</SecretAccessKey>` +
		`<SessionToken>s3cret-session</SessionToken><Expiration>%s</Expiration></Credentials></%[1]sResult></R>`
	aws := fmt.Sprintf(role, form.Get("Action"), expires.UTC().Format(time.RFC3339))
	ok := true
	switch path := r.URL.Path; {
	case path == "/common/discovery/instance":
		const known = `{"tenant_discovery_endpoint": "https://%s/t/v2.0/.well-known/openid-configuration", "metadata": [` +
			`{"preferred_network": "%[1]s", "preferred_cache": "%[1]s", "aliases": ["%[1]s"]}]}`
		return fmt.Sprintf(known, entra), http.StatusOK
	case strings.HasSuffix(path, "/.well-known/openid-configuration"):
		at := "https://" + entra + "/" + strings.Split(path, "/")[1]
		const endpoints = `{"issuer": "%s/v2.0", "authorization_endpoint": "%[1]s/a", "token_endpoint": "%[1]s/token"}`
		return fmt.Sprintf(endpoints, at), http.StatusOK
	case form.Get("Action") == "AssumeRoleWithWebIdentity":
		bearer, ok = aws, form.Get("WebIdentityToken") == "s3cret-jwt"
	case form.Get("Action") == "AssumeRole":
		err := c.checkSignature(r, body, "sts")
		bearer, ok = aws, err == nil && form.Get("ExternalId") == "x"
	case path == "/pod":
		const keys = `{"AccessKeyId": "ASIA", "SecretAccessKey": "s3cret-role", "Token": "s3cret-session", "Expiration": "%s"}`
		bearer = fmt.Sprintf(keys, expires.UTC().Format(time.RFC3339))
		ok = r.Header.Get("Authorization") == "s3cret-jwt"
	case path == "/google":
		ok = c.signedByKey(form.Get("assertion"))
	case path == "/federation":
		ok = form.Get("subject_token") == "s3cret-jwt" && strings.HasSuffix(form.Get("scope"), "/monitoring.read")
		const kind = `{"issued_token_type": "urn:ietf:params:oauth:token-type:access_token", `
		bearer = strings.Replace(bearer, "{", kind, 1)
	case strings.HasPrefix(path, "/computeMetadata/v1/instance/service-accounts/default/token"):
		ok = r.Header.Get("Metadata-Flavor") == "Google" &&
			strings.HasSuffix(r.URL.Query().Get("scopes"), "/monitoring.read")
	case path == "/msi":
		ok = r.Header.Get("X-Identity-Header") == "s3cret-header" &&
			r.URL.Query().Get("resource") == "https://prometheus.monitor.azure.com"
	case strings.HasSuffix(path, "/token") && r.TLS != nil:
		ok = (form.Get("client_secret") == "s3cret-app" || form.Get("client_assertion") == "s3cret-jwt") &&
			strings.HasPrefix(form.Get("scope"), "https://prometheus.monitor.azure.com/.default")
	default:
		c.t.Errorf("a request to %s", r.URL)
	}
	if !ok || c.tokens == "refuse" {
		said := `{"error": "invalid_client", "error_description": "of ` + string(body) + `"}`
		switch {
		case form.Has("Action"):
			const xml = "<ErrorResponse><Error><Code>ExpiredToken</Code><Message>%s</Message></Error></ErrorResponse>"
			said = fmt.Sprintf(xml, body)
		case r.TLS != nil:
			said = strings.Replace(said, "of", "AADSTS700024: the assertion has expired: of", 1)
		}
		return said, http.StatusUnauthorized
	}
	c.keys["ASIA"] = "s3cret-role"
	c.issued++
	return bearer, http.StatusOK
}

// signedByKey reports whether a JWT has the signature of the service account and asks for the right to read.
func (c *cloud) signedByKey(jwt string) bool {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return false
	}
	signature := must(base64.RawURLEncoding.DecodeString(parts[2]))
	claims := string(must(base64.RawURLEncoding.DecodeString(parts[1])))
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	return rsa.VerifyPKCS1v15(&c.key.PublicKey, crypto.SHA256, sum[:], signature) == nil &&
		strings.Contains(claims, "/auth/monitoring.read") && strings.Contains(claims, c.URL+"/google")
}
