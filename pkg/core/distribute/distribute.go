// Package distribute is the interface for splitting a served value across several workloads, which are variants of one workload.
package distribute

import "time"

// Distributor plans the part of each workload, step by step. It depends only on previous values.
type Distributor interface {
	// Step plans for the value of a step. It is not called for a step without a value.
	Step(value float64) Plan
	// Limit sets the present sizes of workloads that cannot grow, in the unit of the demand, by their index; +Inf for no limit. nil means
	// that no workload is limited. The limits do not follow from the values.
	Limit(limits []float64)
	// ReplicaHours returns the replica-hours of each workload in the newest whole hours, by its index; at most for a day.
	ReplicaHours(hours int) []float64
}

// Maker creates a Distributor for values with a step that begin at a time.
type Maker func(start time.Time, step time.Duration) (Distributor, error)

// Plan is the immutable state of the workloads at a step.
type Plan interface {
	// Share splits a value and returns the parts in the order of the workloads. The parts add up to at least the value.
	Share(value float64) []Part
}

// Part is what the HPA of one workload reads, in the unit of the demand.
type Part struct {
	Name string
	// Capacity is what a replica sustains.
	Capacity float64
	Value    float64
	// Starting is the part of Value that is requested but not ready yet. Other workloads serve it in the meantime.
	Starting float64
	// Limited: the Value is one replica more than the workload can run at present, which is less than its full part.
	Limited bool
}
