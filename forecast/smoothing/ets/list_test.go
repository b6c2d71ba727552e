package ets_test

import "encoding/json"

// unmarshalList reads a list of numbers, or one number as a list of one.
func unmarshalList(b []byte, list *[]float64) error {
	if err := json.Unmarshal(b, list); err == nil {
		return nil
	}
	var one float64
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*list = []float64{one}
	return nil
}
