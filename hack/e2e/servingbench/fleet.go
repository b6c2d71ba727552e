package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// fleet is what a fleet of HPAs and Forecasts costs. Times are in seconds.
type fleet struct {
	Objects int     `json:"objects"`
	Created float64 `json:"createdSeconds"`
	Scaled  float64 `json:"scaledSeconds"`
	// Start has the CPU time of each process until all are scaled, Sync the share of a core while they sync.
	Start map[string]float64 `json:"startCPUSeconds"`
	Sync  map[string]float64 `json:"syncCores"`
	// Kept is the share of the syncs that were due and read their metric.
	Kept float64 `json:"syncsKept"`
}

// parts are the processes that work for a fleet.
var parts = []string{ //nolint:gochecknoglobals // A constant table.
	"forewarm", "kube-apiserver", "kube-controller-manager", "prometheus", "etcd", "kube-scheduler", "kwok",
}

// spent is the CPU time that each part has spent, less what it had before.
func spent(c *clustertest.Cluster, before map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, name := range parts {
		out[name] = cpu(process(c, name)).Seconds() - before[name]
	}
	return out
}

// measureFleet creates n Deployments, Forecasts and HPAs in one apply; each asks for two replicas.
func measureFleet(ctx context.Context, c *clustertest.Cluster, n int) (fleet, error) {
	out := fleet{Objects: n}
	replica, err := startFleet(ctx, c, n)
	if err != nil {
		return out, err
	}
	idle, begin := spent(c, nil), time.Now()
	progress("applying %d Deployments, Forecasts and HPAs", n)
	if err = c.Apply(ctx, each(n, fleetObjects)); err != nil {
		return out, err
	}
	out.Created = time.Since(begin).Seconds()
	err = clustertest.Eventually(ctx, 10*time.Minute, func(ctx context.Context) error {
		ready, err := c.Kubectl(ctx, "", "get", "deployments", "-n", "fleet", "-o",
			"jsonpath={range .items[*]}{.status.readyReplicas} {end}")
		if scaled := strings.Count(ready, "2 "); err == nil && scaled < n {
			err = fmt.Errorf("%d of %d are scaled", scaled, n)
		}
		return err
	})
	if err != nil {
		return out, err
	}
	out.Scaled, out.Start = time.Since(begin).Seconds(), spent(c, idle)
	answered, err := externalGets(c, replica)
	if err != nil {
		return out, err
	}
	before, begin := spent(c, nil), time.Now()
	time.Sleep(time.Minute)
	now, err := externalGets(c, replica)
	passed := time.Since(begin).Seconds()
	out.Kept = (now - answered) / (float64(n) * passed / c.Sync.Seconds())
	out.Sync = spent(c, before)
	for name := range out.Sync {
		out.Sync[name] /= passed
	}
	return out, err
}

func startFleet(ctx context.Context, c *clustertest.Cluster, n int) (*clustertest.Replica, error) {
	series := map[string][]float64{}
	for i := range n {
		series[fmt.Sprintf(`inflight{namespace="fleet",app="model-%d"}`, i)] = slices.Repeat([]float64{15}, 3*60*4)
	}
	if err := c.WriteSeries(ctx, time.Now().Add(-time.Hour), 15*time.Second, series); err != nil {
		return nil, err
	}
	prometheus, err := c.StartPrometheus(ctx, "global: {}")
	if err != nil {
		return nil, err
	}
	if err = c.Install(ctx, "deploy/default"); err != nil {
		return nil, err
	}
	if _, err = c.Kubectl(ctx, "", "create", "namespace", "fleet"); err != nil {
		return nil, err
	}
	replica, err := c.StartForewarm(ctx, "forewarm", "--prometheus-url="+prometheus.URL)
	if err != nil {
		return nil, err
	}
	return replica, c.WaitAvailable(ctx)
}

func fleetObjects(i string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: model-%[1]s, namespace: fleet}
spec:
  selector: {matchLabels: {app: model-%[1]s}}
  template:
    metadata: {labels: {app: model-%[1]s}, annotations: {start.e2e/delay: 1s}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: server, image: model}]}
---
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: model-%[1]s, namespace: fleet}
spec:
  targetRef: {kind: Deployment, name: model-%[1]s}
  signal: {query: 'sum(inflight{app="model-%[1]s"})'}
  leadTime: {mode: Fixed, duration: 5m}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: model-%[1]s, namespace: fleet}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: model-%[1]s}
  maxReplicas: 2
  metrics:
    - {type: External, external: {metric: {name: model-%[1]s}, target: {type: AverageValue, averageValue: "10"}}}`, i)
}

// externalGets is how many GETs of external metrics Forewarm has answered with 200.
func externalGets(c *clustertest.Cluster, r *clustertest.Replica) (n float64, err error) {
	client, err := c.Administrator()
	if err != nil {
		return 0, err
	}
	response, err := client.Get(r.URL + "/metrics") //nolint:noctx // The client has a timeout.
	if err != nil {
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	for lines := bufio.NewScanner(io.LimitReader(response.Body, 10<<20)); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "apiserver_request_total{") && strings.Contains(line, `code="200"`) &&
			strings.Contains(line, `group="external.metrics.k8s.io"`) {
			count, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				return 0, err
			}
			n += count
		}
	}
	return n, nil
}

func printFleets(fleets []fleet) {
	for _, f := range fleets {
		fmt.Printf("\n%d HPAs and Forecasts: created in %.0f s, scaled after %.0f s; %.0f %% of the syncs every 5 s read their metric\n",
			f.Objects, f.Created, f.Scaled, 100*f.Kept)
		table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "process\tCPU s until scaled\tcores while syncing")
		for _, name := range parts {
			fmt.Fprintf(table, "%s\t%.1f\t%.3f\n", name, f.Start[name], f.Sync[name])
		}
		table.Flush() //nolint:errcheck // The terminal is gone.
	}
}
