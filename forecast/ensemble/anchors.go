package ensemble

import "slices"

// anchors are the horizons that are scored and calibrated up to the last one: those asked for or, where none are, every
// step up to 48 and then a twenty-fourth apart. Steps between two anchors go with the later one.
func anchors(asked []int, horizon int) []int {
	out := slices.Clone(asked)
	if len(out) == 0 {
		for h := 1; h < horizon; h += max(1, h/24) {
			out = append(out, h)
		}
	}
	if len(out) == 0 || out[len(out)-1] < horizon {
		out = append(out, horizon)
	}
	return out
}

// anchorOf gives for each step up to the horizon (from 0) which anchor it goes with.
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
