package pools

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
)

// memoryOf returns a memory for a status.
func memoryOf(m warmpool.Memory) *v1alpha1.PoolMemory {
	p := m.Past()
	out := &v1alpha1.PoolMemory{
		PlannedAt:             timeOf(p.At),
		Ready:                 p.Ready,
		PlacedMilliChunks:     p.Placed,
		Claimed:               p.Claimed,
		IdleChunkMilliseconds: p.Idle,
		UnseenMilliseconds:    p.Unseen,
		LostMilliChunks:       p.Lost,
		GainedMilliChunks:     p.Gained,
		MatchedSince:          timeOf(p.Matching),
		BorrowedMilliChunks:   p.Borrowed,
		Covers:                p.Covers,
		TurningSince:          timeOf(p.TurningSince),
		Unreliable:            p.Unreliable,
	}
	for _, w := range m.Wants() {
		out.Wants = append(out.Wants, v1alpha1.WantedChunks{At: timeOf(w.At), Total: w.Total, Base: w.Base})
	}
	return out
}

// memoryIn returns the memory in a status, or why it is invalid.
func memoryIn(held *v1alpha1.PoolMemory) (warmpool.Memory, error) {
	var wants []warmpool.Want
	for _, w := range held.Wants {
		wants = append(wants, warmpool.Want{At: millisecondsOf(w.At), Total: w.Total, Base: w.Base})
	}
	return warmpool.RestoreMemory(warmpool.Past{
		At:           millisecondsOf(held.PlannedAt),
		Ready:        held.Ready,
		Placed:       held.PlacedMilliChunks,
		Claimed:      held.Claimed,
		Idle:         held.IdleChunkMilliseconds,
		Unseen:       held.UnseenMilliseconds,
		Lost:         held.LostMilliChunks,
		Gained:       held.GainedMilliChunks,
		Matching:     millisecondsOf(held.MatchedSince),
		Borrowed:     held.BorrowedMilliChunks,
		Covers:       held.Covers,
		TurningSince: millisecondsOf(held.TurningSince),
		Unreliable:   held.Unreliable,
	}, wants)
}

// timeOf converts Unix milliseconds; 0 is the zero time.
func timeOf(milliseconds int64) metav1.MicroTime {
	if milliseconds == 0 {
		return metav1.MicroTime{}
	}
	return metav1.NewMicroTime(time.UnixMilli(milliseconds))
}

func millisecondsOf(t metav1.MicroTime) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
