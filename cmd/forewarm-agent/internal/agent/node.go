package agent

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/history"
	"github.com/forewarm/forewarm/pkg/agent/pods/kubelet"
	"github.com/forewarm/forewarm/pkg/agent/pods/owners"
)

// holders asks the kubelet.
type holders struct{ kubelet *kubelet.Lister }

// Holdings implements collect.Holders.
func (h holders) Holdings(ctx context.Context, reading gpu.Reading) (collect.Held, error) {
	answer, err := h.kubelet.Holdings(ctx, reading)
	if err != nil {
		return collect.Held{}, err
	}
	left := make(map[string]int, len(answer.LeftOut))
	for reason, n := range answer.LeftOut {
		left[string(reason)] = n
	}
	return collect.Held{Holdings: answer.Holdings, LeftOut: left, Estimated: answer.ReplicasSeen}, nil
}

// node is a collector on the node that this runs on; close ends its connections.
func (p Program) node(
	o Options,
	before history.Hour,
	log *slog.Logger,
) (c *collect.Collector, end func() error, err error) {
	lister, err := kubelet.Dial(o.Socket)
	if err != nil {
		return nil, nil, fmt.Errorf("--pod-resources-socket: %w", err)
	}
	c, err = collect.New(o.Collect, collect.Deps{
		Reader: p.Driver, Holders: holders{lister}, Owners: owners.New(os.DirFS(o.Proc), os.DirFS(o.Logs)),
		Before: before, Log: log,
	})
	if err != nil {
		return nil, nil, err
	}
	return c, lister.Close, nil
}
