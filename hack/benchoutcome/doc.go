// Command benchoutcome measures what policies make of recorded demand, for `make bench-outcome`: the GPU-hours that are
// paid for and the demand that comes late, under a stock HPA and pods that take their time to start (package [simulate]).
//
// Every value column of every CSV file in some folders is a trace (the shape is package [trace]'s). It is laid on a grid of
// 15 s by straight lines, without noise, and scaled to a mean of 12 replicas. The first 48 hours are not counted; of a trace
// shorter than four days, the first tenth. The first 24 h are counted once more, by themselves: a cold start.
//
// All is played under one lead time after the other. Where starts are drawn (5m,p90=8m: log-normal), a figure is the mean of
// three draws: the n-th pod that a policy starts takes as long as the n-th of every other. Policies plan with the p90, as the
// server does.
//
// The HPA reads the policy's value every 15 s, with a tolerance of 10 % and the default scale-up. Every policy has one knob,
// its setting, which is swept:
//
//	stock300, stock1800   the observed demand; the target as a share of a replica's capacity; stabilization of 300 or 1800 s
//	max15m                the maximum of 15 minutes; the target
//	offset                the larger of now and what followed this hour a day and a week ago (offset in PromQL); the target
//	day-profile           the larger of now and the next hour of the profile of a day; the target
//	holt-winters, arima   the highest forecast for the window (lead time and 75 s), not below now; the target
//	reactive-tuned        a reactive rule that tunes itself on its own past; the objective
//	forewarm-k            forewarm's shape of the window's maximum; the multiple of its spread
//	forewarm              the same with the multiple that its shadows find; the objective
//	forewarm-price        the same at a price of late demand in idle replicas, instead of an objective; the price
//	oracle                the highest demand of the window that comes; the target
//	reactive-hindsight    for comparison alone: the observed demand; target, stabilization and minReplicas, the best of 438
//	                      per trace, chosen afterwards
//
// A late request waits for more than 30 s. Every run makes a line:
//
//	lead, step      lead time of a pod; seconds from one refresh to the next
//	family          the family that the trace counts with; none where it is too short to count
//	first_day       true where the first 24 h are counted
//	cost            replica-hours paid for over those of the demand
//	late            share of the demand that was late
//	churn_per_hour  replicas started or stopped
//	without         the family whose traces were left out where something was learnt from other traces beforehand
//
// The summary counts recorded traces of a day and more, and families of traces alike (the first word of a trace's name
// without its number, or the collection that it stems from). A cost at a mean lateness belongs to one setting for all traces: the geometric
// mean of the costs, between two settings by a line. The same files give the same figures, but for the CPU time.
//
// The tables of a lead time, in their order: one setting for all traces, and for those of each folder, families alike and traces alike; what was late beside
// what was asked for; each trace with its own setting, beside the reactive rule tuned in hindsight; the first 24 h
// (--cold=false for none); forewarm with a longer time between refreshes (--slower); the CPU time of one setting
// (--cpu=false for none); two made loads, which follow a timetable and make no lines (--scheduled=false for none); the goals
// of the outcome study, which are stated for the first folder, beside what was got.
//
// The last tables are the baseline of all lead times, which a later change is held to. With --compare=FILE forewarm's cost
// at .5 and 1 % late is put beside that of the run whose lines are in the file: on each trace by its own curve of cost over
// lateness, and in the geometric mean. It is to rise by at most 1 % in the mean and 3 % on any trace.
package main
