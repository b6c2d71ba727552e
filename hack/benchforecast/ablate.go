package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast/ensemble"
)

// ablationRow is what the default model loses on a set without a kind of candidates: the change of each measure as a
// share, above 0 where the kind is worth something, and of the CPU seconds of a fit.
type ablationRow struct {
	Set     string `json:"set"`
	Name    string `json:"name"`
	Without string `json:"without"`
	MASE    figure `json:"mase_change"`
	MSIS    figure `json:"msis95_change"`
	WQL     figure `json:"wql_change"`
	CPU     figure `json:"cpu_seconds_change"`
}

// ablate scores the default model without each kind of its candidates in turn.
func (s set) ablate(whole []answer, rows printer, words io.Writer) error {
	with := s.score(whole)
	for _, kind := range candidateKinds(whole) {
		answers, err := s.ask(variant(" without "+kind, func(auto *ensemble.Auto) { auto.Without = []string{kind} }), words)
		if err != nil {
			return fmt.Errorf("%s without %s: %w", s.name, kind, err)
		}
		less := s.score(answers)
		err = rows.ablation(ablationRow{
			Set: "ablation", Name: s.name, Without: kind, MASE: less.MASE/with.MASE - 1, MSIS: less.MSIS95/with.MSIS95 - 1,
			WQL: less.WQL/with.WQL - 1, CPU: less.CPU - with.CPU,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// candidateKinds are those of any window, in alphabetical order, but for the last value, which is always a member.
func candidateKinds(answers []answer) []string {
	found := map[string]bool{}
	for _, a := range answers {
		for _, kind := range a.kinds {
			found[kind] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// kinds are those of the candidates that were fitted, but for the last value, which comes first.
func kinds(r ensemble.Reasons) []string {
	var out []string
	for _, c := range r.Candidates[1:] {
		if !c.TooCostly {
			out = append(out, c.Kind)
		}
	}
	return out
}

// overSets are the means over the sets of which a kind is a candidate, in the order of their first ones. A set where a
// measure has no change, for want of a scale, is left out of it.
func overSets(all []ablationRow) []ablationRow {
	var out []ablationRow
	for _, row := range all {
		if slices.ContainsFunc(out, func(r ablationRow) bool { return r.Without == row.Without }) {
			continue
		}
		mean := func(of func(ablationRow) figure) figure {
			sum, n := figure(0), figure(0)
			for _, r := range all {
				if v := of(r); r.Without == row.Without && !math.IsNaN(float64(v)) {
					sum, n = sum+v, n+1
				}
			}
			return sum / n
		}
		out = append(out, ablationRow{
			Name: "the mean over its sets", Without: row.Without,
			MASE: mean(func(r ablationRow) figure { return r.MASE }),
			MSIS: mean(func(r ablationRow) figure { return r.MSIS }),
			WQL:  mean(func(r ablationRow) figure { return r.WQL }),
			CPU:  mean(func(r ablationRow) figure { return r.CPU }),
		})
	}
	return out
}
