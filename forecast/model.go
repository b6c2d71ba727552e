package forecast

// Model is a forecasting method before it has seen data.
type Model interface {
	// Name is the method in the field's words, with its structure: "Holt-Winters(m=24)", "ARIMA(1,1,1)".
	Name() string
	// Fit estimates parameters and state from the series. The series is not kept. Errors wrap this package's sentinels.
	Fit(Series) (Fitted, error)
}

// Fitted is a model that has seen a series up to its origin (the last observation). It is not safe for concurrent use.
type Fitted interface {
	// Update moves the origin one step forward with its observation; NaN means that it is missing. Constant time, no
	// allocation; parameters stay as they were fitted.
	Update(y float64)
	// PointsTo writes the point forecasts of steps 1 … len(dst) after the origin to dst. No allocation.
	PointsTo(dst []float64)
	// Forecast is the forecast of steps 1 … h after the origin, with standard errors.
	Forecast(h int) Forecast
}
