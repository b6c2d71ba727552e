// Package ahead makes a forecasting model forecast the maximum of the window ahead, step by step. The model lives on the
// means of blocks of the demand, which are coarser than its steps: noise averages out, a season has fewer slots, and a
// fit costs a fraction.
package ahead
