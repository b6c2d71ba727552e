package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// poolFile is a WarmPool in a file, and the member to which the history belongs. The zero value means no pool.
type poolFile struct{ file, name, member string }

// read adds the pool to a comparison, and the assumptions about it. The number of GPUs of a replica comes from the pool.
func (p *poolFile) read(ctx context.Context, c *compare.Config) error {
	if p.file == "" {
		return nil
	}
	text, err := cmdline.ReadFile(ctx, p.file, manifest.MaxFile)
	if err != nil {
		return fmt.Errorf("the pool: %w", err)
	}
	all, err := manifest.ReadPools(p.file, text)
	if err != nil {
		return err
	}
	one, err := p.named(all)
	if err != nil {
		return err
	}
	member, err := p.memberOf(one)
	if err != nil {
		return err
	}
	if c.Node == nil {
		c.Node = nodeLead(one, c)
	}
	c.Pool = &compare.Pool{
		Name: v1alpha1.WarmPoolKind + "/" + one.Object.Name + " in " + p.file, Member: member.Forecast,
		Members: len(one.Members), Spec: one.Pool, Chunks: member.Chunks,
	}
	if one.Object.Spec.Mode == v1alpha1.PoolRecommend {
		c.Remarks = append(c.Remarks,
			"The pool is in mode Recommend and holds nothing. It is simulated as if its mode were Enforce.")
	}
	return p.gpus(c)
}

// named returns the selected pool.
func (p *poolFile) named(all []manifest.ResolvedPool) (*manifest.ResolvedPool, error) {
	var names []string
	for i := range all {
		if all[i].Object.Name == p.name || p.name == "" && len(all) == 1 {
			return &all[i], nil
		}
		names = append(names, all[i].Object.Name)
	}
	if p.name != "" {
		return nil, fmt.Errorf("%s: no WarmPool %.64q, the file has %s", p.file, p.name, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%s: WarmPools %s: choose with --warm-pool-name NAME", p.file, strings.Join(names, ", "))
}

// memberOf returns the member to which the history belongs.
func (p *poolFile) memberOf(pool *manifest.ResolvedPool) (manifest.PoolMember, error) {
	var names []string
	for _, m := range pool.Members {
		names = append(names, m.Forecast)
	}
	switch i := slices.Index(names, p.member); {
	case i >= 0:
		return pool.Members[i], nil
	case p.member != "":
		return manifest.PoolMember{}, fmt.Errorf("%s: WarmPool %s has no member %.64q: its members are %s",
			p.file, pool.Object.Name, p.member, strings.Join(names, ", "))
	case len(names) == 1:
		return pool.Members[0], nil
	}
	return manifest.PoolMember{}, fmt.Errorf(
		"%s: WarmPool %s has members %s: set --member NAME to the member that the history belongs to", p.file,
		pool.Object.Name, strings.Join(names, ", "),
	)
}

// nodeLead returns how long a node takes to start according to the pool.
func nodeLead(p *manifest.ResolvedPool, c *compare.Config) *compare.LeadTime {
	node := &compare.LeadTime{Median: p.Pool.Node, Known: "from the pool"}
	if p.MeasureLeadTime {
		node.Known = "the pool's fallback"
		c.Remarks = append(c.Remarks,
			fmt.Sprintf("No lead time of a node was given, so the simulation uses the pool's fallback, %s. "+
				"Set --node-lead-time to change it.", humanize.Span(p.Pool.Node)))
	}
	return node
}

// doubleWait warns that a measured lead time may include the wait for a node.
func doubleWait(c *compare.Config, of string) []string {
	if c.Node == nil || of == "" {
		return nil
	}
	return []string{
		"The lead time of Forecast " + of + " is used as the lead time of a pod on an available node. If its replicas " +
			"currently wait for nodes, that wait is counted twice: set --lead-time instead.",
	}
}

// gpus sets the GPUs of a replica from the pool, if they are not given.
func (p *poolFile) gpus(c *compare.Config) error {
	of := c.Pool.Chunks * c.Pool.Spec.GPUs
	if c.GPUs != of && c.GPUs != defaultGPUs {
		return fmt.Errorf(
			"--gpus %v, but a replica takes %v chunks of %v GPUs in %s: leave out --gpus, or correct one of them",
			c.GPUs, c.Pool.Chunks, c.Pool.Spec.GPUs, p.file,
		)
	}
	if c.GPUs != of {
		c.GPUs = of
		c.Remarks = append(c.Remarks, fmt.Sprintf("A replica has %v GPUs, according to the pool's chunks.", of))
	}
	return nil
}
