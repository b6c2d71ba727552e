// Package quantreg fits linear quantile regressions (Koenker & Bassett 1978, "Regression quantiles"): a weighted sum of
// regressors that a share p of the targets does not exceed. At p = 1/2 it is the regression of least absolute errors.
//
//	upper := quantreg.Regression{Level: 0.95}
//	c, err := upper.Fit(quantreg.Rows{X: x, Y: y}) // x is row after row, a few columns each
//	…
//	q := c.At(row)
//
// The loss is minimised by iteratively reweighted least squares, with weights p/|r| for a residual r above the plane
// and (1−p)/|r| below it (Schlossmacher 1973 for the median; Schnabel & Eilers 2013 for any quantile). Unlike the exact
// linear programme it rounds off the loss below an epsilon. In return each pass is one sum of outer products; weights
// of rows, a ridge and a Gaussian prior from other data fit into the same equations; and few passes from a good start
// are enough.
package quantreg
