package cmdline

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/kube/client"
)

// Connection is the server to read from.
type Connection struct {
	// Server is the address of a standalone forewarm; where it is empty the client reads from the kubeconfig's cluster.
	Server string
	Cluster
}

// Config is the configuration of a client for a command, and the namespace of the kubeconfig's context, or "default". For a --server no
// kubeconfig is read and no credential is sent: it is a standalone forewarm or a kubectl proxy.
func (c *Connection) Config(ctx context.Context, command string) (config *rest.Config, namespace string, err error) {
	if c.Server == "" {
		config, namespace, err = c.Cluster.Config(ctx, command)
		if err != nil {
			err = fmt.Errorf("%w: set --server http://127.0.0.1:8080, or a kubeconfig", err)
		}
		return config, namespace, err
	}
	config = &rest.Config{Host: c.Server, Timeout: c.Timeout, UserAgent: "forewarm-" + command}
	config.WarningHandlerWithContext = rest.NoWarnings{}
	return config, metav1.NamespaceDefault, nil
}

// Connect makes a client of the inspection API for a command.
func (c *Connection) Connect(ctx context.Context, command string) (*client.Client, error) {
	config, namespace, err := c.Config(ctx, command)
	if err != nil {
		return nil, err
	}
	reader, err := client.New(config, namespace)
	if err != nil && c.Server != "" {
		return nil, fmt.Errorf("--server %w", err)
	}
	return reader, err
}

// AddFlags adds the flags, with the names of kubectl's.
func (c *Connection) AddFlags(flags *pflag.FlagSet) {
	const server = "address of a standalone Forewarm, for example http://127.0.0.1:8080"
	flags.StringVarP(&c.Server, "server", "s", "", server)
	c.Cluster.AddFlags(flags)
}

// Validate returns every problem at once.
func (c *Connection) Validate() error {
	var problems []error
	if c.Server != "" && (c.Kubeconfig != "" || c.Context != "") {
		problems = append(problems, errors.New("--server contradicts --kubeconfig and --context: keep one"))
	}
	u, err := url.Parse(c.Server)
	if c.Server != "" && (err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "http")) {
		problems = append(problems,
			fmt.Errorf("--server %.200q is not an address: write for example http://127.0.0.1:8080", c.Server))
	}
	return errors.Join(append(problems, c.Cluster.Validate())...)
}
