package chart

// Upward shades a stretch of the X axis from the bottom to the top, with arrows up along its top: what is known is a bound.
func (c *Chart) Upward(from, to float64) { c.shade("bound", "arrows", arrows, from, to) }

// Hatched shades a stretch with lines through it, so that it is told from Upward without their colours: nothing is known.
func (c *Chart) Hatched(from, to float64) { c.shade("gap", "hatch", c.hatch, from, to) }

// shade fills the part that is on the axis, in a width that can be seen, and draws its pattern from left to right.
func (c *Chart) shade(class, pattern string, draw func(p *pen, left, right float64), from, to float64) {
	const narrowest = 3
	from, to = max(from, c.X.From), min(to, c.X.To)
	if !(from < to) {
		return
	}
	left := c.Across * c.X.At(from)
	right := max(c.Across*c.X.At(to), left+narrowest)
	c.add(class, "M"+short(left)+" 0H"+short(right)+"V"+short(c.Up)+"H"+short(left)+"z")
	var p pen
	draw(&p, left, right)
	c.add(pattern, p.String())
}

func arrows(p *pen, left, right float64) {
	const apart, half, size = 19, 3.5, 6
	n := max(1, int((right-left)/apart))
	for i := range n {
		at := left + (right-left)*(float64(i)+0.5)/float64(n)
		p.WriteString("M" + short(at-half) + " 8h" + short(2*half) + "l" + short(-half) + " " + short(-size) + "z")
	}
}

// hatch draws lines that rise by 45 degrees.
func (c *Chart) hatch(p *pen, left, right float64) {
	const apart = 9
	width := right - left
	for at := apart/2 - c.Up; at < width; at += apart {
		from, to := max(at, 0), min(at+c.Up, width)
		p.WriteString(
			"M" + short(left+from) + " " + short(c.Up-from+at) + "L" + short(left+to) + " " + short(c.Up-to+at),
		)
	}
}
