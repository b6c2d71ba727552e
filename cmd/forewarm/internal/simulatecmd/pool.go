package simulatecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/files"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/manifest/pool"
	"github.com/forewarm/forewarm/pkg/manifest/strict"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// warmPool is the pool to judge, and how long nodes take.
type warmPool struct {
	file, name, member string
	node               lead
}

func (w *warmPool) add(flags *pflag.FlagSet) {
	flags.StringVar(&w.file, "warm-pool", "", "file with a WarmPool: what it would have cost, and what it would have "+
		"saved, under its budget and others; --lead-time is then that of a pod on a node that is there")
	flags.StringVar(&w.name, "warm-pool-name", "", "name of the WarmPool, where the file holds several")
	flags.StringVar(&w.member, "member", "", "Forecast among its members that the history is of, where it has several")
	flags.Var(&w.node, "node-lead-time", "how long a node takes that a replica waits for where it finds none, "+
		"for example 4m, or 4m,p90=6m; without one, --lead-time has that in it (default the pool's)")
}

// validate says what is wrong with the flags; of says that the lead time is one that was measured.
func (w *warmPool) validate() error {
	if w.file == "" && (w.name != "" || w.member != "") {
		return errors.New("--warm-pool-name and --member are for --warm-pool FILE, which is missing")
	}
	return nil
}

// read puts the nodes and the pool into a comparison, and what is assumed of them. The GPUs of a replica are the pool's.
func (w *warmPool) read(ctx context.Context, c *compare.Config) error {
	if w.node.Known != "" {
		node := compare.Lead(w.node)
		c.Node = &node
	}
	if w.file == "" {
		return nil
	}
	text, err := files.Read(ctx, w.file, strict.MaxFile)
	if err != nil {
		return fmt.Errorf("the pool: %w", err)
	}
	all, err := pool.Read(w.file, text)
	if err != nil {
		return err
	}
	one, err := w.named(all)
	if err != nil {
		return err
	}
	member, err := w.of(one)
	if err != nil {
		return err
	}
	if c.Node == nil {
		c.Node = nodeOf(one, c)
	}
	c.Pool = &compare.Pool{
		Name: v1alpha1.WarmPoolKind + "/" + one.Object.Name + " in " + w.file, Member: member.Forecast,
		Members: len(one.Members), Asked: one.Pool, Chunks: member.Chunks,
	}
	if one.Object.Spec.Mode == v1alpha1.PoolRecommend {
		c.Remarks = append(c.Remarks,
			"The pool is in mode Recommend, in which it holds nothing: it is played as if in mode Enforce.")
	}
	return w.gpus(c)
}

// named is the pool that is asked for.
func (w *warmPool) named(all []pool.Written) (*pool.Written, error) {
	var names []string
	for i := range all {
		if all[i].Object.Name == w.name || w.name == "" && len(all) == 1 {
			return &all[i], nil
		}
		names = append(names, all[i].Object.Name)
	}
	if w.name != "" {
		return nil, fmt.Errorf("%s: no WarmPool %.64q, it holds %s", w.file, w.name, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%s: WarmPools %s: choose with --warm-pool-name NAME", w.file, strings.Join(names, ", "))
}

// of is the member that the history is of.
func (w *warmPool) of(p *pool.Written) (pool.Member, error) {
	var names []string
	for _, m := range p.Members {
		names = append(names, m.Forecast)
	}
	switch i := slices.Index(names, w.member); {
	case i >= 0:
		return p.Members[i], nil
	case w.member != "":
		return pool.Member{}, fmt.Errorf("%s: WarmPool %s has no member %.64q: its members are %s",
			w.file, p.Object.Name, w.member, strings.Join(names, ", "))
	case len(names) == 1:
		return p.Members[0], nil
	}
	return pool.Member{}, fmt.Errorf("%s: WarmPool %s has members %s: say which the history is of with --member NAME",
		w.file, p.Object.Name, strings.Join(names, ", "))
}

// nodeOf is how long a node takes by the pool's own word.
func nodeOf(p *pool.Written, c *compare.Config) *compare.Lead {
	node := &compare.Lead{Median: p.Pool.Node, Known: "as the pool says"}
	if p.Measured {
		node.Known = "the pool's fallback"
		c.Remarks = append(c.Remarks, fmt.Sprintf("How long a node takes was not given: %s is assumed, the pool's "+
			"fallback until it is measured. Give your own with --node-lead-time.", humanize.Span(p.Pool.Node)))
	}
	return node
}

// remarks are what a lead time that a forewarm measured, which may have the wait for a node in it, means beside nodes.
func (*warmPool) remarks(c *compare.Config, of string) []string {
	if c.Node == nil || of == "" {
		return nil
	}
	return []string{
		"The lead time of Forecast " + of + " is taken for that of a pod on a node that is there. Where its replicas " +
			"wait for nodes now, that is in it, and is counted twice: give --lead-time in its place.",
	}
}

// gpus takes those of a replica from the pool, where they are not given.
func (w *warmPool) gpus(c *compare.Config) error {
	of := c.Pool.Chunks * c.Pool.Asked.GPUs
	if c.GPUs != of && c.GPUs != defaultGPUs {
		return fmt.Errorf("--gpus %v, but a replica takes %v chunks of %v GPUs in %s: leave --gpus out, or mend the "+
			"one that is wrong", c.GPUs, c.Pool.Chunks, c.Pool.Asked.GPUs, w.file)
	}
	if c.GPUs != of {
		c.GPUs = of
		c.Remarks = append(c.Remarks, fmt.Sprintf("A replica has %v GPUs, as the pool's chunks have.", of))
	}
	return nil
}
