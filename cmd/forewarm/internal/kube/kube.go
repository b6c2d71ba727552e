// Package kube finds the cluster that a command is to ask.
package kube

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Load reads the kubeconfig by kubectl's rules: the file that is named, the environment, the home folder, the pod's own
// account. The context may be empty for the file's current one; the namespace is the context's, or "default".
func Load(file, context string) (config *rest.Config, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	overrides := &clientcmd.ConfigOverrides{CurrentContext: context}
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	if config, err = loading.ClientConfig(); err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	if namespace, _, err = loading.Namespace(); err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	return config, namespace, nil
}
