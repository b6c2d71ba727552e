package outlooks

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Connection says which server to ask and how.
type Connection struct {
	// Server is the address of a standalone forewarm; where it is empty the cluster of the kubeconfig is asked.
	Server, Kubeconfig, Context string
	// Timeout bounds the wait for one answer.
	Timeout time.Duration
}

// AddFlags adds them, under their usual names.
func (c *Connection) AddFlags(flags *pflag.FlagSet) {
	const server = "address of a standalone forewarm, for example http://127.0.0.1:8080"
	flags.StringVarP(&c.Server, "server", "s", "", server)
	flags.StringVar(&c.Kubeconfig, "kubeconfig", "", "kubeconfig to use instead of the usual one")
	flags.StringVar(&c.Context, "context", "", "context of the kubeconfig to use")
	flags.DurationVar(&c.Timeout, "timeout", 10*time.Second, "how long to wait for an answer")
}

// Validate says everything that is wrong with them.
func (c *Connection) Validate() error {
	var problems []error
	if c.Server != "" && (c.Kubeconfig != "" || c.Context != "") {
		problems = append(problems, errors.New("--server excludes --kubeconfig and --context, keep one"))
	}
	u, err := url.Parse(c.Server)
	if c.Server != "" && (err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "http")) {
		problems = append(problems,
			fmt.Errorf("--server %.200q is no address, write for example http://127.0.0.1:8080", c.Server))
	}
	if c.Timeout <= 0 {
		problems = append(problems, fmt.Errorf("--timeout %s is not positive, write for example 10s", c.Timeout))
	}
	return errors.Join(problems...)
}
