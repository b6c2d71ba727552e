package report_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// Text, JSON and page agree: each has every policy once, with the same figures to the printed precision, and of the sections
// just those that were asked for.
func TestWritersAgree(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*compare.Comparison)
		says   string
	}{
		{"all", func(*compare.Comparison) {}, "The cheapest that meets the objective is wait 5m0s: $2,585 instead of $5,170."},
		{"no pool", func(c *compare.Comparison) { c.WarmPool = nil }, "This history is made up, and so is this verdict"},
		{"no what-ifs", without("What would save more"), "is quarter (0.25 × $1.10/h, capacity 300): $2,640 instead of"},
		{"no shapes", without("Other GPU shapes"), "Each line is one change."},
		{"no servers that sleep", without("Servers that sleep"), "A replica sustains 1000 (given)."},
		{"no variants", without("Variants"), "for the servers that are awake. This pays off if a GPU-hour of a sleeping server costs less than 48.3% of"},
		{"nothing else", func(c *compare.Comparison) { *c = *comparison() }, "Two days are short"},
		{"no price", func(c *compare.Comparison) {
			c.Assumptions.GPUPrice = 0
			for i := range c.Scenarios {
				c.Scenarios[i].GPUPrice, c.Scenarios[i].Dollars = 0, 0
			}
		}, "is wait 5m0s: 845 GPU-hours instead of 1,690 GPU-hours."},
		{"by bad hours", byBadHours, "of the demand may arrive in bad hours (hours in which more than a tenth of"},
		{"work that may wait", func(c *compare.Comparison) {
			c.Assumptions.Deferrable, c.Assumptions.Deadline = 0.2, time.Hour
		}, "may wait longer than 30s; 20% of the demand may wait 1h"},
		{"no capacity", func(c *compare.Comparison) { c.Assumptions.CapacityAssumed = true }, "No replica capacity was given."},
		{"interrupted", func(c *compare.Comparison) { c.Partial = true }, "Interrupted: the figures are correct"},
		{"nothing saves", func(c *compare.Comparison) {
			for i := range c.Scenarios {
				c.Scenarios[i].MeetsObjective = false
			}
		}, "None of these meets the objective at a lower cost."},
		{"too short", func(c *compare.Comparison) { c.Verdict, c.NoVerdict = "", "Ten hours." }, "Variants Ten hours."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := withAnswers()
			tt.change(c)
			inText, page := text(t, c, 120), parsed(t, c)
			var told figures
			if err := json.Unmarshal([]byte(asJSON(t, c)), &told); err != nil {
				t.Fatal(err)
			}
			for where, all := range map[string]string{"text": inText, "page": page.text} {
				if !strings.Contains(joined(all), tt.says) {
					t.Errorf("the %s does not say %q:\n%s", where, tt.says, all)
				}
			}
			lines := map[string][]string{"text": strings.Split(inText, "\n"), "page": tableLines(page)}
			for where, all := range lines {
				for i, line := range all {
					lines[where][i] = joined(line)
				}
			}
			policiesAgree(t, c, told, lines)
			sectionsAgree(t, c, told, lines)
			if priced := strings.Contains(inText, "$"); priced != (c.Assumptions.GPUPrice > 0) {
				t.Errorf("dollars are shown: %t", priced)
			}
		})
	}
}

// figures is an object of the JSON.
type figures map[string]any

// object is an object in it, nil where there is none.
func (f figures) object(name string) figures { return asFigures(f[name]) }

func asFigures(v any) figures {
	if object, ok := v.(map[string]any); ok {
		return object
	}
	return nil
}

// list is a list of objects, empty where there is none.
func (f figures) list(name string) []figures {
	var out []figures
	if all, ok := f[name].([]any); ok {
		for _, one := range all {
			out = append(out, asFigures(one))
		}
	}
	return out
}

func (f figures) text(name string) string { return fmt.Sprint(f[name]) }

func (f figures) is(name string) bool { return f[name] == true }

// number is NaN for null.
func (f figures) number(name string) float64 {
	if v, ok := f[name].(float64); ok {
		return v
	}
	return math.NaN()
}

func (f figures) amount(name string) string { return humanize.Amount(f.number(name)) }

func (f figures) share(name string) string { return humanize.Share(f.number(name)) }

func (f figures) decimal(name string, digits int) string {
	return strconv.FormatFloat(f.number(name), 'f', digits, 64)
}

func (f figures) minutes(name string) string {
	if f.number(name) == 0 {
		return humanize.Unknown
	}
	return strconv.FormatFloat(f.number(name)/60, 'f', 1, 64)
}

// limited is the share that the objective limits, in a section.
func (f figures) limited(name string) string {
	if f.is("meetsObjective") {
		return f.share(name)
	}
	return f.share(name) + " misses"
}

// joined has one space between words.
func joined(text string) string { return strings.Join(strings.Fields(text), " ") }

// tableLines are the titles and the lines of the tables of a page, with the marks that the text has for its tags.
func tableLines(page *element) []string {
	var out []string
	for _, section := range of(page.all("section"), "answer") {
		out = append(out, section.all("h2")[0].text)
	}
	for _, line := range page.all("tr") {
		var cells, marks []string
		for _, cell := range line.children {
			text := cell.text
			for _, tag := range cell.children {
				text = strings.Replace(text, tag.text, " ", 1)
				switch {
				case tag.text == "hindsight":
					marks = append(marks, "¹")
				case strings.HasPrefix(tag.text, "misses"):
					marks = append(marks, "!")
				}
			}
			cells = append(cells, text)
		}
		out = append(out, strings.Join(append(cells, marks...), " "))
	}
	return out
}

// asks reports whether a question was asked.
func asks(c *compare.Comparison, title string) bool {
	return slices.ContainsFunc(c.Scenarios, func(o compare.Outcome) bool { return o.Title == title })
}

// without leaves out a question.
func without(title string) func(*compare.Comparison) {
	return func(c *compare.Comparison) {
		c.Scenarios = slices.DeleteFunc(c.Scenarios, func(o compare.Outcome) bool { return o.Title == title })
	}
}

// policiesAgree wants every policy once, with the figures of the JSON, and its marks.
func policiesAgree(t *testing.T, c *compare.Comparison, told figures, lines map[string][]string) {
	t.Helper()
	policies := told.list("policies")
	if len(policies) != len(c.Policies) {
		t.Errorf("the JSON has %d policies, want %d", len(policies), len(c.Policies))
	}
	unmarked := strings.NewReplacer("¹", " ", "!", " ")
	for i, p := range policies {
		cells := []string{c.Policies[i].Name, humanize.Number(p.number("target")), p.amount("gpuHours")}
		if c.Assumptions.GPUPrice > 0 {
			cells = append(cells, p.amount("dollars"))
		}
		cells = append(cells, p.share("lateFraction"))
		if c.Assumptions.BadHours {
			cells = append(cells, p.share("badHoursFraction"))
		}
		cells = append(cells, p.share("droppedFraction"), p.text("coldStarts"), p.decimal("churnPerHour", 1),
			p.minutes("earlySeconds"), p.minutes("lateSeconds"), p.decimal("relativeCost", 2))
		for where, all := range lines {
			found := slices.DeleteFunc(slices.Clone(all), func(line string) bool {
				return joined(unmarked.Replace(line)) != strings.Join(cells, " ")
			})
			if len(found) != 1 || strings.Contains(found[0], "¹") != p.is("hindsight") ||
				strings.Contains(found[0], "!") == p.is("meetsObjective") {
				t.Errorf("the %s has %q for %v, want it once with its marks, %v", where, found, cells, p)
			}
		}
	}
}

// sectionsAgree wants each section that was asked for once, and its lines with the figures of the JSON.
func sectionsAgree(t *testing.T, c *compare.Comparison, told figures, lines map[string][]string) {
	t.Helper()
	priced := func(cells []string, dollars string) []string {
		if c.Assumptions.GPUPrice > 0 {
			return append(cells, dollars)
		}
		return cells
	}
	limited := told.object("assumptions").text("objectiveLimits")
	cost := "gpuHours"
	if c.Assumptions.GPUPrice > 0 {
		cost = "dollars"
	}
	now := told.list("policies")[4].number(cost)
	change := func(f figures) string { return humanize.Percent(f.number(cost)/now - 1) }
	of := func(title string) []figures {
		return slices.DeleteFunc(told.list("scenarios"), func(f figures) bool { return f.text("question") != title })
	}
	cells := func(f figures) []string {
		out := append(priced([]string{f.text("name"), f.amount("gpuHours")}, f.amount("dollars")), change(f))
		switch f.text("question") {
		case "Servers that sleep":
			out = append(out, f.amount("gpuHoursAsleep"), f.share("paysBelow"))
		case "Variants":
			parts := map[string]string{"own": humanize.Unknown, "spot": humanize.Unknown}
			for _, part := range f.list("parts") {
				parts[part.text("name")] = part.amount("replicaHours")
			}
			out = append(out, parts["own"], parts["spot"])
		}
		return append(out, f.decimal("churnPerHour", 1), f.limited(limited))
	}
	var titles, asked []string
	for _, s := range []struct {
		key, title string
		asked      bool
		all        []figures
		// cells are the label and the figures of a line; the label may go on.
		cells func(figures) []string
	}{
		{"warmPool", "Warm pool", c.WarmPool != nil, told.object("warmPool").list("trials"), func(f figures) []string {
			return append(priced([]string{f.text("policy"), f.amount("gpuHours")}, f.amount("dollars")),
				f.amount("idleGpuHoursPerDay"), f.limited(limited), "25%", f.minutes("meanWaitSeconds"))
		}},
		{"scenarios", "What would save more", asks(c, "What would save more"), of("What would save more"), cells},
		{"scenarios", "Other GPU shapes", asks(c, "Other GPU shapes"), of("Other GPU shapes"), cells},
		{"scenarios", "Servers that sleep", asks(c, "Servers that sleep"), of("Servers that sleep"), cells},
		{"scenarios", "Variants", asks(c, "Variants"), of("Variants"), cells},
	} {
		if titles = append(titles, s.title); s.asked {
			asked = append(asked, s.title)
		}
		if (len(s.all) > 0) != s.asked || s.asked && told[s.key] == nil {
			t.Errorf("the JSON has %v for %s, which is asked for: %t", told[s.key], s.title, s.asked)
		}
		for where, all := range lines {
			for _, one := range s.all {
				cells, found := s.cells(one), 0
				for _, line := range all {
					if strings.HasPrefix(line, cells[0]) && strings.HasSuffix(line, " "+strings.Join(cells[1:], " ")) {
						found++
					}
				}
				if found != 1 {
					t.Errorf("the %s has %d lines of %v:\n%s", where, found, cells, strings.Join(all, "\n"))
				}
			}
		}
	}
	for where, all := range lines {
		found := slices.DeleteFunc(slices.Clone(all), func(line string) bool { return !slices.Contains(titles, line) })
		if !slices.Equal(found, asked) {
			t.Errorf("the %s has the sections %v, want %v", where, found, asked)
		}
	}
}
