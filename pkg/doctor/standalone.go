package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	inspect "github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/client"
)

// isStandalone reports that the server is a Forewarm of its own: it has outlooks, and no workloads as a cluster has.
func (d *Doctor) isStandalone() bool {
	found, err := d.clients.Discovery().ServerGroups()
	if err != nil {
		return false
	}
	has := func(name string) bool {
		return slices.ContainsFunc(found.Groups, func(g metav1.APIGroup) bool { return g.Name == name })
	}
	return has(inspect.GroupName) && !has("apps")
}

// examineStandalone runs the checks that need no cluster: the server, its Forecasts, and their history.
func (d *Doctor) examineStandalone(ctx context.Context) Report {
	s := &state{args: map[string]string{}, server: d.Cluster.Host}
	report := Report{Findings: []Finding{d.checkReady(ctx)}}
	if err := d.readOutlooks(ctx, s); err != nil {
		report.Findings = append(report.Findings, unread("Forecasts", "the outlooks of "+d.Cluster.Host, err))
	}
	report.Findings = append(report.Findings, s.findings...)
	for _, run := range []check{checkForecasts, checkHistory} {
		report.Findings = append(report.Findings, run(ctx, d, s)...)
	}
	report.Findings = append(report.Findings, Finding{
		Check:   "Autoscalers",
		Level:   Skipped,
		Message: "a standalone Forewarm has no cluster whose autoscalers could be checked",
		Remedy:  "forewarm explain --server " + d.Cluster.Host + " --file hpa.yaml --replicas 12 explains an autoscaler in a file",
	})
	report.sort()
	return report
}

// checkReady: does the server say that it is ready, and if not, why?
func (d *Doctor) checkReady(ctx context.Context) Finding {
	f := Finding{Check: "Server", Level: OK, Object: d.Cluster.Host, Message: "is ready"}
	body, err := d.readyz(ctx)
	if err != nil {
		f.Level, f.Message = Unknown, "cannot read whether it is ready: "+err.Error()
		return f
	}
	var failing []string
	for line := range strings.Lines(body) {
		if why, failed := strings.CutPrefix(strings.TrimSpace(line), "[-]"); failed {
			failing = append(failing, why)
		}
	}
	if len(failing) > 0 {
		f.Level, f.Message = Warning, "is not ready: "+strings.Join(failing, "; ")
		f.Remedy = "wait a minute, then read the log of forewarm serve"
	}
	return f
}

func (d *Doctor) readyz(ctx context.Context) (string, error) {
	base, _, err := rest.DefaultServerUrlFor(d.Cluster)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("/readyz").String(), http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := d.http.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return string(body), err
}

// readOutlooks reads the Forecasts with their specs, where the server has these, and with the conditions of their outlooks.
func (d *Doctor) readOutlooks(ctx context.Context, s *state) error {
	reader, err := client.New(d.Cluster, "")
	if err != nil {
		return err
	}
	outlooks, _, err := reader.Outlooks(ctx, "", "")
	if err != nil {
		return err
	}
	s.listed = true
	specs := map[snapshot.Key]v1alpha1.Forecast{}
	stored, err := client.ListForecasts(ctx, d.objects, "")
	if err != nil {
		s.findings = append(s.findings, unread("Forecasts", "the Forecasts of "+d.Cluster.Host, err))
	}
	for _, f := range stored {
		specs[snapshot.Key{Namespace: f.Namespace, Name: f.Name}] = f
	}
	for i := range outlooks.Items {
		o := &outlooks.Items[i]
		f := specs[snapshot.Key{Namespace: o.Namespace, Name: o.Name}]
		f.Namespace, f.Name = o.Namespace, o.Name
		for _, c := range o.Status.Conditions {
			f.Status.Conditions = append(f.Status.Conditions, metav1.Condition{
				Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message,
			})
		}
		s.forecasts = append(s.forecasts, f)
	}
	return nil
}

// resume is the command that ends a pause of a Forecast.
func (s *state) resume(f *v1alpha1.Forecast) string {
	command := fmt.Sprintf("forewarm resume -n %s %s", f.Namespace, f.Name)
	if s.server != "" {
		command += " --server " + s.server
	}
	return command + " (docs/rollout.md)"
}
