package e2e_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// soakWindow is the time over which latencies are summarised.
const soakWindow = 10 * time.Second

// soakLoad are requests to the replicas as the aggregator sends them, in turn to those that are ready. Where a connection breaks it is
// sent again, as the aggregator does, and after a second where there were too many, as client-go does; not after a time-out. The
// aggregator is part of the kube-apiserver: while that is away none are sent, and who waits for an answer is gone; and there are never
// more under way than a kube-apiserver lets through.
type soakLoad struct {
	targets []target
	up      [2]atomic.Bool
	// wholeFrom is when a replica surely has the whole histories of all whose source works, in Unix seconds: one that could not be
	// reached next to a busy other one was ready before.
	wholeFrom [2]atomic.Int64
	// outages is odd while the kube-apiserver is away.
	outages atomic.Int64

	mu     sync.Mutex
	served map[soakSample]soakAnswer
	// compared are values of samples that both replicas gave, differing the first that differ, and different how many do.
	compared, different int
	differing           []string
	sent, again, failed int
	problems            []string
	// failedAt counts those that failed by the second, failedWith by the last error.
	failedAt, failedWith map[string]int
	took                 []time.Duration
	// p99 of each window, in milliseconds, and its end.
	p99 []soakPoint
}

// soakSample is a Forecast's newest sample.
type soakSample struct {
	forecast int
	at       time.Time
}

// soakAnswer is a value, and who gave it.
type soakAnswer struct{ value, by string }

// soakPoint is a figure at a time.
type soakPoint struct {
	at    time.Time
	value float64
}

func (s *stage) startSoakLoad(t *testing.T) *soakLoad {
	t.Helper()
	certificate, err := tls.LoadX509KeyPair(
		filepath.Join(s.Dir, "front-proxy.crt"),
		filepath.Join(s.Dir, "front-proxy.key"),
	)
	if err != nil {
		t.Fatal(err)
	}
	l := &soakLoad{served: map[soakSample]soakAnswer{}, failedAt: map[string]int{}, failedWith: map[string]int{}}
	for i, r := range s.replicas {
		config := clustertest.Unverified()
		config.Certificates = []tls.Certificate{certificate}
		l.targets = append(l.targets, target{
			name: r.Name, accept: "application/json",
			url: func(i int) string { key := soakName(i); return r.URL + metric(key.namespace, key.name, "") },
			client: &http.Client{
				Timeout:   5 * time.Second,
				Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true},
			},
		})
		l.up[i].Store(true)
	}
	return l
}

// run sends requests at the rate until the returned function is called.
func (l *soakLoad) run(t *testing.T) (stop func()) {
	t.Helper()
	quit, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		var sent sync.WaitGroup
		defer sent.Wait()
		underWay := make(chan struct{}, soakUnderWay)
		next, window := time.Now(), time.Now()
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			case <-time.After(time.Until(next)):
			}
			if next = next.Add(time.Second / soakRate); l.outages.Load()%2 == 1 {
				next = time.Now().Add(time.Second / soakRate)
				continue
			}
			underWay <- struct{}{}
			if time.Since(next) > time.Second {
				next = time.Now() // Who had to wait asks later, and not more often then.
			}
			sent.Go(func() {
				defer func() { <-underWay }()
				l.send(t.Context(), i)
			})
			if time.Since(window) > soakWindow {
				window = time.Now()
				l.closeWindow(window)
			}
		}
	}()
	return func() { close(quit); <-over }
}

// closeWindow summarises the latencies, and forgets the values of old samples.
func (l *soakLoad) closeWindow(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.took)
	if len(l.took) > 0 {
		l.p99 = append(l.p99, soakPoint{now, l.took[len(l.took)*99/100].Seconds() * 1000})
	}
	l.took = l.took[:0]
	old := now.Add(-5 * time.Minute)
	for sample := range l.served {
		if sample.at.Before(old) {
			delete(l.served, sample)
		}
	}
}

// send asks a replica for the ith Forecast and, where it fails, the other one if that is ready, else the same again.
func (l *soakLoad) send(ctx context.Context, i int) {
	forecast := i / len(l.targets) % soakForecasts // Each replica is asked for each.
	by := l.ready(i % len(l.targets))
	begun, outages := time.Now(), l.outages.Load()
	body, err := l.targets[by].get(ctx, forecast)
	again, firstErr := err != nil && !os.IsTimeout(err), err
	if again && ctx.Err() == nil {
		pause := 10 * time.Millisecond
		if strings.Contains(err.Error(), http.StatusText(http.StatusTooManyRequests)) {
			pause = time.Second
		}
		time.Sleep(pause)
		by = l.ready(1 - i%len(l.targets))
		body, err = l.targets[by].get(ctx, forecast)
	}
	took := time.Since(begun)
	if ctx.Err() != nil {
		return
	}
	var (
		sample time.Time
		value  string
	)
	if err == nil {
		sample, value, err = soakValue(body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outages.Load() != outages {
		return
	}
	l.sent++
	if again {
		l.again++
	}
	if err != nil {
		l.failed++
		l.failedAt[begun.UTC().Format(time.TimeOnly)]++
		l.failedWith[kindOf(err)]++
		if len(l.problems) < 5 {
			l.problems = append(
				l.problems,
				fmt.Sprintf("%s: %v, then %v", begun.UTC().Format(time.TimeOnly), firstErr, err),
			)
		}
		return
	}
	if !again {
		l.took = append(l.took, took)
	}
	if forecast%soakNamespaces >= soakNamespaces-soakShaky {
		return // What a replica knows of samples that come late depends on when it could read them.
	}
	if time.Now().Unix() < l.wholeFrom[by].Load() {
		return
	}
	if time.Since(sample) >= 2*soakStep {
		return // The next step is over, too: without a sample it changes the value, and not the sample's time.
	}
	key := soakSample{forecast, sample}
	before, known := l.served[key]
	l.served[key] = soakAnswer{value, l.targets[by].name}
	if known {
		l.compared++
	}
	if known && before.value != value {
		l.different++
		if len(l.differing) < 20 {
			l.differing = append(
				l.differing,
				fmt.Sprintf(
					"Forecast %d at %s: %s by %s, then at %s %s by %s",
					forecast,
					sample.Format(time.RFC3339),
					before.value,
					before.by,
					begun.UTC().Format(time.TimeOnly),
					value,
					l.targets[by].name,
				),
			)
		}
	}
}

// kindOf is an error without what differs from request to request.
func kindOf(err error) string {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	return fmt.Sprintf("%.70s", err)
}

// ready is the wanted replica, or the other while that is not ready.
func (l *soakLoad) ready(i int) int {
	if !l.up[i].Load() {
		return 1 - i
	}
	return i
}

// soakValue is the value of an answer, and the time of its sample.
func soakValue(answer []byte) (sample time.Time, value string, err error) {
	_, body, _ := cutLine(answer)
	var list struct {
		Items []struct {
			Timestamp time.Time
			Value     string
		}
	}
	if err = json.Unmarshal(body, &list); err == nil && len(list.Items) != 1 {
		err = fmt.Errorf("%d values, want one", len(list.Items))
	}
	if err != nil {
		return time.Time{}, "", err
	}
	return list.Items[0].Timestamp, list.Items[0].Value, nil
}

func cutLine(text []byte) (line, rest []byte, ok bool) {
	i := slices.Index(text, '\n')
	if i < 0 {
		return text, nil, false
	}
	return text[:i], text[i+1:], true
}

// serveLoopback serves until the test ends, and returns the address.
func serveLoopback(t *testing.T, handler http.Handler) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}
