package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/ensemble"
)

func main() {
	r := csv.NewReader(bufio.NewReader(os.Stdin))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		panic(err)
	}
	for _, row := range rows[1:] {
		var v []float64
		for _, c := range row[1:] {
			if c == "" || c == "NA" {
				break
			}
			x, err := strconv.ParseFloat(c, 64)
			if err != nil {
				panic(err)
			}
			v = append(v, x)
		}
		f, err := ensemble.Auto{Seasons: []int{24, 168}, Horizon: 48}.Fit(forecast.Series{Step: time.Hour, Values: v})
		if err != nil {
			panic(err)
		}
		fmt.Print(row[0])
		for _, p := range f.Forecast(48).Point {
			fmt.Printf(",%g", p)
		}
		fmt.Println()
	}
}
