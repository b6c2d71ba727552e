package outlooks

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
)

// Connection is the server to read from.
type Connection struct {
	// Server is the address of a standalone forewarm; where it is empty the client reads from the kubeconfig's cluster.
	Server string
	cmdline.Cluster
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
