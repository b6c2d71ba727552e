package forecasts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// LeaseConfig is the configuration of the leader's lease.
type LeaseConfig struct {
	// Namespace and Name of the Lease object; the namespace is Forewarm's.
	Namespace, Name string
	// Identity of this replica, unique: its pod's name.
	Identity string
	// Duration after its last renewal, after which a leader is replaced; default 15 s. The leader renews the lease
	// every sixth of it, and gives up after two thirds at the latest, which leaves a third for a leader that stalls.
	Duration time.Duration
}

// Leadership runs work on one of several replicas.
type Leadership struct {
	config LeaseConfig
	lock   resourcelock.Interface
	log    *slog.Logger
}

// NewLeadership returns a Leadership for a lease. It sends no requests.
func NewLeadership(cluster *rest.Config, config LeaseConfig, log *slog.Logger) (*Leadership, error) {
	if config.Duration == 0 {
		config.Duration = 15 * time.Second
	}
	if err := config.validate(); err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("create a client for the lease: %w", err)
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: config.Namespace, Name: config.Name},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: config.Identity},
	}
	return &Leadership{config: config, lock: lock, log: log}, nil
}

func (c LeaseConfig) validate() error {
	var problems []error
	for name, value := range map[string]string{"namespace": c.Namespace, "name": c.Name, "identity": c.Identity} {
		if value == "" {
			problems = append(problems, fmt.Errorf("lease: the %s is missing", name))
		}
	}
	if c.Duration < time.Second {
		problems = append(problems, fmt.Errorf("lease: duration %s, expected at least 1s", c.Duration))
	}
	return errors.Join(problems...)
}

// Run campaigns until the context ends, and runs the work while this replica leads. The work's context ends with the
// term; the work has returned before another term begins and before the lease is released. A lease is not a fence: if
// a leader stalls for longer than a third of the lease's duration, two replicas may work at once. The work must allow
// that (statuses are written against the resource version that was read).
func (l *Leadership) Run(ctx context.Context, work func(context.Context)) error {
	for ctx.Err() == nil {
		if err := l.term(ctx, work); err != nil {
			return err
		}
	}
	return nil
}

// term campaigns and runs the work for one term.
func (l *Leadership) term(ctx context.Context, work func(context.Context)) error {
	// The election continues after ctx ends, until the work has returned. Then the lease is released.
	campaign, resign := context.WithCancel(
		logr.NewContext(context.WithoutCancel(ctx), logr.FromSlogHandler(l.log.Handler())))
	defer resign()
	elected := make(chan context.Context, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            l.lock,
		Name:            l.config.Name,
		LeaseDuration:   l.config.Duration,
		RenewDeadline:   l.config.Duration / 2, // This deadline begins with the first renewal that is due.
		RetryPeriod:     l.config.Duration / 6,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(term context.Context) { elected <- term },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("campaign for the lease %s/%s: %w", l.config.Namespace, l.config.Name, err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		elector.Run(campaign)
	}()
	select {
	case term := <-elected:
		l.lead(ctx, term, work)
	case <-over:
	case <-ctx.Done():
	}
	resign()
	<-over
	return nil
}

// lead runs the work until the term or ctx ends.
func (l *Leadership) lead(ctx, term context.Context, work func(context.Context)) {
	l.log.InfoContext(
		ctx,
		"this replica is now the leader: it writes the status of objects",
		"lease",
		l.config.Name,
		"identity",
		l.config.Identity,
	)
	working, stop := context.WithCancel(term)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	work(working)
	l.log.InfoContext(ctx, "this replica is no longer the leader: it continues to serve", "lease", l.config.Name,
		"identity", l.config.Identity)
}
