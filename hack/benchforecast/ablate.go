package main

import (
	"fmt"
	"io"
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
	Point   figure `json:"mase_point_change"`
	MSIS    figure `json:"msis95_change"`
	WQL     figure `json:"wql_change"`
	CPU     figure `json:"cpu_seconds_change"`
}

// ablate scores the default model without each kind of its candidates in turn.
func (s set) ablate(whole []answer, rows printer, words io.Writer) error {
	with := s.score(whole)
	for _, kind := range candidateKinds(whole) {
		less := variant(" without "+kind, func(auto *ensemble.Auto) { auto.Without = []string{kind} })
		answers, err := s.ask(less, words)
		if err != nil {
			return fmt.Errorf("%s without %s: %w", s.name, kind, err)
		}
		row := s.score(answers)
		err = rows.ablation(ablationRow{
			Set: "ablation", Name: s.name, Without: kind, CPU: row.CPU - with.CPU, MASE: row.MASE/with.MASE - 1,
			Point: row.MASEPoint/with.MASEPoint - 1, MSIS: row.MSIS95/with.MSIS95 - 1, WQL: row.WQL/with.WQL - 1,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// candidateKinds are those of any window, in alphabetical order.
func candidateKinds(answers []answer) []string {
	var found []string
	for _, a := range answers {
		found = append(found, a.kinds...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// kinds are those of the candidates that were fitted, but for the last value, which comes first and always takes part.
func kinds(r ensemble.Reasons) (out []string) {
	for _, c := range r.Candidates[1:] {
		if !c.TooCostly {
			out = append(out, c.Kind)
		}
	}
	return out
}
