package inspect

import (
	"net/http"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

const htmlType = "text/html; charset=utf-8"

// FrontPage is the page that lists the Forecasts of all namespaces, for a server whose users may read everything.
func FrontPage(board *snapshot.Board, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		newest := board.Load()
		if newest == nil {
			http.Error(w, noData().Error(), http.StatusServiceUnavailable)
			return
		}
		body, err := renderFrontPage(newest.Entries(""), "", now())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeDocument(w, htmlType, body)
	})
}
