// Package modeltest tests what every forecast.Model owes to its callers, on series that break careless ones: a finite
// forecast or an error that wraps one of package [forecast]'s sentinels, never a panic; quantiles that do not cross, nor move
// once they were given; the same from the same; and no allocation on the way from one observation to the next.
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
