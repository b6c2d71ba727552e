// Package modeltest tests what every forecast.Model must do, on hostile series: return a finite forecast or an error
// that wraps one of package [forecast]'s sentinels, and never panic; return quantiles that do not cross, and do not
// change afterwards; be deterministic; and take observations without allocation.
//
//	func TestModel(t *testing.T) { modeltest.Test(t, Mine{}) }
//
//	func FuzzFit(f *testing.F) {
//		for _, values := range modeltest.Hostile() {
//			f.Add(modeltest.Fuzz(values))
//		}
//		f.Fuzz(func(t *testing.T, raw []byte) { modeltest.Check(t, Mine{}, modeltest.Values(raw)) })
//	}
package modeltest
