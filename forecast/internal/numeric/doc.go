// Package numeric has the numerical methods of the models: optimizers for a smooth function of a few variables, and functions that remove
// the unit of measurement from a series (units.go). So the models compute with numbers near 1, whether the series counts bytes, requests or
// 1e-300 of something. The optimizers are deterministic: the same function and starting point give exactly the same result. They use no
// goroutine and no clock.
package numeric
