package ensemble

// anchors are the horizons that are scored: every step up to 8, then a quarter apart, the last always. Steps between two
// anchors go with the later one.
func anchors(horizon int) []int {
	var out []int
	for h := 1; h < horizon; h += max(1, h/4) {
		out = append(out, h)
	}
	return append(out, horizon)
}

// anchorOf says for each step up to the horizon (from 0) which anchor it goes with.
func anchorOf(anchors []int) []int {
	out := make([]int, anchors[len(anchors)-1])
	at := 0
	for i := range out {
		if i+1 > anchors[at] {
			at++
		}
		out[i] = at
	}
	return out
}
