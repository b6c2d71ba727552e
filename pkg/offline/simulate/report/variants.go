package report

import (
	"fmt"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// variantsSection compares all variants together with each alone.
func variantsSection(a *compare.Assumptions, v *compare.VariantsResult) section {
	out := section{
		Title: "Variants",
		Heads: []string{"demand on", "$"},
		Notes: []string{
			"The cheapest is filled first. One that takes longer to start than the own workload holds what lasts, and the others have " +
				"what is starting. Interruptions are assumed to be independent.",
		},
	}
	for _, name := range v.Names {
		out.Heads = append(out.Heads, "hours of "+name)
	}
	out.Heads = append(out.Heads, "churn /h", a.LimitedName())
	for i := range v.Results {
		one := &v.Results[i]
		line := []string{variantsOf(v, one), humanize.Amount(one.Dollars)}
		for _, hours := range one.ReplicaHours {
			line = append(line, humanize.Amount(hours))
		}
		out.Lines = append(
			out.Lines,
			append(line, formatDecimal(one.ChurnPerHour, 1), formatLimited(one.Limited, one.MeetsObjective)),
		)
	}
	out.Answer = variantsAnswer(a, v)
	return out
}

// variantsOf names those that have the demand.
func variantsOf(v *compare.VariantsResult, one *compare.VariantResult) string {
	if one.Name != "" {
		return one.Name + " alone"
	}
	return strings.Join(v.Names, " and ")
}

// variantsAnswer compares all together with the cheapest alone that keeps the objective.
func variantsAnswer(a *compare.Assumptions, v *compare.VariantsResult) string {
	all := v.Together()
	text := "Together they cost $" + humanize.Amount(all.Dollars)
	var best *compare.VariantResult
	for i := range v.Results[1:] {
		if one := &v.Results[1+i]; one.MeetsObjective && (best == nil || one.Dollars < best.Dollars) {
			best = one
		}
	}
	switch {
	case best == nil:
		text += ", and none of them alone keeps the objective"
	case best.Dollars > 0:
		text += fmt.Sprintf(
			", and the cheapest alone that keeps the objective, %s, $%s: %s",
			best.Name,
			humanize.Amount(best.Dollars),
			humanize.Percent(all.Dollars/best.Dollars-1),
		)
	}
	if !all.MeetsObjective {
		text += "; they miss the objective, " + humanize.Share(all.Limited) + " of the demand is " + a.LimitedWord()
	}
	return text + "."
}

func variantObject(a *compare.Assumptions, v *compare.VariantsResult, one *compare.VariantResult) jsonObject {
	hours := make(jsonObject, 0, len(v.Names))
	for i, name := range v.Names {
		hours = append(hours, jsonMember{name, one.ReplicaHours[i]})
	}
	return jsonObject{
		{"demand_on", variantsOf(v, one)},
		{"dollars", one.Dollars},
		{"replica_hours", hours},
		{"churn_per_hour", one.ChurnPerHour},
		{nameOfLimited(a), one.Limited},
		{"meets_objective", one.MeetsObjective},
	}
}
