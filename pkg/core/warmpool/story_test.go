package warmpool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// noon is the start of the stories.
func noon() time.Time { return time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC) }

// plain is a pool whose nodes take 5 minutes, without a budget.
func plain() warmpool.Pool {
	return warmpool.Pool{Quantile: 0.95, Max: 20, Fallback: 3, GPUs: 8, Pod: 2 * time.Minute, Node: 5 * time.Minute}
}

// wanting is a member with 4 replicas that will certainly need as many more.
func wanting(more float64) warmpool.Member {
	demand := 4000 + 1000*more
	return warmpool.Member{
		Name: "llama", Chunks: 1, Target: 1000, Placed: 4,
		Outlook: warmpool.Outlook{
			Served: 4000, Observed: 4000, Windows: []windowpeak.Window{window(time.Hour, demand, demand)},
		},
	}
}

func unreliable(m warmpool.Member) warmpool.Member {
	m.Outlook.Unreliable = "is stale: its newest sample is 12m old"
	return m
}

// story simulates a pool: the planned chunks are held at once, and ready after a node's lead time.
type story struct {
	t      *testing.T
	now    time.Time
	pool   warmpool.Pool
	memory warmpool.Memory
	held   int
	// asked are the held chunks at each plan, from which readiness follows.
	asked []int
	plan  warmpool.Plan
}

const pace = 15 * time.Second

// play simulates a time with constant members.
func (s *story) play(length time.Duration, members ...warmpool.Member) {
	s.t.Helper()
	if s.asked == nil {
		s.asked = slices.Repeat([]int{s.held}, int(s.pool.Node/pace))
	}
	for range length / pace {
		s.now = s.now.Add(pace)
		ready := min(s.held, slices.Min(s.asked[max(0, len(s.asked)-int(s.pool.Node/pace)):]))
		s.plan, s.memory = s.memory.Plan(s.now, s.pool, members, warmpool.Capacity{Held: s.held, Ready: ready})
		s.held = s.plan.Want
		s.asked = append(s.asked, s.held)
	}
}

func (s *story) expect(when string, want int, state warmpool.State, words ...string) {
	s.t.Helper()
	if s.plan.Want != want || s.plan.State != state {
		s.t.Errorf("%s: %d and %s, want %d and %s\n%s.\n%s.", when, s.plan.Want, s.plan.State, want, state,
			s.plan.Message, s.plan.Next)
	}
	for _, w := range words {
		if !strings.Contains(s.plan.Message+"\n"+s.plan.Next, w) {
			s.t.Errorf("%s: %q is missing:\n%s.\n%s.", when, w, s.plan.Message, s.plan.Next)
		}
	}
}

func TestADayWithAPeak(t *testing.T) {
	s := &story{t: t, now: noon(), pool: plain()}
	s.play(pace, wanting(1))
	s.expect("at first", 1, warmpool.Filling, "1 of 1 chunks are not ready yet")
	s.play(10*time.Minute, wanting(1))
	s.expect("once the node is there", 1, warmpool.Ready)
	s.play(pace, wanting(6))
	s.expect("before the peak", 6, warmpool.Filling, "llama needs 10 chunks within 8m15s", "5 of 6 chunks")
	s.play(6*time.Minute, wanting(6))
	s.expect("ready for the peak", 6, warmpool.Ready)
	peak := wanting(6)
	peak.Placed = 10
	peak.Outlook.Served = 10_000
	s.play(pace, peak)
	s.expect("once pods have taken the chunks", 0, warmpool.Ready)
}

// A surge takes a part of what is held, and the forecast drops the rest: that is kept for the hold time.
func TestWhatIsNotTakenIsKept(t *testing.T) {
	s := &story{t: t, now: noon(), pool: plain()}
	s.play(10*time.Minute, wanting(6))
	took := wanting(0)
	took.Placed, took.Waiting, took.Outlook.Served = 6, 2, 8000
	s.play(pace, took)
	s.expect("two placed, two waiting, two over", 2, warmpool.Ready, "the pool keeps 2 for 5m")
	took.Placed, took.Waiting = 8, 0
	s.play(4*time.Minute, took)
	s.expect("all placed", 2, warmpool.Ready)
	s.play(2*time.Minute, took)
	s.expect("a node's lead time later", 0, warmpool.Ready)
}

func TestAWantThatComesBackGivesNothingBack(t *testing.T) {
	s := &story{t: t, now: noon(), pool: plain()}
	s.play(10*time.Minute, wanting(6))
	for range 20 {
		for _, more := range []float64{4, 6} {
			s.play(2*time.Minute, wanting(more))
			s.expect("up and down", 6, warmpool.Ready)
		}
	}
	s.play(4*time.Minute, wanting(4))
	s.expect("just before break-even", 6, warmpool.Ready)
	s.play(2*time.Minute, wanting(4))
	s.expect("after", 4, warmpool.Ready)
}

// The measured lead time of a node changes: wants within the new hold time still count.
func TestALongerLeadTimeLooksBackAsFarAsIsKnown(t *testing.T) {
	s := &story{t: t, now: noon(), pool: plain()}
	s.pool.Node = time.Minute
	for more := range 120 { // A plan a second, every want a little lower: all that a Memory has room for.
		s.plan, s.memory = s.memory.Plan(s.now.Add(time.Duration(more)*time.Second), s.pool,
			[]warmpool.Member{wanting(18 - float64(more)/10)}, warmpool.Capacity{})
	}
	s.expect("after two minutes", 12, warmpool.Filling)
	s.now = s.now.Add(2 * time.Minute)
	s.pool.Node = 16 * time.Minute
	for more := 5.0; more > 1; more-- {
		s.play(5*time.Minute, wanting(more))
	}
	s.expect("after 20 minutes", 5, warmpool.Ready)
	s.play(30*time.Minute, wanting(1))
	s.expect("at last", 1, warmpool.Ready)
}

// The pool pays at most twice what a policy pays that knows the future. Here chunks are wanted for a moment and then
// not, for every length of the pause. Getting a chunk costs as much as holding it for a node's lead time.
func TestBreakEvenPaysAtMostTwice(t *testing.T) {
	for idle := time.Minute; idle < 20*time.Minute; idle += time.Minute {
		s := &story{t: t, now: noon(), pool: plain()}
		paid, best, before := 0.0, 0.0, 0
		for range 30 {
			for k := range int(idle / pace) {
				s.play(pace, wanting([]float64{1, 0}[min(k, 1)]))
				paid += pace.Minutes() * float64(s.held)
				if s.held > before {
					paid += s.pool.Node.Minutes()
				}
				before = s.held
			}
			best += min(idle.Minutes(), s.pool.Node.Minutes()+pace.Minutes())
		}
		if paid > 2.2*best {
			t.Errorf("wanted every %s: %.0f chunk-minutes, the optimum is %.0f", idle, paid, best)
		}
	}
}

func TestTheBudgetIsSpentAtNoon(t *testing.T) {
	pool := plain()
	pool.Budget = 40
	s := &story{t: t, now: noon(), pool: pool}
	s.play(30*time.Minute, wanting(5))
	s.expect("while it lasts", 5, warmpool.Ready, "with 40 GPUs idle, the budget is spent at 13:0")
	if s.plan.Idle < 15 || s.plan.Idle > 17 || s.plan.Left != 40-s.plan.Idle {
		t.Errorf("%.1f GPU-hours idle and %.1f left after 25 minutes of 40 GPUs", s.plan.Idle, s.plan.Left)
	}
	s.play(time.Hour, wanting(5))
	s.expect(
		"spent",
		3,
		warmpool.OverBudget,
		"budget of 40 idle GPU-hours per day is spent",
		"so the pool holds at most 3",
		"resets at 00:00 UTC",
	)
	if s.plan.Covers {
		t.Error("a pool without budget covers its members")
	}
	s.play(10*time.Minute, wanting(2))
	s.expect("nor more than is wanted", 2, warmpool.OverBudget)
	s.play(9*time.Hour, wanting(5))
	s.expect("in the evening", 3, warmpool.OverBudget)
	s.play(2*time.Hour, wanting(5))
	s.expect("another day", 5, warmpool.Ready)
	if s.plan.Idle > 45 {
		t.Errorf("%.1f GPU-hours idle half an hour into the day", s.plan.Idle)
	}
}

func TestStaleAtThePeak(t *testing.T) {
	s := &story{t: t, now: noon(), pool: plain()}
	s.play(10*time.Minute, wanting(6))
	s.play(4*time.Minute, unreliable(wanting(6)))
	s.expect("just stale", 6, warmpool.FallingBack, "llama is stale: its newest sample is 12m old")
	s.play(time.Hour, unreliable(wanting(6)))
	s.expect("still", 3, warmpool.FallingBack, "the pool holds the fallback of 3")
	s.play(pace, wanting(6))
	s.expect("again", 6, warmpool.Filling)
}

// Reliable members are still planned for; for the others the served value counts.
func TestOneUnreliableMember(t *testing.T) {
	gone, phi := unreliable(wanting(6)), wanting(5)
	phi.Name, gone.Outlook.Served = "phi", 6000
	s := &story{t: t, now: noon(), pool: plain()}
	s.play(pace, phi, gone)
	s.expect("one of two", 7, warmpool.FallingBack, "phi needs 15 chunks", "llama is stale")
	phi.Placed = 9
	s = &story{t: t, now: noon(), pool: plain()}
	s.play(pace, phi, gone)
	s.expect("nothing wanted", 3, warmpool.FallingBack, "the pool holds the fallback of 3")
}

func TestManyMembersAreCounted(t *testing.T) {
	var members []warmpool.Member
	for _, name := range []string{"qwen", "phi", "gemma", "llama", "mixtral"} {
		m := wanting(1)
		m.Name = name
		members = append(members, m)
	}
	s := &story{t: t, now: noon(), pool: plain()}
	s.play(pace, members...)
	s.expect("five", 5, warmpool.Filling, "gemma, llama and 3 more need 25 chunks",
		"of each member, because their common history is too short")
	s.play(pace)
	s.expect("none", 5, warmpool.Filling, "no members; the pool keeps 5 for 5m")
}

// A leader without a memory releases nothing until a node's lead time has passed.
func TestANewLeader(t *testing.T) {
	s := &story{t: t, now: noon(), pool: plain(), held: 8}
	s.play(4*time.Minute, wanting(2))
	s.expect("a new leader", 8, warmpool.Ready, "the pool keeps 8 for 5m")
	s.play(2*time.Minute, wanting(2))
	s.expect("after a node's lead time", 2, warmpool.Ready)

	// With the memory of the previous leader it continues as if nothing had happened.
	before := &story{t: t, now: noon(), pool: plain()}
	before.play(10*time.Minute, wanting(6))
	before.play(4*time.Minute, wanting(2))
	after := *before
	var err error
	if after.memory, err = warmpool.RestoreMemory(before.memory.Past(), before.memory.Wants()); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		before.play(pace, wanting(2))
		after.play(pace, wanting(2))
		if before.plan != after.plan || before.memory != after.memory {
			t.Fatalf("%+v\n%+v", before.plan, after.plan)
		}
	}
	before.expect("at last", 2, warmpool.Ready)
}

// A gap between plans is not counted as idle time beyond its first minutes.
func TestAGapIsNotIdle(t *testing.T) {
	pool := plain()
	pool.Budget = 1000
	s := &story{t: t, now: noon(), pool: pool}
	s.play(30*time.Minute, wanting(5))
	before := s.plan.Idle
	s.now = s.now.Add(3 * time.Hour)
	s.play(pace, wanting(5))
	if came := s.plan.Idle - before; came > 40.0/12 || came < 40.0/13 {
		t.Errorf("%.2f GPU-hours in a gap of 3 hours, want those of 5 minutes", came)
	}
	s.expect("after a gap", 5, warmpool.Ready, "2h55m15s today and does not count")
	s.now = s.now.Add(24 * time.Hour)
	s.play(pace, wanting(5))
	if s.plan.Idle > 40.0/12 {
		t.Errorf("%.2f GPU-hours of a new day", s.plan.Idle)
	}
}

func TestCoversAfterAWhileAndNotAtOnceNoMore(t *testing.T) {
	s := &story{t: t, now: noon(), pool: plain()}
	covers := func(when string, want bool) {
		t.Helper()
		if s.plan.Covers != want {
			t.Errorf("%s: covers %t, want %t", when, s.plan.Covers, want)
		}
	}
	s.play(14*time.Minute, wanting(3))
	covers("ready for 9 minutes", false)
	s.play(2*time.Minute, wanting(3))
	covers("ready for 11 minutes", true)
	s.play(time.Minute, unreliable(wanting(3)))
	covers("unreliable for a minute", true)
	s.play(time.Minute, wanting(3))
	s.play(time.Minute, unreliable(wanting(3)))
	covers("unreliable for another", true)
	s.play(90*time.Second, unreliable(wanting(3)))
	covers("unreliable for longer", false)
	s.play(9*time.Minute, wanting(3))
	covers("reliable again", false)
	s.play(2*time.Minute, wanting(3))
	covers("for long enough", true)
	s.play(11*time.Minute, wanting(25))
	covers("more than it may hold", false)
}

// Members may have more replicas than they need; the next one would find no place.
func TestAnEmptyPoolCoversNobody(t *testing.T) {
	s := &story{t: t, now: noon(), pool: plain()}
	s.play(time.Hour, wanting(0))
	if s.plan.Want != 0 || s.plan.Covers {
		t.Errorf("%d held, covers %t, want none of both", s.plan.Want, s.plan.Covers)
	}
	s.pool.Min = 1
	s.play(20*time.Minute, wanting(0))
	if s.plan.Want != 1 || !s.plan.Covers {
		t.Errorf("%d held, covers %t, want one replica's worth, which covers", s.plan.Want, s.plan.Covers)
	}
	gang := wanting(0)
	gang.Chunks, s.pool.Max = 4, 3
	s.play(20*time.Minute, gang)
	if s.plan.Covers {
		t.Error("a pool of one chunk covers a gang of four")
	}
}

// Capacity that a surge took returns within a node's lead time; what is missing for twice as long will not return.
func TestASurgeThatTakesThePoolDoesNotEndItsCover(t *testing.T) {
	p, now := plain(), noon()
	m := warmpool.Memory{}
	var plan warmpool.Plan
	play := func(length time.Duration, member warmpool.Member, ready int) {
		for range length / pace {
			now = now.Add(pace)
			plan, m = m.Plan(now, p, []warmpool.Member{member}, warmpool.Capacity{Held: 3, Ready: ready})
		}
	}
	play(15*time.Minute, wanting(3), 3)
	if !plan.Covers {
		t.Fatal("ready for 15 minutes, and covers no one")
	}
	surge := wanting(6)
	surge.Placed = 7
	play(9*time.Minute, surge, 0)
	if !plan.Covers {
		t.Error("no longer covers while it refills")
	}
	play(2*time.Minute, surge, 0)
	if plan.Covers {
		t.Error("covers with nothing that came for twice a node's time")
	}
}

func TestBorrowed(t *testing.T) {
	m, p, now := warmpool.Memory{}, plain(), noon()
	for _, step := range []struct {
		what         string
		placed       int
		held, ready  int
		wantBorrowed int
	}{
		{"nothing yet", 4, 5, 5, 0},
		{"a placeholder went", 4, 5, 4, 0},
		{"the pod that preempted it is bound", 5, 5, 4, 1},
		{"two at once", 7, 5, 2, 3},
		{"a node came", 7, 5, 3, 2},
		{"a node was lost", 7, 5, 2, 2},
		{"less is held", 7, 3, 2, 1},
		{"all is there", 7, 3, 3, 0},
		{"a pod found a place elsewhere", 8, 3, 3, 0},
	} {
		var plan warmpool.Plan
		member := wanting(5)
		member.Placed = step.placed
		now = now.Add(pace)
		plan, m = m.Plan(now, p, []warmpool.Member{member}, warmpool.Capacity{Held: step.held, Ready: step.ready})
		if plan.Borrowed != step.wantBorrowed {
			t.Errorf("%s: %d borrowed, want %d", step.what, plan.Borrowed, step.wantBorrowed)
		}
	}
}
