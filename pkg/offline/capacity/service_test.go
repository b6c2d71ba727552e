package capacity_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/capacity"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// Of one simulated service three signals are read.
const (
	inFlight   = "in flight"  // requests running and waiting
	arrivals   = "arrivals"   // requests per second, the mean of two minutes
	throughput = "throughput" // requests per second that were served
)

const (
	perSecond = 5.0 // requests that a replica serves
	latency   = 8.0 // seconds for which a request runs: 40 are in flight at the limit
	step      = time.Minute
)

// truth is what a replica sustains, in a signal's unit.
func truth(signal string) float64 {
	if signal == inFlight {
		return perSecond * latency
	}
	return perSecond
}

// service is a simulated one: a daily demand with bursts, a stock HPA and its pods (package workload), and a queue before
// each replica.
type service struct {
	signal string
	days   int
	// target of the HPA, as a share of the capacity: the higher, the more often the service comes to its limit.
	target float64
	// noise of what is measured, unevenness of the replicas' shares and wander of the capacity in time, as deviations of
	// logarithms.
	noise, uneven, wander float64
	// boolean says that of the queue only its being there is told; blips that it is there for a moment now and then.
	boolean bool
	blips   float64
	// recorded says that the demand is the project's recorded one, and nothing of it made up.
	recorded bool
	// bursts a day, of an hour in which the demand rises by half or more within minutes.
	bursts float64
}

// history is what was recorded of the service.
func (s service) history(tb testing.TB, seed uint64) capacity.History {
	tb.Helper()
	random := rand.New(rand.NewPCG(seed, 77))
	demand := s.demand(random)
	if s.recorded {
		demand = recorded(tb)
	}
	workloads, err := sim.New(sim.Spec{
		Capacity: perSecond,
		HPA: hpa.Spec{Min: 2, Max: 60, Metrics: []hpa.Metric{
			{Source: hpa.External, Type: hpa.AverageValue, Target: int64(1000 * perSecond * s.target)},
		}},
		Sync: step, PodLead: sim.Constant(5 * time.Minute),
	}, time.Unix(0, 0), step, demand[:1])
	if err != nil {
		tb.Fatal(err)
	}
	replicas := newReplicas(random, s.uneven)
	h := capacity.History{Step: step}
	mix, before := 0.0, demand[0]
	for _, rate := range demand {
		ready := workloads[0].Step(rate, rate).Ready
		mix += -mix/10 + s.wander*math.Sqrt(0.19)*random.NormFloat64()
		running, waiting, served := replicas.pass(rate, ready, perSecond*math.Exp(mix))
		value := map[string]float64{inFlight: running + waiting, arrivals: (rate + before) / 2, throughput: served}[s.signal]
		before = rate
		if random.Float64() < s.blips {
			waiting += float64(ready)
		}
		if s.boolean {
			waiting = min(math.Ceil(waiting), 1)
		}
		h.Demand = append(h.Demand, value*math.Exp(s.noise*random.NormFloat64()))
		h.Ready = append(h.Ready, float64(ready))
		h.Saturated = append(h.Saturated, waiting)
	}
	return h
}

// demand is requests per second: a day's course, what persists for a while, and bursts.
func (s service) demand(random *rand.Rand) []float64 {
	out := make([]float64, s.days*24*60)
	slow, burst, left := 0.0, 0.0, 0
	for i := range out {
		slow += -slow/30 + 0.02*random.NormFloat64()
		left--
		if left <= 0 && random.Float64() < s.bursts/(24*60) {
			burst, left = 0.5+random.Float64(), 60
		}
		rise := 0.0
		if left > 0 {
			rise = burst * min(1, float64(60-left)/8)
		}
		day := 1 + 0.6*math.Sin(2*math.Pi*float64(i)/(24*60))
		out[i] = 50 * day * math.Exp(slow) * (1 + rise)
	}
	return out
}

// recorded is the demand of the project's trace, 50 requests a second in the mean.
func recorded(tb testing.TB) []float64 {
	tb.Helper()
	series, err := trace.ReadFile("../../../testdata/traces/requests_14d.csv.gz", "requests")
	if err != nil {
		tb.Fatal(err)
	}
	mean, last := 0.0, 0.0
	for i, v := range series.Values {
		if !math.IsNaN(v) { // Over a gap demand goes on as it was.
			last = v
		}
		series.Values[i] = last
		mean += last / float64(series.Len())
	}
	for i := range series.Values {
		series.Values[i] *= 50 / mean
	}
	return series.Values
}

// replicas hold a queue each.
type replicas struct {
	shares, queues []float64
	ready          int
}

func newReplicas(random *rand.Rand, uneven float64) *replicas {
	r := &replicas{shares: make([]float64, 60), queues: make([]float64, 60)}
	for i := range r.shares {
		r.shares[i] = math.Exp(uneven * random.NormFloat64())
	}
	return r
}

// pass lets a minute go by, in which each serves so much a second at most: what runs and waits at its end, and what was served each second.
func (r *replicas) pass(rate float64, ready int, most float64) (running, waiting, served float64) {
	if ready != r.ready {
		r.share(ready)
	}
	whole := 0.0
	for i := range ready {
		whole += r.shares[i]
	}
	for i := range ready {
		arrived := rate * r.shares[i] / whole * step.Seconds()
		done := min(r.queues[i]+arrived, most*step.Seconds())
		r.queues[i] = min(r.queues[i]+arrived-done, 4*most*step.Seconds())
		running += done / step.Seconds() * latency
		waiting += r.queues[i]
		served += done / step.Seconds()
	}
	return running, waiting, served
}

// share puts what waits before other replicas.
func (r *replicas) share(ready int) {
	all := 0.0
	for i := range r.queues {
		all += r.queues[i]
		r.queues[i] = 0
	}
	for i := range ready {
		r.queues[i] = all / float64(ready)
	}
	r.ready = ready
}
