package aggregation //nolint:testpackage // The decision, without a cluster.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	role    = "forewarm:server"
	current = "Q1VSUkVOVA=="
)

// leads is an APIService that leads to a service, and that a ClusterRole owns or not.
func leads(group string, to Service, bundle string, owners ...string) apiService {
	out := apiService{name: Names()[group], group: group, version: "7", service: to, bundle: bundle}
	for _, name := range owners {
		out.owners = append(out.owners, metav1.OwnerReference{APIVersion: ownerVersion, Kind: ownerKind, Name: name})
	}
	return out
}

// ready is a situation in which everything is as it should be.
func ready() situation {
	return situation{
		own: ours, owner: role, bundle: current, trust: true,
		modes: map[string]Mode{External: Auto, Custom: Auto, Inspect: Auto},
		all: []apiService{
			leads(External, ours, current, role),
			leads(Custom, ours, current, role),
			leads(Inspect, ours, current, role),
		},
		vacant: map[string]bool{},
	}
}

func TestDecide(t *testing.T) {
	const external, custom, inspect = "v1beta1." + External, "v1beta2." + Custom, "v1alpha1." + Inspect
	for name, c := range map[string]struct {
		change   func(*situation)
		acts     []string
		problems []string // a word of each
	}{
		"all as it should be": {func(*situation) {}, nil, nil},
		"an empty cluster": {
			func(s *situation) { s.all = nil }, []string{"create " + external, "create " + custom, "create " + inspect}, nil,
		},
		"before the authority is known nothing is created": {
			func(s *situation) { s.all, s.bundle, s.trust = nil, "", false }, nil, nil,
		},
		"certificates that the machine trusts": {func(s *situation) { s.all, s.bundle = s.all[:2], "" }, []string{"create " + inspect}, nil},
		"KEDA holds a group":                   {func(s *situation) { s.all[0] = leads(External, kedas, "x") }, nil, nil},
		"KEDA holds a group that is required": {
			func(s *situation) { s.all[0] = leads(External, kedas, "x"); s.modes[External] = Required }, nil, []string{string(kedas)},
		},
		"KEDA took an APIService that was ours": {
			func(s *situation) { s.all[0] = leads(External, kedas, "x", role) }, []string{"release " + external}, nil,
		},
		"a group that KEDA held a moment ago": {func(s *situation) { s.all = s.all[1:]; s.vacant[External] = true }, nil, nil},
		"the same, but it is required": {
			func(s *situation) { s.all = s.all[1:]; s.vacant[External] = true; s.modes[External] = Required },
			[]string{"create " + external},
			nil,
		},
		"another version of the group is another's": {
			func(s *situation) {
				s.all[1] = apiService{name: "v1beta1." + Custom, group: Custom, service: others}
			}, nil, nil,
		},
		"the kube-apiserver serves the group itself": {
			func(s *situation) {
				s.all[1] = apiService{name: "v1beta2." + Custom, group: Custom}
				s.modes[Custom] = Required
			}, nil, []string{"itself"},
		},
		"a group that is not served": {func(s *situation) { s.modes[Custom] = Off }, []string{"delete " + custom}, nil},
		"a group that is not served, and another's": {
			func(s *situation) { s.modes[Custom] = Off; s.all[1] = leads(Custom, others, "") }, nil, nil,
		},
		"one of an older Forewarm": {
			func(s *situation) { s.all[0] = leads(External, ours, ""); s.all[0].insecure = true }, []string{"adopt " + external}, nil,
		},
		"the same, after the grace": {
			func(s *situation) {
				s.all[0] = leads(External, ours, "")
				s.all[0].insecure, s.verifyAll = true, true
			}, []string{"verify " + external, "adopt " + external}, nil,
		},
		"a new authority": {
			func(s *situation) { s.all[2].bundle = "b2xk" }, []string{"verify " + inspect}, nil,
		},
		"another Forewarm": {
			func(s *situation) { s.all[2] = leads(Inspect, "second/forewarm", "x") }, nil, []string{"another Forewarm"},
		},
	} {
		s := ready()
		c.change(&s)
		acts, problems := decide(&s)
		var got []string
		for _, a := range acts {
			got = append(got, string(a.verb)+" "+a.name)
		}
		if diff := cmp.Diff(c.acts, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(problems) != len(c.problems) || len(problems) > 0 && !strings.Contains(problems[0], c.problems[0]) {
			t.Errorf("%s: problems %q, want %q", name, problems, c.problems)
		}
	}
}

// Whatever the cluster holds: nothing of another's is deleted or verified, no group that somebody holds is created, and what was
// written is not written again.
func FuzzDecide(f *testing.F) {
	f.Add([]byte{0}, uint8(0), uint8(0))
	f.Add([]byte{1, 9, 2, 77, 200}, uint8(3), uint8(5))
	services := []Service{ours, kedas, others, ""}
	f.Fuzz(func(t *testing.T, objects []byte, modes, flags uint8) {
		s := situation{own: ours, owner: role, modes: map[string]Mode{}, vacant: map[string]bool{}}
		s.trust, s.verifyAll = flags&1 == 0, flags&2 == 0
		if s.trust && flags&4 == 0 {
			s.bundle = current
		}
		for i, group := range groups() {
			s.modes[group] = []Mode{Auto, Required, Off, ""}[modes>>(2*i)&3]
			s.vacant[group] = flags>>(3+i)&1 == 1
		}
		seen := map[string]bool{}
		for i, b := range objects {
			a := leads(groups()[int(b)%3], services[b>>2&3], []string{"", current}[b>>4&1])
			if a.insecure = b>>5&1 == 1; b>>6&1 == 1 {
				a.owners = leads(External, ours, "", role).owners
			}
			if b>>7 == 1 {
				a.name = fmt.Sprintf("v%d.%s", i+2, a.group)
			}
			if !seen[a.name] {
				seen[a.name] = true
				s.all = append(s.all, a)
			}
		}
		acts, _ := decide(&s)
		for _, a := range acts {
			held := slices.ContainsFunc(s.all, func(o apiService) bool { return o.group == a.group })
			switch {
			case a.verb == register && held:
				t.Fatalf("%s is created, and held", a.name)
			case a.verb != register && a.verb != release && a.of.service != ours:
				t.Fatalf("%s %s, which leads to %s", a.verb, a.name, a.of.service)
			case a.name != Names()[a.group+a.of.group]:
				t.Fatalf("%s is not one that Forewarm may write", a.name)
			}
			s.apply(a)
		}
		if again, _ := decide(&s); len(again) > 0 {
			t.Fatalf("written again: %+v after %+v", again, acts)
		}
	})
}

// apply does what the cluster does at an act.
func (s *situation) apply(a act) {
	if a.verb == register {
		s.all = append(s.all, leads(a.group, s.own, s.bundle, s.owner))
		return
	}
	i := slices.IndexFunc(s.all, func(o apiService) bool { return o.name == a.name })
	switch a.verb {
	case remove:
		s.all = slices.Delete(s.all, i, i+1)
	case trust:
		s.all[i].bundle, s.all[i].insecure = s.bundle, false
	case adopt:
		s.all[i].owners = append(s.all[i].owners, leads(External, ours, "", s.owner).owners...)
	default:
		s.all[i].owners = nil
	}
}
