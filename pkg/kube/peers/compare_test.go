package peers_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/peers"
)

type clocks = map[string]snapshot.ClockDifference

// ahead is a source whose clock is ahead, as one learns who waits half a second for the answer.
func ahead(by time.Duration) snapshot.ClockDifference {
	return snapshot.ClockDifference{Min: by - time.Second/4, Max: by + time.Second/4}
}

func statement(version string, settings map[string]string, clocks clocks) peers.Statement {
	return peers.Statement{Version: version, Settings: settings, Clocks: clocks}
}

func TestCompare(t *testing.T) {
	right, season := clocks{"": ahead(0)}, map[string]string{"season": peers.Hash("48h0m0s")}
	usual := statement("v1", nil, right)
	for _, c := range []struct {
		name string
		all  []peers.Statement
		want string // the reasons and, after a colon, words of their messages
	}{
		{"none", nil, ""},
		{"one", []peers.Statement{statement("v1", season, clocks{"": ahead(time.Hour)})}, ""},
		{"equal", []peers.Statement{usual, usual, usual}, ""},
		{
			"a clock that is behind",
			[]peers.Statement{usual, statement("v1", nil, clocks{"": ahead(2 * time.Minute)})},
			"ClocksDiffer: differ by 2m|pod-0 is correct and pod-1 is 2m behind",
		},
		{
			"a clock that is ahead, of three",
			[]peers.Statement{usual, usual, statement("v1", nil, clocks{"": ahead(-2 * time.Minute)})},
			"ClocksDiffer: differ by 2m|pod-0 is correct and pod-2 is 2m ahead",
		},
		{
			"two clocks that are wrong on both sides",
			[]peers.Statement{statement("v1", nil, clocks{"": ahead(time.Minute)}), statement("v1", nil, clocks{"": ahead(-time.Minute)})},
			"ClocksDiffer: differ by 2m|pod-0 is 1m behind and pod-1 is 1m ahead",
		},
		{"clocks that are close", []peers.Statement{usual, statement("v1", nil, clocks{"": ahead(9 * time.Second)})}, ""},
		{
			"the source's clock is wrong, to both alike",
			[]peers.Statement{statement("v1", nil, clocks{"": ahead(time.Hour)}), statement("v1", nil, clocks{"": ahead(time.Hour)})},
			"",
		},
		{
			"a slow answer, by which the clock may be right",
			[]peers.Statement{usual, statement("v1", nil, clocks{"": {Min: -time.Second, Max: time.Minute}})},
			"",
		},
		{"a source that one did not reach", []peers.Statement{usual, statement("v1", nil, nil)}, ""},
		{"no source in common", []peers.Statement{usual, statement("v1", nil, clocks{"a": ahead(time.Hour)})}, ""},
		{
			"one of two sources, whose clock jumps",
			[]peers.Statement{
				statement("v1", nil, clocks{"a": ahead(0), "b": ahead(time.Hour)}),
				statement("v1", nil, clocks{"a": ahead(0), "b": ahead(-time.Hour)}),
			},
			"",
		},
		{
			"a wrong clock by two sources, of which one is wrong, too",
			[]peers.Statement{
				statement("v1", nil, clocks{"a": ahead(0), "b": ahead(time.Hour)}),
				statement("v1", nil, clocks{"a": ahead(-2 * time.Minute), "b": ahead(time.Hour - 2*time.Minute)}),
			},
			"ClocksDiffer: differ by 2m|pod-1 is 2m ahead",
		},
		{
			"a flag",
			[]peers.Statement{usual, statement("v1", season, right)},
			"SettingsDiffer: --season differs between pod-0 and pod-1",
		},
		{
			"the same flag with two values",
			[]peers.Statement{statement("v1", season, right), statement("v1", map[string]string{"season": peers.Hash("1h")}, right)},
			"SettingsDiffer: --season differs between pod-0 and pod-1",
		},
		{
			"the first by name is the other one",
			[]peers.Statement{statement("v1", season, right), usual, usual},
			"SettingsDiffer: --season differs between pod-0 and pod-1, pod-2",
		},
		{
			"versions",
			[]peers.Statement{usual, statement("v2", nil, right), usual},
			"VersionsDiffer: v1 (pod-0, pod-2); v2 (pod-1)",
		},
		{
			"all at once",
			[]peers.Statement{usual, statement("v2", season, clocks{"": ahead(time.Minute)})},
			"ClocksDiffer: 1m behind\nVersionsDiffer: v2 (pod-1)\nSettingsDiffer: --season",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := map[string]peers.Statement{}
			for i, s := range c.all {
				all[fmt.Sprintf("pod-%d", i)] = s
			}
			got := peers.Compare(all)
			var want []string
			if c.want != "" {
				want = strings.Split(c.want, "\n")
			}
			if len(got) != len(want) {
				t.Fatalf("%+v, want %q", got, want)
			}
			for i, line := range want {
				reason, words, _ := strings.Cut(line, ": ")
				if got[i].Reason != reason || got[i].Remedy() == "" {
					t.Errorf("%+v, want %s", got[i], reason)
				}
				for word := range strings.SplitSeq(words, "|") {
					if !strings.Contains(got[i].Message, word) {
						t.Errorf("%q does not say %q", got[i].Message, word)
					}
				}
			}
		})
	}
}

// What no replica writes is left out, and does not take the others away.
func TestReadNonsense(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name, annotation string
		want             int
	}{
		{"nothing", "", 0},
		{"no JSON", "{", 0},
		{"null", "null", 0},
		{"another kind of JSON", `["a"]`, 0},
		{"one is of another kind", `{"a":{"version":"v1"},"b":7}`, 1},
		{"one without a version", `{"a":{"version":"v1"},"b":{}}`, 1},
		{"a name that is no line", `{"a":{"version":"v1"},"b\nc":{"version":"v1"}}`, 1},
		{"a version that is no line", `{"a":{"version":"v1"},"b":{"version":"v\u001b[2J"}}`, 1},
		{"a version that is long", `{"a":{"version":"v1"},"b":{"version":"` + long + `"}}`, 1},
		{"a flag that is no line", `{"a":{"version":"v1"},"b":{"version":"v1","settings":{"a\u202eb":"c"}}}`, 1},
		{"a clock at the end of time", fmt.Sprintf(`{"a":{"version":"v1"},"b":{"version":"v1","clocks":{"":{"min":%d,"max":%d}}}}`,
			int64(math.MinInt64), int64(math.MaxInt64)), 1},
		{"a clock that is no number", `{"a":{"version":"v1"},"b":{"version":"v1","clocks":{"":{"min":1e999}}}}`, 1},
		{"bounds in the wrong order", `{"a":{"version":"v1"},"b":{"version":"v1","clocks":{"":{"min":2,"max":1}}}}`, 1},
		{"a field of a newer version", `{"a":{"version":"v1","newer":[1]},"b":{"version":"v1"}}`, 2},
	} {
		lease := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{peers.Annotation: c.annotation}},
		}
		if got := peers.Read(lease); len(got) != c.want {
			t.Errorf("%s: %+v, want %d", c.name, got, c.want)
		}
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf(`"%d":{"version":"v%d"}`, i, i)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		peers.Annotation: "{" + strings.Join(many, ",") + "}",
	}}}
	if got := peers.Read(lease); len(got) != 50 {
		t.Errorf("%d of a thousand", len(got))
	}
}

func TestHashesTellValuesApart(t *testing.T) {
	if one, other := peers.Hash(
		"24h",
	), peers.Hash(
		"25h",
	); one == other || one != peers.Hash("24h") ||
		strings.Contains(one, "24h") {
		t.Errorf("%s and %s", one, other)
	}
}
