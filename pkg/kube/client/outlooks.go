package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

// Client reads from one server.
type Client struct {
	http *http.Client
	base *url.URL
	// Namespace is that of the kubeconfig's context, "default" where it has none.
	Namespace string
}

// ErrNotFound: the server has no such object.
var ErrNotFound = errors.New("not found")

// maxAnswer limits the size of an answer. Ten thousand full outlooks fit.
const maxAnswer = 256 << 20

// New returns a client for the server in a configuration: the aggregation layer of a cluster, or a standalone Forewarm. The namespace
// is the one in the context of the kubeconfig.
func New(config *rest.Config, namespace string) (*Client, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		const advice = "write for example http://127.0.0.1:8080"
		return nil, fmt.Errorf("%.200q is not a URL: %s: %w", config.Host, advice, err)
	}
	doer, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", base, err)
	}
	return &Client{http: doer, base: base, Namespace: namespace}, nil
}

// Outlook reads one outlook, and the server's time.
func (c *Client) Outlook(ctx context.Context, namespace, name string) (*inspect.Outlook, time.Time, error) {
	var outlook inspect.Outlook
	now, err := c.get(ctx, &outlook, url.Values{}, "namespaces", namespace, inspect.Resource, name)
	return &outlook, now, err
}

// Outlooks reads all outlooks of a namespace, or of all namespaces where it is empty, that a label selector matches, page by page.
func (c *Client) Outlooks(ctx context.Context, namespace, selector string) (*inspect.OutlookList, time.Time, error) {
	path := []string{inspect.Resource}
	if namespace != "" {
		path = []string{"namespaces", namespace, inspect.Resource}
	}
	var (
		all inspect.OutlookList
		now time.Time
	)
	query := url.Values{"limit": {"500"}}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	for {
		var part inspect.OutlookList
		var err error
		if now, err = c.get(ctx, &part, query, path...); err != nil {
			return nil, now, err
		}
		all.TypeMeta, all.ListMeta = part.TypeMeta, part.ListMeta
		all.Items = append(all.Items, part.Items...)
		if part.Continue == "" || part.Continue == query.Get("continue") {
			all.Continue, all.RemainingItemCount = "", nil
			return &all, now, nil
		}
		query.Set("continue", part.Continue)
	}
}

// Fleet reads the outlook of one GPUFleet.
func (c *Client) Fleet(ctx context.Context, namespace, name string) (*inspect.FleetOutlook, error) {
	var outlook inspect.FleetOutlook
	_, err := c.get(ctx, &outlook, url.Values{}, "namespaces", namespace, inspect.FleetResource, name)
	return &outlook, err
}

// Fleets reads the outlooks of all GPUFleets of a namespace, or of all namespaces where it is empty.
func (c *Client) Fleets(ctx context.Context, namespace string) (*inspect.FleetOutlookList, error) {
	path := []string{inspect.FleetResource}
	if namespace != "" {
		path = []string{"namespaces", namespace, inspect.FleetResource}
	}
	var list inspect.FleetOutlookList
	_, err := c.get(ctx, &list, url.Values{}, path...)
	return &list, err
}

// get reads one object of the inspection group. It also returns the server's time, so that ages do not depend on the local clock.
func (c *Client) get(ctx context.Context, into any, query url.Values, path ...string) (time.Time, error) {
	group := []string{"apis", inspect.GroupName, inspect.Version}
	target := c.base.JoinPath(append(group, path...)...)
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return time.Time{}, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: check that Forewarm is running there", err)
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	now, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		now = time.Time{} // Then ages are unknown, too.
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return now, fmt.Errorf("read the answer of %s: %w", target, err)
	case len(body) > maxAnswer:
		return now, fmt.Errorf(
			"the answer of %s is larger than %d MiB: select a single namespace",
			target,
			maxAnswer>>20,
		)
	case response.StatusCode != http.StatusOK:
		return now, statusError(target, response.StatusCode, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return now, fmt.Errorf(
			"the answer of %s is not an outlook: check that this is the address of Forewarm: %w",
			target,
			err,
		)
	}
	return now, nil
}

// statusError returns the error for a status other than 200. If the server is a Kubernetes API, the error has the server's message.
func statusError(target *url.URL, code int, body []byte) error {
	var status metav1.Status
	if err := json.Unmarshal(body, &status); err != nil || status.Kind != "Status" {
		advice := "check that this is the address of Forewarm"
		switch {
		case code == http.StatusServiceUnavailable:
			advice = "Forewarm is not ready or cannot be reached"
		case code == http.StatusNotFound && strings.Contains(target.Path, "/"+inspect.FleetResource):
			advice += ", and that it reads GPUFleets (the chart value fleets.enabled)"
		}
		return fmt.Errorf("%s answers %d %s: %s", target, code, http.StatusText(code), advice)
	}
	message := strings.TrimSpace(fmt.Sprintf("%.400s", status.Message)) // The message may be megabytes long.
	if status.Reason == metav1.StatusReasonNotFound && status.Details != nil && status.Details.Name != "" {
		return fmt.Errorf("%w: %s", ErrNotFound, message)
	}
	if code == http.StatusNotFound {
		return fmt.Errorf("%s: %s: the inspection API of Forewarm is not installed there", target, message)
	}
	return fmt.Errorf("%s answers %d: %s", target, code, message)
}
