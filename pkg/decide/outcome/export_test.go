package outcome

// Promotion is for how many hours on end a challenger must be cheaper by just enough, LeastPromotion by however much.
const (
	Promotion      = promotion
	LeastPromotion = leastPromotion
)

// Gate is the gate by itself.
type Gate struct{ gate }

// Hours are n hours of the same scores; it returns who serves.
func (g *Gate) Hours(n int, all ...Candidate) string {
	for range n {
		g.choose(all, func(c Candidate) float64 { return c.Cost })
	}
	return all[g.serving].Name
}

// AtPrice has the gate choose by what is late too.
func (g *Gate) AtPrice(price float64, n int, all ...Candidate) string {
	g.priced = true
	for range n {
		g.choose(all, func(c Candidate) float64 { return c.Cost + price*c.Late })
	}
	return all[g.serving].Name
}

// Why is why it serves.
func (g *Gate) Why() string { return g.why }
