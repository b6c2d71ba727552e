// Package decide turns a forecast of the window peak into the value to serve, with a reason. It is a pure function: the
// refresh loop, a request's selector and the simulator all call [Decide].
//
// There are two rules. A quantile serves that quantile of the window peak. An objective serves median + k·spread, held for half the lead
// time. Here, k is the headroom multiplier with which as much demand is late as the objective allows (package objective).
package decide
