package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// newBacktest is the former command "backtest", which says what has replaced it.
func newBacktest() *cobra.Command {
	return &cobra.Command{
		Use:                "backtest",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("backtest is gone: forewarm simulate --forecasts shows the accuracy of forecasts")
		},
	}
}
