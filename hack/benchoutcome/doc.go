// Command benchoutcome measures scaling policies on recorded demand, for `make bench-outcome`: the GPU-hours that are paid for
// and the share of the demand that is late, under a stock HPA and pods that take their lead time to start (package [simulate]).
//
// Every value column of every CSV file in some folders is a trace (format: package [trace]). It is resampled to 15 s by linear
// interpolation, without noise, and scaled to a mean of 12 replicas. The first 48 hours are a warm-up and do not count; of a
// trace shorter than four days, the first tenth. The first 24 h are also counted by themselves, as a cold start.
//
// Each lead time is played in turn. With drawn starts (5m,p90=8m: log-normal), a figure is the mean of three draws: the n-th
// pod that a policy starts at a time takes as long as the n-th of every other policy at that time. Policies plan with the p90,
// as the server does.
//
// The HPA reads the policy's value every 15 s, with a tolerance of 10 % and the default scale-up. Every policy has one setting,
// which is swept:
//
//	stock300, stock1800   the observed demand; the target as a share of a replica's capacity; stabilization of 300 or 1800 s
//	max15m                the maximum of 15 minutes; the target
//	offset                the larger of now and the next hour of a day and a week ago (offset in PromQL); the target
//	day-profile           the larger of now and the next hour of the daily profile; the target
//	holt-winters, arima   the highest forecast over the lead window, not below now; the target
//	reactive-tuned        a reactive rule that tunes itself on its own past; the objective
//	forewarm-k            Forewarm with a fixed headroom multiplier; the multiplier
//	forewarm              Forewarm with the headroom that its simulated autoscalers find; the objective
//	forewarm-price        the same at a price of late demand in idle replicas, instead of an objective; the price
//	oracle                the actual peak of the lead window ahead; the target
//	reactive-hindsight    for comparison: the observed demand with the best of 438 combinations of target, stabilization and
//	                      minReplicas for each trace, chosen afterwards
//
// A request that waits longer than 30 s is late. Every run makes a line:
//
//	lead, step      lead time of a pod; seconds from one refresh to the next
//	family          the family of the trace; none if the trace is too short to count
//	first_day       true if the first 24 h are counted
//	cost            relative cost: replica-hours paid for over those of the demand
//	late            share of the demand that was late
//	churn_per_hour  replicas started or stopped
//	without         the family whose traces were left out of the policy's priors
//
// The summary counts recorded traces of a day and more; families of traces have equal weights (the first word of a trace's name
// without its number, or the collection that it is from). A cost at a mean lateness is that of one setting for all traces: the
// geometric mean of the costs, linear between two settings. The same files give the same figures, except the CPU time.
//
// The tables of a lead time, in their order: one setting for all traces, and for those of each folder; lateness beside the
// objective; each trace with its own setting, beside the reactive rule tuned in hindsight; the first 24 h (--first-day=false for
// none); Forewarm with a longer time between refreshes (--slower); the CPU time of one setting (--cpu=false for none); two
// synthetic loads that follow a timetable (--scheduled=false for none); the goals of the study, for the first folder.
//
// The last tables are the baseline of all lead times. --compare=FILE compares Forewarm's cost at .5 and 1 % late with an earlier
// run, on each trace by its own curve of cost over lateness, and in the geometric mean. The cost may rise by at most 1 % in the
// mean and 3 % on any trace.
package main
