// Command tracegen makes the traces of testdata/traces: two weeks of request rates and of busy GPUs, minute by minute,
// from the seeds and parameters in traces.go. From the root of the repository
//
//	go run ./hack/tracegen                                            # makes them again, byte for byte
//	go test -v -run LookLike ./hack/tracegen -args FILE.csv.gz …      # prints statistics of them, and of other traces
//	go run ./hack/tracegen -servegen FOLDER                           # sums up the clients of ServeGen's m-small again
//
// llm_14d is drawn from the recorded rate of a production language model (package servegen): the number of requests of each minute, from
// the rate and the dispersion of its ten minutes. The others are synthetic, and resemble real ones, mainly the request rate of a
// production language model (ServeGen, Alibaba, 2025), by the statistics of the second command:
//
//	                        cv   day  1 min   1 h   1 d   7 d  noise  burst  shift   gap
//	requests_14d           0.33  0.58  0.983  0.68  0.54  0.53  0.037   1.98   1.47  1h10m
//	gpu_busy_14d           0.34  0.69  0.985  0.82  0.73  0.73  0.037   1.41   1.38    45m
//	llm_14d                0.35  0.51  0.944  0.57  0.52  0.48  0.013   2.15   1.29  1h10m
//	ServeGen, m-small      0.35  0.51  0.946  0.57  0.51  0.48  0.013   2.15   1.29  1h10m
//	ServeGen, mm-image     0.26     –  0.742  0.39     –     –  0.100   1.68      –      –
//	Azure 2023, 10 s steps 0.28     –  0.582     –     –     –  0.171      –      –      –
//	NAB, EC2 CPU, 5 min    0.53  0.00  0.989  0.98  0.47  0.06  0.044   1.62   2.88    15m
//
// office_14d and calm_14d are easier to forecast than these, for the demo.
//
// The type stats (measure_test.go) explains the columns. The noise of requests_14d lies between those of the two ServeGen
// models, as its mean (65 requests a second) does.
package main
