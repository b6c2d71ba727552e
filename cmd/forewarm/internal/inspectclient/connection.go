package inspectclient

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Connection is the server to read from.
type Connection struct {
	// Server is the address of a standalone forewarm; where it is empty the client reads from the kubeconfig's cluster.
	Server, Kubeconfig, Context string
	// Timeout of one request.
	Timeout time.Duration
}

// AddFlags adds the flags, with the names of kubectl's.
func (c *Connection) AddFlags(flags *pflag.FlagSet) {
	const server = "address of a standalone forewarm, for example http://127.0.0.1:8080"
	flags.StringVarP(&c.Server, "server", "s", "", server)
	flags.StringVar(&c.Kubeconfig, "kubeconfig", "", "kubeconfig to use instead of the usual one")
	flags.StringVar(&c.Context, "context", "", "context of the kubeconfig to use")
	flags.DurationVar(&c.Timeout, "timeout", 10*time.Second, "how long to wait for an answer")
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
	if c.Timeout <= 0 {
		problems = append(problems, fmt.Errorf("--timeout %s is not positive: write for example 10s", c.Timeout))
	}
	return errors.Join(problems...)
}
