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

// Connect makes a client for a command. For a --server no kubeconfig is read and no credential is sent: it
// is a standalone forewarm or a kubectl proxy.
func (c *Connection) Connect(ctx context.Context, command string) (*client.Client, error) {
	config, namespace := &rest.Config{
		Host:      c.Server,
		Timeout:   c.Timeout,
		UserAgent: "forewarm-" + command,
	}, metav1.NamespaceDefault
	if c.Server == "" {
		var err error
		if config, namespace, err = c.Config(ctx, command); err != nil {
			return nil, fmt.Errorf("%w: set --server http://127.0.0.1:8080, or a kubeconfig", err)
		}
	}
	reader, err := client.New(config, namespace)
	if err != nil && c.Server != "" {
		return nil, fmt.Errorf("--server %w", err)
	}
	return reader, err
}

// AddFlags adds the flags, with the names of kubectl's.
func (c *Connection) AddFlags(flags *pflag.FlagSet) {
	const server = "address of a standalone forewarm, for example http://127.0.0.1:8080"
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
