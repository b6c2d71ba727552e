// Package embedded stores history locally: Prometheus's own storage, query engine and scraper, in-process and on disk,
// so that the same PromQL works without a Prometheus server.
//
//	engine, err := embedded.Open(embedded.Config{Dir: dir, ScrapeFile: "scrape.yml"}, logger)
//	if err != nil { … }
//	defer engine.Close()
//	go engine.Run(ctx)                      // scrapes until ctx ends
//	series, err := engine.Fetch(ctx, query) // one series on the query's grid, NaN for a gap
//
// A value at a time is that of an instant query: the last sample within the lookback. The lookback is twice the longest
// scrape interval and at least a minute, not Prometheus's five minutes, and a target that does not answer ends its
// series at once, so that an outage is a gap. One process owns the directory. Its write-ahead log survives restarts.
package embedded
