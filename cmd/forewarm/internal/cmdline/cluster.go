package cmdline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Cluster is the one that a command reads with the user's own rights, by kubectl's flags.
type Cluster struct {
	// Kubeconfig is a file, Context one of its contexts; empty for kubectl's own choice.
	Kubeconfig, Context string
	// Timeout of one request.
	Timeout time.Duration
}

// AddFlags adds --kubeconfig, --context and --timeout.
func (c *Cluster) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.Kubeconfig, "kubeconfig", "", "kubeconfig to use instead of the default one")
	flags.StringVar(&c.Context, "context", "", "context of the kubeconfig to use")
	flags.DurationVar(&c.Timeout, "timeout", 10*time.Second, "how long to wait for each response of the cluster")
}

// Validate returns what is wrong with them.
func (c *Cluster) Validate() error {
	if c.Timeout <= 0 {
		return fmt.Errorf("--timeout %s is not positive, write for example 10s", c.Timeout)
	}
	return nil
}

// Config is the configuration of a client for a command, and the namespace of the kubeconfig's context, or "default".
func (c *Cluster) Config(ctx context.Context, command string) (config *rest.Config, namespace string, err error) {
	if config, namespace, err = LoadKubeconfig(ctx, c.Kubeconfig, c.Context); err != nil {
		return nil, "", err
	}
	config.UserAgent, config.Timeout, config.QPS, config.Burst = "forewarm-"+command, c.Timeout, 50, 100
	config.WarningHandlerWithContext = rest.NoWarnings{} // Warnings are for the administrators of the cluster.
	return config, namespace, nil
}

// Client is a client for a command, see Config.
func (c *Cluster) Client(ctx context.Context, command string) (client dynamic.Interface, namespace string, err error) {
	config, namespace, err := c.Config(ctx, command)
	if err != nil {
		return nil, "", err
	}
	client, err = dynamic.NewForConfig(config)
	return client, namespace, err
}

// LoadKubeconfig loads a client configuration by kubectl's rules: the given file, KUBECONFIG, the home folder, the pod's own
// account. name is that of a context; empty means the current one. The namespace is the context's, or "default".
func LoadKubeconfig(ctx context.Context, file, name string) (config *rest.Config, namespace string, err error) {
	loading, err := clientConfig(ctx, file, name)
	if err == nil {
		config, err = loading.ClientConfig()
	}
	if err == nil {
		namespace, _, err = loading.Namespace()
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	return config, namespace, nil
}

// clientConfig loads the files after it has checked their sizes.
func clientConfig(ctx context.Context, file, name string) (clientcmd.ClientConfig, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	overrides := &clientcmd.ConfigOverrides{CurrentContext: name}
	paths := rules.GetLoadingPrecedence()
	for _, path := range paths {
		switch err := CheckFile(path, MaxSettings); {
		case errors.Is(err, ErrNoFile) && len(paths) == 1: // A shell creates such a file for <(COMMAND).
			return clientConfigFromPipe(ctx, path, overrides)
		case err != nil:
			return nil, err
		}
	}
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	if raw, err := loading.RawConfig(); err == nil { // The caller reports an error.
		err = checkContextFiles(&raw, cmp.Or(name, raw.CurrentContext))
		if err != nil {
			return nil, err
		}
	}
	return loading, nil
}

// clientConfigFromPipe reads a file that can be read only once, because the library may read it twice.
func clientConfigFromPipe(
	ctx context.Context, path string, o *clientcmd.ConfigOverrides,
) (clientcmd.ClientConfig, error) {
	content, err := ReadFile(ctx, path, MaxSettings)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.Load(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return clientcmd.NewNonInteractiveClientConfig(*config, o.CurrentContext, o, nil), nil
}

// checkContextFiles checks the files to which a context refers.
func checkContextFiles(config *clientcmdapi.Config, name string) error {
	chosen := config.Contexts[name]
	if chosen == nil {
		return nil
	}
	var problems []error
	if cluster := config.Clusters[chosen.Cluster]; cluster != nil {
		problems = append(problems, CheckFile(cluster.CertificateAuthority, MaxSecret))
	}
	if user := config.AuthInfos[chosen.AuthInfo]; user != nil {
		for _, path := range []string{user.TokenFile, user.ClientCertificate, user.ClientKey} {
			problems = append(problems, CheckFile(path, MaxSecret))
		}
	}
	return errors.Join(problems...)
}
