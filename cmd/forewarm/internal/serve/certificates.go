package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/run"
)

// AuthorityOptions configure the certificate authority that signs the serving certificates.
type AuthorityOptions struct {
	// Secret is its name, in the lease's namespace.
	Secret string
	// KEDASecret is NAMESPACE/NAME of the Secret with KEDA's client certificate.
	KEDASecret string
	// File has the authority of serving certificates that are given as files; empty means one that the kube-apiserver's
	// machine trusts.
	File string
	// Lifetime of its certificates, and LeafLifetime, that of serving certificates.
	Lifetime, LeafLifetime time.Duration
	// Grace is how long APIServices that an older Forewarm left unverified stay so.
	Grace time.Duration
}

func defaultAuthority() AuthorityOptions {
	return AuthorityOptions{
		Secret: "forewarm-ca", KEDASecret: "keda/forewarm-client", Lifetime: 365 * 24 * time.Hour,
		LeafLifetime: 7 * 24 * time.Hour, Grace: 5 * time.Minute,
	}
}

func (o *AuthorityOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(
		&o.Secret,
		"tls-ca-secret",
		o.Secret,
		"Secret with Forewarm's certificate authority, in the lease's namespace; the leader renews the authority, and every "+
			"replica signs its own certificate with it; not used with --tls-cert-file",
	)
	flags.StringVar(&o.File, "tls-ca-file", o.File,
		"file with the certificate authority that the kube-apiserver uses to verify --tls-cert-file")
	flags.StringVar(
		&o.KEDASecret,
		"keda-client-secret",
		o.KEDASecret,
		"Secret (NAMESPACE/NAME) in which the leader keeps KEDA's client certificate, for --keda-address without certificate files",
	)
	// These flags are for tests, in which certificates expire within minutes.
	flags.DurationVar(&o.Lifetime, "tls-ca-lifetime", o.Lifetime, "how long a certificate of the authority is valid")
	flags.DurationVar(&o.LeafLifetime, "tls-leaf-lifetime", o.LeafLifetime, "how long a serving certificate is valid")
	flags.DurationVar(&o.Grace, "tls-unverified-grace", o.Grace,
		"how long Forewarm keeps the APIServices of an older Forewarm that had no verified certificates")
}

func (o *AuthorityOptions) validate() error {
	var problems []error
	if len(validation.IsDNS1123Subdomain(o.Secret)) > 0 {
		problems = append(problems,
			fmt.Errorf("--tls-ca-secret %.100q is not a Secret's name: write for example forewarm-ca", o.Secret))
	}
	namespace, name, _ := strings.Cut(o.KEDASecret, "/")
	if len(validation.IsDNS1123Label(namespace))+len(validation.IsDNS1123Subdomain(name)) > 0 {
		problems = append(problems, fmt.Errorf(
			"--keda-client-secret %.100q is not a Secret: write NAMESPACE/NAME, for example keda/forewarm-client",
			o.KEDASecret,
		))
	}
	if o.LeafLifetime < time.Second || o.Lifetime < aggregation.MinLifetimes*o.LeafLifetime {
		problems = append(problems, fmt.Errorf(
			"--tls-leaf-lifetime %s and --tls-ca-lifetime %s: write at least 1s for the first, and at least %d times "+
				"as long for the second", o.LeafLifetime, o.Lifetime, aggregation.MinLifetimes,
		))
	}
	return errors.Join(problems...)
}

// servingCertificates are the certificates with which Forewarm serves in a cluster. They are signed by the authority in a Secret, or given
// as files.
type servingCertificates struct {
	options AuthorityOptions
	keda    bool // Whether KEDA's client certificate is needed, too.
	// secret and leaf are nil if certificates are given as files.
	secret *aggregation.Secret
	leaf   *aggregation.Leaf
	// servingFile is the certificate file; empty if there is none.
	servingFile string
	// file is the authority for the certificate files, if one is given.
	file *dynamiccertificates.DynamicFileCAContent
}

// signed reports whether Forewarm's own authority signs its certificates. If the Forecasts are not in a cluster, there is no leader to
// maintain an authority.
func signed(o *Options) bool {
	return !o.Standalone && !o.Cluster.HasCertificateFiles() && o.ConfigDir == ""
}

// openServingCertificates sets the certificates to serve with, unless they are given as files.
func openServingCertificates(o *Options, log *slog.Logger) (*servingCertificates, error) {
	if o.ConfigDir != "" && !o.Standalone && !o.Cluster.HasCertificateFiles() {
		log.Warn("no client can verify this server's certificate: set --tls-cert-file and --tls-private-key-file")
	}
	out := &servingCertificates{
		options: o.Authority, keda: o.KEDA.OwnCertificates(), servingFile: o.Cluster.CertificateFile(),
	}
	var err error
	if o.Authority.File != "" {
		out.file, err = dynamiccertificates.NewDynamicCAContentFromFile("--tls-ca-file", o.Authority.File)
		if err != nil {
			return nil, fmt.Errorf("--tls-ca-file: %w", err)
		}
	}
	if !signed(o) {
		return out, nil
	}
	client, err := clientcmd.BuildConfigFromFlags("", o.Cluster.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("no cluster to read the certificate authority from: set --kubeconfig: %w", err)
	}
	if out.secret, err = aggregation.NewSecret(client, o.Lease.Namespace, o.Authority.Secret, log); err != nil {
		return nil, err
	}
	out.leaf, err = aggregation.NewLeaf(out.secret, o.Authority.LeafLifetime, run.WallClock{}.Now(), log, hosts(o)...)
	if err != nil {
		return nil, err
	}
	o.Cluster.Certificate = out.leaf
	o.KEDA.Serving, o.KEDA.Clients = out.leaf, out.secret
	return out, nil
}

// fileAuthority is an authority in a file. The file is read again when it changes.
type fileAuthority struct {
	*dynamiccertificates.DynamicFileCAContent
}

// Subscribe implements aggregation.Bundler. The library removes no listener; a replica leads few times.
func (f fileAuthority) Subscribe(_ context.Context, signal changes.Signal) { f.AddListener(signal) }

// authority returns the authority with which the kube-apiserver should verify Forewarm; nil if Forewarm does not know it.
func (c *servingCertificates) authority() aggregation.Bundler { //nolint:ireturn // One of two, or none.
	switch {
	case c.secret != nil:
		return c.secret
	case c.file != nil:
		return fileAuthority{c.file}
	}
	return nil
}

// hosts returns the DNS names of Forewarm's own Service (the kube-apiserver uses the first one), and the names for a forwarded port.
func hosts(o *Options) []string {
	namespace, name, _ := strings.Cut(string(ownService(o)), "/")
	short := name + "." + namespace
	return []string{short + ".svc", short, short + ".svc.cluster.local", "localhost", "127.0.0.1"}
}

// parts returns the tasks that watch the Secret and sign certificates.
func (c *servingCertificates) parts() []run.Part {
	if c.file != nil {
		return []run.Part{{Name: "watch of --tls-ca-file", Run: func(ctx context.Context) error {
			c.file.Run(ctx, 1)
			return nil
		}}}
	}
	if c.secret == nil {
		return nil
	}
	return []run.Part{
		{Name: "watch of the certificate authority", Run: c.secret.Run},
		{Name: "certificate authority", Run: func(ctx context.Context) error {
			c.secret.Fill(ctx, run.WallClock{}, c.options.Lifetime)
			return nil
		}},
		{Name: "serving certificate", Run: func(ctx context.Context) error { return c.leaf.Run(ctx, run.WallClock{}) }},
	}
}

// lead renews the authority until the context ends.
func (c *servingCertificates) lead(ctx context.Context) {
	if c.secret == nil {
		return
	}
	var all sync.WaitGroup
	all.Go(func() { c.secret.Keep(ctx, run.WallClock{}, c.options.Lifetime) })
	if c.keda {
		namespace, name, _ := strings.Cut(c.options.KEDASecret, "/")
		lifetime := c.options.Lifetime / aggregation.MinLifetimes
		all.Go(func() { c.secret.KeepClient(ctx, run.WallClock{}, namespace, name, lifetime) })
	}
	all.Wait()
}

// ready returns a check that passes once the kube-apiserver can verify the certificate.
func (c *servingCertificates) ready() []run.Check {
	if c.secret == nil {
		return nil
	}
	return []run.Check{{
		Name: "serving-certificate", Run: func() error { return c.leaf.Check(run.WallClock{}.Now()) },
	}}
}

// metrics returns the expiry times of the certificates, for an alert.
func (c *servingCertificates) metrics() prometheus.Gatherers {
	registry := prometheus.NewRegistry()
	registry.MustRegister(aggregation.ExpiryCollector{
		Secret: c.secret, Leaf: c.leaf, ServingFile: c.servingFile, AuthorityFile: c.options.File,
	})
	return prometheus.Gatherers{registry}
}
