// Package fleet says how many GPUs of a fixed number batch work may use, so that every run ends before the members need its GPUs.
//
//	members ──> history: the GPUs that all members together asked for, every 5 minutes (history.go)
//	        ──> need: the most that they will ask for during a run (need.go)
//	        ──> margin: what is added to the need, from a replay of the last week (margin.go)
//	        ──> spare: the GPUs minus the need, in whole replicas of each consumer (plan.go)
//	        ──> day: the GPUs that the members need in each hour of the next day, and a shortage if there are fewer (shortage.go)
//
// The members' requests repeat from day to day more reliably than a forecast of their demand bounds them: an autoscaler asks for the
// forecast of a moment that is still ahead, with the headroom of that moment. The need therefore begins with what the members asked for at
// this time yesterday and a week ago. Because it is the history of their sum, members that peak at different times need less together.
//
// The package is pure: equal inputs have equal plans. A Planner only keeps what it has already computed.
package fleet
