package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// warmPool is the pool to judge, and how long nodes take.
type warmPool struct {
	file, name, member string
	node               leadFlag
}

func (w *warmPool) add(flags *pflag.FlagSet) {
	flags.StringVar(&w.file, "warm-pool", "", "file with a WarmPool to simulate, under its own budget and others; "+
		"--lead-time is then that of a pod on an available node")
	flags.StringVar(&w.name, "warm-pool-name", "", "name of the WarmPool, if the file has several")
	flags.StringVar(&w.member, "member", "", "member of the pool whose history this is, if the pool has several")
	flags.Var(&w.node, "node-lead-time", "time from a request for a node to the node, for example 4m, or 4m,p90=6m; "+
		"without it, nodes are assumed to be available (default the pool's)")
}

// validate returns every problem with the flags.
func (w *warmPool) validate() error {
	if w.file == "" && (w.name != "" || w.member != "") {
		return errors.New("--warm-pool-name and --member are for --warm-pool FILE, which is missing")
	}
	return nil
}

// read puts the nodes and the pool into a comparison, and what is assumed of them. The GPUs of a replica are the pool's.
func (w *warmPool) read(ctx context.Context, c *compare.Config) error {
	if w.node.Known != "" {
		node := compare.LeadTime(w.node)
		c.Node = &node
	}
	if w.file == "" {
		return nil
	}
	text, err := cmdline.ReadFile(ctx, w.file, manifest.MaxFile)
	if err != nil {
		return fmt.Errorf("the pool: %w", err)
	}
	all, err := manifest.ReadPools(w.file, text)
	if err != nil {
		return err
	}
	one, err := w.named(all)
	if err != nil {
		return err
	}
	member, err := w.memberOf(one)
	if err != nil {
		return err
	}
	if c.Node == nil {
		c.Node = nodeLead(one, c)
	}
	c.Pool = &compare.Pool{
		Name: v1alpha1.WarmPoolKind + "/" + one.Object.Name + " in " + w.file, Member: member.Forecast,
		Members: len(one.Members), Spec: one.Pool, Chunks: member.Chunks,
	}
	if one.Object.Spec.Mode == v1alpha1.PoolRecommend {
		c.Remarks = append(c.Remarks,
			"The pool is in mode Recommend and holds nothing. It is simulated as in mode Enforce.")
	}
	return w.gpus(c)
}

// named returns the selected pool.
func (w *warmPool) named(all []manifest.PoolManifest) (*manifest.PoolManifest, error) {
	var names []string
	for i := range all {
		if all[i].Object.Name == w.name || w.name == "" && len(all) == 1 {
			return &all[i], nil
		}
		names = append(names, all[i].Object.Name)
	}
	if w.name != "" {
		return nil, fmt.Errorf("%s: no WarmPool %.64q, the file has %s", w.file, w.name, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%s: WarmPools %s: choose with --warm-pool-name NAME", w.file, strings.Join(names, ", "))
}

// memberOf is the member that the history is of.
func (w *warmPool) memberOf(p *manifest.PoolManifest) (manifest.PoolMember, error) {
	var names []string
	for _, m := range p.Members {
		names = append(names, m.Forecast)
	}
	switch i := slices.Index(names, w.member); {
	case i >= 0:
		return p.Members[i], nil
	case w.member != "":
		return manifest.PoolMember{}, fmt.Errorf("%s: WarmPool %s has no member %.64q: its members are %s",
			w.file, p.Object.Name, w.member, strings.Join(names, ", "))
	case len(names) == 1:
		return p.Members[0], nil
	}
	return manifest.PoolMember{}, fmt.Errorf(
		"%s: WarmPool %s has members %s: say which the history is of with --member NAME", w.file, p.Object.Name,
		strings.Join(names, ", "),
	)
}

// nodeLead is how long a node takes by the pool's own word.
func nodeLead(p *manifest.PoolManifest, c *compare.Config) *compare.LeadTime {
	node := &compare.LeadTime{Median: p.Pool.Node, Known: "from the pool"}
	if p.MeasureLeadTime {
		node.Known = "the pool's fallback"
		c.Remarks = append(
			c.Remarks,
			fmt.Sprintf("No lead time of nodes was given: the pool's fallback, %s, is assumed. "+
				"Set --node-lead-time.", humanize.Span(p.Pool.Node)),
		)
	}
	return node
}

// remarks warn that a measured lead time may include the wait for a node.
func (*warmPool) remarks(c *compare.Config, of string) []string {
	if c.Node == nil || of == "" {
		return nil
	}
	return []string{
		"The lead time of Forecast " + of + " is used as that of a pod on an available node. If its replicas wait for " +
			"nodes now, that wait is counted twice: set --lead-time instead.",
	}
}

// gpus takes those of a replica from the pool, where they are not given.
func (w *warmPool) gpus(c *compare.Config) error {
	of := c.Pool.Chunks * c.Pool.Spec.GPUs
	if c.GPUs != of && c.GPUs != defaultGPUs {
		return fmt.Errorf(
			"--gpus %v, but a replica takes %v chunks of %v GPUs in %s: leave --gpus out, or correct one of them",
			c.GPUs, c.Pool.Chunks, c.Pool.Spec.GPUs, w.file,
		)
	}
	if c.GPUs != of {
		c.GPUs = of
		c.Remarks = append(c.Remarks, fmt.Sprintf("A replica has %v GPUs, by the pool's chunks.", of))
	}
	return nil
}
