package decide

import "math"

// IdleShare is the share of a replica up to which a forecast counts as no demand. A forecast is rarely exactly 0, because the headroom
// decays over a few hours after the last request. For example, with a target of 64 a workload sleeps while the forecast is at most 6.4. If
// that demand arrives anyway, it waits until one replica has started.
const IdleShare = 0.1

// minAwake is the smallest value that keeps a workload awake: an HPA reads thousandths, and rounds the number of replicas up.
const minAwake = 0.001

// Zero is what the rule for idle workloads makes of a value. The zero value means that the rule does not apply.
type Zero struct {
	// Applies reports that the workload may scale to zero. Its HPA scales it to zero at exactly 0, and keeps a replica at any other value.
	Applies bool
	// Asleep reports that exactly 0 is served. Otherwise, at least a thousandth is served.
	Asleep bool
	// Awake is the value without the rule, and Paused the value of a pause without it.
	Awake, Paused float64
	// Never is why the rule does not apply although an HPA may scale to zero; empty if there is no such HPA.
	Never string
}

// ZeroBelow returns the value below which a workload is idle: a tenth of what a replica sustains, by the smallest target of its autoscalers.
// It is 0 if there is no autoscaler.
func ZeroBelow(all []Autoscaler) float64 {
	return IdleShare * SmallestTarget(all)
}

// IsIdle reports whether nothing is observed, and so little is expected that the workload may be at zero.
func (d *Decision) IsIdle(s Settings) bool {
	return d.Observed == 0 && d.Expected < s.ZeroBelow && d.DeadlineFloor == 0 && d.Minimum == 0
}

// ExpectsDemand reports whether demand is observed, or more than IdleShare of a replica would be served to a workload that is awake.
func (d *Decision) ExpectsDemand(s Settings) bool {
	value := d.WithoutZero()
	if d.Shadow && !d.Pause.Active() {
		value = d.WouldServe
	}
	return !d.Zero.Asleep && (d.Observed > 0 || value > IdleShare*s.Target)
}

// ApplyZero makes a workload that may scale to zero sleep or stay awake. It sleeps only if the decision is idle, too. In shadow mode, this
// applies to what would be served.
func (d *Decision) ApplyZero(s Settings, asleep bool) {
	value := d.decided()
	if s.ZeroBelow == 0 || d.Zero.Applies || math.IsNaN(*value) {
		return
	}
	d.Zero = Zero{Applies: true, Asleep: asleep && d.IsIdle(s), Awake: *value}
	if *value = math.Max(*value, minAwake); d.Zero.Asleep {
		*value = 0
	}
}

// KeepAwake serves at least a thousandth although the workload is idle.
func (d *Decision) KeepAwake() {
	if d.Zero.Asleep {
		d.Zero.Asleep, *d.decided() = false, math.Max(d.Zero.Awake, minAwake)
	}
}

// NeverZero undoes ApplyZero, because an autoscaler may read the value that must not scale to zero. The reason is in words.
func (d *Decision) NeverZero(reason string) {
	if d.Zero.Applies {
		*d.decided() = d.Zero.Awake
	}
	d.Zero = Zero{Never: reason}
}

// WithoutZero returns the value without the rule for idle workloads.
func (d *Decision) WithoutZero() float64 {
	switch {
	case !d.Zero.Applies:
		return d.Value
	case d.Pause.Active():
		return d.Zero.Paused
	case d.Shadow:
		return d.Value
	}
	return d.Zero.Awake
}
