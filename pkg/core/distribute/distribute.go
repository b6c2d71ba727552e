// Package distribute is the seam for what shares a served value out among several workloads: variants of one.
package distribute

import "time"

// Distributor plans what each workload holds, step by step. It depends on the values before alone.
type Distributor interface {
	// Step plans for the value of a step. It is not called for a step without a value.
	Step(value float64) Plan
	// Limit sets what workloads hold from now on and cannot exceed, in the unit of the demand, by their index: +Inf for no limit, nil
	// for none at all. It is not known from the values.
	Limit(limits []float64)
	// ReplicaHours are the replica-hours of each workload in the newest whole hours, by its index; of at most a day.
	ReplicaHours(hours int) []float64
}

// Maker makes a Distributor for values of a step that begin at a time.
type Maker func(start time.Time, step time.Duration) (Distributor, error)

// Plan is what is known of the workloads at a step. It does not change.
type Plan interface {
	// Share shares a value out, and returns the parts in the order of the workloads. Together the parts hold the value at least.
	Share(value float64) []Part
}

// Part is what the HPA of one workload reads, in the unit of the demand.
type Part struct {
	Name string
	// Capacity is what a replica sustains.
	Capacity float64
	Value    float64
	// Starting is the part of Value that is asked for and is not ready: others have it meanwhile.
	Starting float64
	// Limited: the Value is one replica more than the workload can hold at present, which is less than its part would be.
	Limited bool
}
