package main

import (
	"github.com/forewarm/forewarm/forecast/accuracy"
	"io"
)

type speedRow struct{}

func (*tables) speed(speedRow) error { return nil }

func scoreSpeed(options, printer, io.Writer) error { return nil }

func scoreR(options, accuracy.Score, printer, io.Writer) error { return nil }
