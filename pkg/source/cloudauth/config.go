// Package cloudauth adds the credentials of a cloud to the requests to its managed Prometheus: Amazon's (SigV4), Google's
// and Azure's. It uses the libraries of the clouds, and the names of Prometheus' remote_write for the configuration.
//
// The round trippers of Prometheus itself do not fit. Those for Google and Azure request the right to write instead of
// the right to read. The one for SigV4 needs credentials when it is created, waits without a limit for an endpoint that
// hangs, and follows redirects with a token.
package cloudauth

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	promconfig "github.com/prometheus/common/config"
	"github.com/prometheus/prometheus/storage/remote/azuread"
	"github.com/prometheus/prometheus/storage/remote/googleiam"
	"go.yaml.in/yaml/v3"
)

// Config is the authentication at a managed Prometheus: at most one of its fields. The zero value adds nothing to requests.
type Config struct {
	// SigV4 is for Amazon Managed Service for Prometheus.
	SigV4 *SigV4 `yaml:"sigv4,omitempty"`
	// AzureAD is for Azure Monitor managed service for Prometheus.
	AzureAD *AzureAD `yaml:"azuread,omitempty"`
	// GoogleIAM is for Google Cloud Managed Service for Prometheus. Without a file, the application default credentials are used.
	GoogleIAM *googleiam.Config `yaml:"google_iam,omitempty"`

	// invalid is the problem of a text that Set could not read.
	invalid error
}

// SigV4 has fields of Prometheus' sigv4, and a file for the secret key. Without a key, the credentials are the pod's.
type SigV4 struct {
	Region        string `yaml:"region,omitempty"`
	AccessKey     string `yaml:"access_key,omitempty"`
	SecretKeyFile string `yaml:"secret_key_file,omitempty"`
	// RoleARN is a role that the credentials may assume.
	RoleARN    string `yaml:"role_arn,omitempty"`
	ExternalID string `yaml:"external_id,omitempty"`
}

// AzureAD has fields of Prometheus' azuread: exactly one of the first three.
type AzureAD struct {
	ManagedIdentity  *azuread.ManagedIdentityConfig  `yaml:"managed_identity,omitempty"`
	WorkloadIdentity *azuread.WorkloadIdentityConfig `yaml:"workload_identity,omitempty"`
	OAuth            *OAuth                          `yaml:"oauth,omitempty"`
	// Cloud is AzurePublic (default), AzureGovernment or AzureChina; Scope replaces its scope for queries.
	Cloud string `yaml:"cloud,omitempty"`
	Scope string `yaml:"scope,omitempty"`
}

// OAuth is an application with a secret in a file.
type OAuth struct {
	ClientID         string `yaml:"client_id,omitempty"`
	ClientSecretFile string `yaml:"client_secret_file,omitempty"`
	TenantID         string `yaml:"tenant_id,omitempty"`
}

// Enabled reports whether requests need credentials of a cloud.
func (c *Config) Enabled() bool { return c.SigV4 != nil || c.AzureAD != nil || c.GoogleIAM != nil }

// quotedValue is a value in an error of the YAML library.
var quotedValue = regexp.MustCompile("`[^`]*`")

// Set reads the YAML of a flag. Its errors are those of Validate, because the flag library would print the text, with any secret in it.
func (c *Config) Set(text string) error {
	*c = Config{}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	err := decoder.Decode(c)
	if err == nil && c.Enabled() {
		return nil
	}
	const want = "write one of sigv4, azuread and google_iam, such as 'sigv4: {region: eu-central-1}' or 'google_iam: {}'"
	c.invalid = fmt.Errorf("--prometheus-auth: %s", want)
	if problem, ok := errors.AsType[*yaml.TypeError](err); ok {
		what := quotedValue.ReplaceAllString(problem.Error(), "a value")
		c.invalid = fmt.Errorf("--prometheus-auth: %s: %s", what, want)
	}
	return nil
}

// String implements pflag.Value.
func (*Config) String() string { return "" }

// Type implements pflag.Value.
func (*Config) Type() string { return "yaml" }

// Validate returns a problem, without a secret.
func (c *Config) Validate() error {
	s, a := c.SigV4, c.AzureAD
	switch {
	case c.invalid != nil:
		return c.invalid
	case s != nil && a != nil, s != nil && c.GoogleIAM != nil, a != nil && c.GoogleIAM != nil:
		return errors.New("sigv4, azuread and google_iam exclude each other: keep one")
	case s != nil && (s.AccessKey == "") != (s.SecretKeyFile == ""):
		return errors.New("sigv4: set both access_key and secret_key_file, or neither")
	case s != nil && s.AccessKey != "" && s.Region == "":
		return errors.New("sigv4: access_key needs the region of the workspace: set region")
	case s != nil && s.ExternalID != "" && s.RoleARN == "":
		return errors.New("sigv4: external_id is for a role: set role_arn")
	case a != nil && a.OAuth != nil && a.OAuth.ClientSecretFile == "":
		return errors.New("azuread: oauth needs client_secret_file, a file with the secret of the application")
	case a == nil:
		return nil
	}
	same := azuread.AzureADConfig{ManagedIdentity: a.ManagedIdentity, Cloud: a.Cloud, Scope: a.Scope}
	if w := a.WorkloadIdentity; w != nil { // The library sets a default in it.
		same.WorkloadIdentity = &azuread.WorkloadIdentityConfig{ClientID: w.ClientID, TenantID: w.TenantID}
	}
	if o := a.OAuth; o != nil {
		file := promconfig.Secret(o.ClientSecretFile)
		same.OAuth = &azuread.OAuthConfig{ClientID: o.ClientID, TenantID: o.TenantID, ClientSecret: file}
	}
	if err := same.Validate(); err != nil {
		return fmt.Errorf("azuread: %w", err)
	}
	return nil
}

// file is the path of the only file with a secret that the configuration can name.
func (c *Config) file() *string {
	switch {
	case c.SigV4 != nil:
		return &c.SigV4.SecretKeyFile
	case c.AzureAD != nil && c.AzureAD.OAuth != nil:
		return &c.AzureAD.OAuth.ClientSecretFile
	case c.AzureAD != nil && c.AzureAD.WorkloadIdentity != nil:
		return &c.AzureAD.WorkloadIdentity.TokenFilePath
	case c.GoogleIAM != nil:
		return &c.GoogleIAM.CredentialsFile
	}
	return new(string)
}

// File is the path of the file with a secret; empty if the configuration names none.
func (c *Config) File() string { return *c.file() }

// SetDirectory makes the path of the file relative to a directory.
func (c *Config) SetDirectory(dir string) { *c.file() = promconfig.JoinDir(dir, *c.file()) }

// PodIdentity reports whether the credentials are, or may be, those of this process, its pod or its node: the configuration
// names none, or a file outside its own directory.
func (c *Config) PodIdentity() bool {
	managed := c.AzureAD != nil && c.AzureAD.OAuth == nil
	// Without a file, the path is empty, and that is not local.
	return c.Enabled() && (managed || !filepath.IsLocal(c.File()))
}

// secret is the content of the file with the secret; empty if the configuration has none.
func (c *Config) secret() (string, error) {
	file := *c.file()
	if c.AzureAD != nil && c.AzureAD.WorkloadIdentity != nil {
		file = cmp.Or(file, os.Getenv(azuread.AzureFederatedTokenFileEnvVar), azuread.DefaultWorkloadIdentityTokenPath)
	}
	if file == "" {
		return "", nil
	}
	content, err := os.ReadFile(file)
	text := strings.TrimSpace(string(content))
	if err == nil && text == "" {
		err = fmt.Errorf("%s is empty", file)
	}
	return text, err
}

// advice names the configuration. If the cloud gives out no credentials, check says what to check; if the store refuses
// them, allow says what allows to read it.
type advice struct{ name, check, allow string }

func (c *Config) advice() advice {
	switch {
	case c.SigV4 != nil:
		return advice{
			"sigv4",
			"check the access key, or the IAM role of the pod's service account and its trust policy",
			"allow the IAM role aps:QueryMetrics on the workspace, and check the region, the URL and the key",
		}
	case c.AzureAD != nil:
		return advice{
			"azuread",
			"check the client ID, the tenant ID, and the secret or the federated credential of the identity",
			"give the identity the role Monitoring Data Reader on the Azure Monitor workspace, and check the URL and the cloud",
		}
	case c.GoogleIAM != nil:
		return advice{
			"google_iam",
			"check the key file, or the binding of the pod's service account (Workload Identity Federation)",
			"give the service account the role Monitoring Viewer in the project of the URL",
		}
	}
	return advice{}
}

// Advice says what to do if the store refuses the credentials; empty if the configuration has none.
func (c *Config) Advice() string { return c.advice().allow }
