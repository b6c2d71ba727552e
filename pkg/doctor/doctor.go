// Package doctor finds out what is wrong with a Forewarm in a cluster, and what to do about it. It only reads, with the permissions of
// its caller. If the caller is not allowed to read something, this becomes a finding of its own.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// Config says what to examine.
type Config struct {
	// Cluster is how the caller reaches the cluster.
	Cluster *rest.Config
	// Namespace is where Forewarm is installed. Elsewhere is the namespace whose Forecasts are examined if the caller is not allowed to
	// list the Forecasts of all namespaces.
	Namespace, Elsewhere string
	// Prometheus is the Prometheus that Forewarm reads, at the URL at which the caller reaches it. Without a URL it is not examined.
	Prometheus prometheus.Config
	// Now is the clock.
	Now func() time.Time
}

// Doctor examines one cluster.
type Doctor struct {
	Config

	clients kubernetes.Interface
	objects dynamic.Interface
	http    *http.Client
}

// New returns a doctor. It sends no request.
func New(cfg Config) (*Doctor, error) {
	own := rest.CopyConfig(cfg.Cluster)
	own.UserAgent = "forewarm-doctor"
	own.WarningHandlerWithContext = rest.NoWarnings{}
	// The checks send a few hundred small requests, one after the other.
	own.QPS = -1
	cfg.Cluster = own
	d := &Doctor{Config: cfg}
	var err error
	if d.http, err = rest.HTTPClientFor(own); err != nil {
		return nil, err
	}
	if d.clients, err = kubernetes.NewForConfigAndClient(own, d.http); err != nil {
		return nil, err
	}
	d.objects, err = dynamic.NewForConfigAndClient(own, d.http)
	return d, err
}

// check is one subject: it returns what it found, also where all is well.
type check func(context.Context, *Doctor, *state) []Finding

// checks are all of them, in the order in which an installation comes to work.
func checks() []check {
	return []check{
		checkServer, checkDefinitions, checkAPIGroups, checkCertificates, checkRights, checkOthers, checkClocks,
		checkForecasts, checkHistory, checkPools, checkFleets, checkScaledJobs, checkAutoscalers,
	}
}

// Examine runs all checks. The error means that the cluster does not answer.
func (d *Doctor) Examine(ctx context.Context) (Report, error) {
	began := d.Now()
	answer, err := d.date(ctx, "/version")
	if err != nil {
		return Report{}, err
	}
	if d.isStandalone() {
		return d.examineStandalone(ctx), nil
	}
	s := d.read(ctx)
	s.apiClock = measured{answer, began, d.Now()}
	report := Report{Findings: s.findings}
	if s.absent() {
		report.Findings = append(report.Findings, notInstalled(d.Namespace))
		report.Findings = append(report.Findings, leftoverGroups(s)...)
		report.sort()
		return report, nil
	}
	for _, run := range checks() {
		report.Findings = append(report.Findings, run(ctx, d, s)...)
	}
	if ctx.Err() != nil {
		report.Findings = append(report.Findings, Finding{
			Check: "Time", Level: Unknown, Message: "the checks took too long, so some of them are missing",
			Remedy: "run forewarm doctor again on a machine that is closer to the cluster",
		})
	}
	report.sort()
	return report, nil
}

// date returns the time by the clock of the server that answers a path.
func (d *Doctor) date(ctx context.Context, path string) (time.Time, error) {
	base, _, err := rest.DefaultServerUrlFor(d.Cluster)
	if err != nil {
		return time.Time{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath(path).String(), http.NoBody)
	if err != nil {
		return time.Time{}, err
	}
	response, err := d.http.Do(request)
	if err != nil {
		return time.Time{}, fmt.Errorf("the cluster does not answer: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	// A body that is read to its end lets the connection be used again.
	if _, err = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)); err != nil {
		return time.Time{}, fmt.Errorf("read the answer of %s: %w", path, err)
	}
	if response.StatusCode == http.StatusUnauthorized {
		return time.Time{}, errors.New("the cluster does not accept your credentials: log in, or set --kubeconfig")
	}
	at, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil || response.StatusCode >= http.StatusInternalServerError {
		return time.Time{}, nil // Unknown.
	}
	return at, nil
}

func notInstalled(namespace string) Finding {
	return Finding{
		Check:   "Installed",
		Level:   Error,
		Object:  "namespace " + namespace,
		Message: "Forewarm is not installed here: there is no Deployment forewarm and no CRD of Forecasts",
		Remedy: "install it (docs/quickstart.md), or select the right namespace with --namespace or the right cluster with " +
			"--context",
	}
}

// isAbsent reports that an error says that something does not exist, or no such kind.
func isAbsent(err error) bool { return apierrors.IsNotFound(err) }

func join(words []string) string { return strings.Join(words, ", ") }
