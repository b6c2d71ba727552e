package tenants

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"

	promconfig "github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
	"github.com/forewarm/forewarm/pkg/source/cloudauth"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

const (
	maxFile        = 1 << 20 // In bytes: a ConfigMap has at most 1 MiB.
	maxSources     = 1_000   // Each source has its own connections.
	everyNamespace = "*"     // Grants a source to all namespaces.
)

// file is the operator's file.
type file struct {
	Sources []Source `yaml:"sources"`
}

// Source is one entry of the file. What is not named here is Prometheus' http_config: basic_auth, authorization,
// oauth2, tls_config, http_headers, proxies. Paths are relative to the file.
type Source struct {
	// Name by which Forecasts refer to it.
	Name string `yaml:"name"`
	// URL without /api/v1; its query string is sent with every request.
	URL string `yaml:"url"`
	// Namespaces that may use it; "*" for all.
	Namespaces []string `yaml:"namespaces"`
	// TenantLabel names the namespace in this source; a namespace's own queries are confined by it. Default namespace.
	TenantLabel string `yaml:"tenant_label"`
	// Cluster is the label and the value, "cluster=eu-1", of the series that count, where the store has several clusters.
	Cluster string `yaml:"cluster,omitempty"`
	// ScrapeInterval is the longest time between two scrapes of a model server; default: that of the flag --scrape-interval.
	ScrapeInterval model.Duration `yaml:"scrape_interval,omitempty"`
	// Lookback is how long a sample is valid if no newer one follows; default: the server's.
	Lookback model.Duration `yaml:"lookback_delta,omitempty"`

	HTTP promconfig.HTTPClientConfig `yaml:",inline"`
	// Auth is for a managed Prometheus: sigv4, azuread or google_iam.
	Auth cloudauth.Config `yaml:",inline"`
}

// UnmarshalYAML sets the defaults.
func (s *Source) UnmarshalYAML(unmarshal func(any) error) error {
	type plain Source
	*s = Source{TenantLabel: "namespace", HTTP: promconfig.DefaultHTTPClientConfig}
	return unmarshal((*plain)(s))
}

// parse reads the content of a file in a directory. The error lists every problem. With podIdentity, sources may use the cloud identity of
// Forewarm's own pod.
func parse(content []byte, dir string, podIdentity bool) ([]Source, error) {
	if len(content) > maxFile {
		return nil, fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	var f file
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, err //nolint:wrapcheck // It has the lines; the caller names the file.
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file has more than one YAML document: keep a single list of sources")
	}
	if len(f.Sources) == 0 {
		return nil, errors.New("the file has no sources: list at least one under the key sources")
	}
	if len(f.Sources) > maxSources {
		return nil, fmt.Errorf("the file has %d sources; at most %d are allowed", len(f.Sources), maxSources)
	}
	var problems []error
	names := make(map[string]bool, len(f.Sources))
	for i := range f.Sources {
		s := &f.Sources[i]
		if err := s.validate(); err != nil {
			problems = append(problems, fmt.Errorf("source %d (%.64q): %w", i+1, s.Name, err))
		}
		if names[s.Name] {
			problems = append(problems, fmt.Errorf("source %.64q is listed twice: remove one of them", s.Name))
		}
		if s.Auth.PodIdentity() && !podIdentity {
			problems = append(problems, fmt.Errorf("source %d (%.64q): %w", i+1, s.Name, errPodIdentity))
		}
		names[s.Name] = true
		s.HTTP.SetDirectory(dir)
		s.Auth.SetDirectory(dir)
	}
	return f.Sources, errors.Join(problems...)
}

// errPodIdentity: everyone who may use the source would read with the rights of Forewarm itself.
var errPodIdentity = errors.New("this would use the cloud identity of Forewarm's own pod " +
	"or a file outside the folder of this file: set secret_key_file, client_secret_file or credentials_file to a file of sources.secrets, " +
	"or set --sources-pod-identity if every source may use that identity")

// validate returns every problem of a source.
func (s *Source) validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if len(validation.IsDNS1123Label(s.Name)) > 0 {
		wrong("name: use at most 63 lowercase letters, digits and hyphens")
	}
	if len(s.Namespaces) == 0 {
		wrong("namespaces: list the namespaces that are allowed to use the source, or write [\"*\"] for all namespaces")
	}
	for _, namespace := range s.Namespaces {
		if namespace != everyNamespace && len(validation.IsDNS1123Label(namespace)) > 0 {
			wrong("namespaces: %.64q is not a valid name of a namespace", namespace)
		}
	}
	if !model.LegacyValidation.IsValidLabelName(s.TenantLabel) || s.TenantLabel == model.MetricNameLabel {
		wrong("tenant_label: %.64q is not a valid name of a label: write for example namespace", s.TenantLabel)
	}
	trust := signal.Trust{Cluster: promexpr.Cluster(s.Cluster), ScrapeInterval: time.Duration(s.ScrapeInterval)}
	if err := trust.Validate(); err != nil {
		problems = append(problems, err)
	}
	if u, err := url.Parse(s.URL); err == nil && u.User != nil {
		wrong("url: the URL has a user or a password: use basic_auth with username and password_file instead")
	}
	for _, field := range inlineSecrets(reflect.ValueOf(s.HTTP)) {
		wrong("%s: this file must not contain secrets: mount the secret as a file and use that file instead", field)
	}
	problems = append(problems, s.clientConfig(time.Second).Validate())
	return errors.Join(problems...)
}

// inlineSecrets returns the names of the fields of a configuration that contain a secret, or that refer to a secret store. There is no such
// store here.
func inlineSecrets(v reflect.Value) []string {
	var out []string
	switch v.Kind() { //nolint:exhaustive // The others hold no secrets.
	case reflect.Pointer:
		if !v.IsNil() {
			out = inlineSecrets(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, inlineSecrets(v.Index(i))...)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			out = append(out, inlineSecrets(v.MapIndex(key))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out = append(out, secretField(v.Type().Field(i), v.Field(i))...)
		}
	}
	return out
}

func secretField(field reflect.StructField, v reflect.Value) []string {
	name, _, _ := bytes.Cut([]byte(field.Tag.Get("yaml")), []byte(","))
	secret := reflect.TypeFor[promconfig.Secret]()
	isSecret := v.Type() == secret || v.Type() == reflect.SliceOf(secret) || bytes.HasSuffix(name, []byte("_ref"))
	switch {
	case !field.IsExported():
		return nil
	case !isSecret && string(name) != "key":
		return inlineSecrets(v)
	case v.Len() > 0:
		return []string{string(name)}
	}
	return nil
}

// clientConfig is the configuration of the source's client.
func (s *Source) clientConfig(timeout time.Duration) prometheus.Config {
	return prometheus.Config{
		URL: s.URL, HTTP: s.HTTP, Auth: s.Auth, Lookback: time.Duration(s.Lookback), Timeout: timeout, Hidden: true,
	}
}

// fingerprint is equal for two sources that read the same store in the same way. It depends on everything except the grants. The contents
// of files do not matter, so that the history stays after a password is rotated.
func (s *Source) fingerprint() (string, error) {
	same := *s
	same.Namespaces = nil
	text, err := yaml.Marshal(&same)
	if err != nil {
		return "", fmt.Errorf("source %q: %w", s.Name, err)
	}
	hash := fnv.New64a()
	hash.Write(text)
	return strconv.FormatUint(hash.Sum64(), 16), nil
}

// granted reports whether a namespace may use the source.
func (s *Source) granted(namespace string) bool {
	return slices.Contains(s.Namespaces, namespace) || slices.Contains(s.Namespaces, everyNamespace)
}
