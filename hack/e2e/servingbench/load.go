package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// aggregator is a client like the kube-apiserver's for one server: a connection by HTTP/2 with the front proxy's certificate.
func aggregator(dir string) (*http.Client, error) {
	config := clustertest.Unverified()
	certificate, err := tls.LoadX509KeyPair(dir+"/front-proxy.crt", dir+"/front-proxy.key")
	config.Certificates = []tls.Certificate{certificate}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}, err
}

// get sends the nth request on behalf of the HPA controller, and returns the answer's type and body.
func (s *server) get(ctx context.Context, n int) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.urls[n%len(s.urls)], http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{
		"Accept":        {"application/vnd.kubernetes.protobuf,application/json"},
		"User-Agent":    {"kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/horizontal-pod-autoscaler"},
		"X-Remote-User": {"system:serviceaccount:kube-system:horizontal-pod-autoscaler"},
		"X-Remote-Uid":  {"6d5b9a1c-6f0c-4a0e-8d3b-0a9c2c6f7f10"},
		"X-Remote-Group": {
			"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated",
		},
		"X-Remote-Extra-Authentication.kubernetes.io%2fcredential-Id": {"JTI=1c1a8c2e-5b0f-4a4e-9a53-3d5e1f0f6c55"},
		"X-Forwarded-For": {"127.0.0.1"}, "X-Forwarded-Proto": {"https"},
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.300s", s.name, response.Status, body)
	}
	return append([]byte(response.Header.Get("Content-Type")+"\n"), body...), err
}

// load sends requests at a rate, whether or not earlier ones were answered.
func (s *server) load(ctx context.Context, rate int, length time.Duration) reading {
	r := reading{Server: s.name, Rate: rate}
	took := make([]time.Duration, int(float64(rate)*length.Seconds()))
	var failed atomic.Int64
	var sent sync.WaitGroup
	own, behind, begin := cpu(s.own), cpu(s.behind...), time.Now()
	for i := range took {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		sent.Go(func() {
			now := time.Now()
			if _, err := s.get(ctx, i); err != nil {
				if failed.Add(1) == 1 {
					progress("%v", err)
				}
			}
			took[i] = time.Since(now)
		})
	}
	sent.Wait()
	n := float64(len(took))
	r.CPU, r.Behind = micro(cpu(s.own)-own)/n, micro(cpu(s.behind...)-behind)/n
	slices.Sort(took)
	r.P50, r.P99 = micro(took[len(took)/2])/1000, micro(took[len(took)*99/100])/1000
	r.Failed = int(failed.Load())
	return r
}

func micro(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// measureServing measures all servers in turn, round by round, so that what else the machine does meets all of them.
func measureServing(ctx context.Context, c *clustertest.Cluster, o options) ([]reading, error) {
	servers, err := startServers(ctx, c)
	if err != nil {
		return nil, err
	}
	defer servers[0].own.Kill()
	var all [][]reading // By server and rate, those of every round.
	for round := range o.rounds {
		progress("round %d of %d", round+1, o.rounds)
		idle := make([][2]time.Duration, len(servers)) // What they spend without requests.
		for i, s := range servers {
			idle[i] = [2]time.Duration{cpu(s.own), cpu(s.behind...)}
		}
		time.Sleep(o.round)
		for i, s := range servers {
			idle[i] = [2]time.Duration{cpu(s.own) - idle[i][0], cpu(s.behind...) - idle[i][1]}
		}
		for j, rate := range o.rates {
			var bare reading
			for i, s := range servers {
				s.load(ctx, rate, time.Second) // Reviews are cached, code and connections are warm.
				r := s.load(ctx, rate, o.round)
				n := float64(rate) * o.round.Seconds()
				r.CPU, r.Behind = r.CPU-micro(idle[i][0])/n, r.Behind-micro(idle[i][1])/n
				if i == 0 {
					bare = r
				}
				r.CPURatio, r.P50Ratio, r.P99Ratio = r.CPU/bare.CPU, r.P50/bare.P50, r.P99/bare.P99
				if round == 0 {
					all = append(all, nil)
				}
				all[j*len(servers)+i] = append(all[j*len(servers)+i], r)
			}
		}
	}
	for _, s := range servers {
		s.client.CloseIdleConnections() // Servers wait for them when they end.
	}
	out := make([]reading, len(all))
	for i, rounds := range all {
		out[i] = medians(rounds)
	}
	return out, ctx.Err()
}

// medians are those of each figure; failures are summed.
func medians(rounds []reading) reading {
	out := rounds[0]
	for _, figure := range []func(*reading) *float64{
		func(r *reading) *float64 { return &r.CPU }, func(r *reading) *float64 { return &r.Behind },
		func(r *reading) *float64 { return &r.P50 }, func(r *reading) *float64 { return &r.P99 },
		func(r *reading) *float64 { return &r.CPURatio }, func(r *reading) *float64 { return &r.P50Ratio },
		func(r *reading) *float64 { return &r.P99Ratio },
	} {
		slices.SortFunc(rounds, func(a, b reading) int { return cmp.Compare(*figure(&a), *figure(&b)) })
		*figure(&out) = *figure(&rounds[len(rounds)/2])
	}
	out.Failed = 0
	for i := range rounds {
		out.Failed += rounds[i].Failed
	}
	return out
}

func printServing(readings []reading) {
	if len(readings) == 0 {
		return
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "requests/s\tserver\tCPU µs a GET\tratio\twith those it asks\tp50 ms\tratio\tp99 ms\tratio\tfailed")
	for _, r := range readings {
		bare := r.CPU / r.CPURatio
		fmt.Fprintf(table, "%d\t%s\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%d\n", r.Rate, r.Server, r.CPU, r.CPURatio,
			(r.CPU+r.Behind)/bare, r.P50, r.P50Ratio, r.P99, r.P99Ratio, r.Failed)
	}
	table.Flush() //nolint:errcheck // The terminal is gone.
}
