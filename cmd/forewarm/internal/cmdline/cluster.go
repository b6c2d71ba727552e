package cmdline

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/files"
)

// Cluster reads the kubeconfig by kubectl's rules: the file that is named, the environment, the home folder, the pod's own
// account. The name of a context may be empty for the file's current one; the namespace is the context's, or "default".
func Cluster(ctx context.Context, file, name string) (config *rest.Config, namespace string, err error) {
	loading, err := kubeconfig(ctx, file, name)
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	if config, err = loading.ClientConfig(); err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	if namespace, _, err = loading.Namespace(); err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	return config, namespace, nil
}

// kubeconfig is what is loaded of files none of which is too large.
func kubeconfig(ctx context.Context, file, name string) (clientcmd.ClientConfig, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	overrides := &clientcmd.ConfigOverrides{CurrentContext: name}
	paths := rules.GetLoadingPrecedence()
	for _, path := range paths {
		switch err := files.Check(path, files.MaxSettings); {
		case errors.Is(err, files.ErrNoFile) && len(paths) == 1: // As a shell makes of <(COMMAND).
			return ofPipe(ctx, path, overrides)
		case err != nil:
			return nil, err
		}
	}
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	if raw, err := loading.RawConfig(); err == nil { // Else it is told when its turn comes.
		err = checkNamed(&raw, cmp.Or(name, raw.CurrentContext))
		if err != nil {
			return nil, err
		}
	}
	return loading, nil
}

// ofPipe reads what can be read only once, which the library does not promise.
func ofPipe(ctx context.Context, path string, o *clientcmd.ConfigOverrides) (clientcmd.ClientConfig, error) {
	content, err := files.Read(ctx, path, files.MaxSettings)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.Load(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return clientcmd.NewNonInteractiveClientConfig(*config, o.CurrentContext, o, nil), nil
}

// checkNamed looks at the files that a context names.
func checkNamed(config *clientcmdapi.Config, name string) error {
	chosen := config.Contexts[name]
	if chosen == nil {
		return nil
	}
	var problems []error
	if cluster := config.Clusters[chosen.Cluster]; cluster != nil {
		problems = append(problems, files.Check(cluster.CertificateAuthority, files.MaxSecret))
	}
	if user := config.AuthInfos[chosen.AuthInfo]; user != nil {
		for _, path := range []string{user.TokenFile, user.ClientCertificate, user.ClientKey} {
			problems = append(problems, files.Check(path, files.MaxSecret))
		}
	}
	return errors.Join(problems...)
}
