package calendar

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/ar"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/au"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/bg"
	"github.com/rickar/cal/v2/br"
	"github.com/rickar/cal/v2/ca"
	"github.com/rickar/cal/v2/ch"
	"github.com/rickar/cal/v2/cz"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/dk"
	"github.com/rickar/cal/v2/es"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/gr"
	"github.com/rickar/cal/v2/hr"
	"github.com/rickar/cal/v2/ie"
	"github.com/rickar/cal/v2/it"
	"github.com/rickar/cal/v2/jp"
	"github.com/rickar/cal/v2/lt"
	"github.com/rickar/cal/v2/lv"
	"github.com/rickar/cal/v2/mw"
	"github.com/rickar/cal/v2/nl"
	"github.com/rickar/cal/v2/no"
	"github.com/rickar/cal/v2/nz"
	"github.com/rickar/cal/v2/pl"
	"github.com/rickar/cal/v2/ro"
	"github.com/rickar/cal/v2/se"
	"github.com/rickar/cal/v2/si"
	"github.com/rickar/cal/v2/sk"
	"github.com/rickar/cal/v2/ua"
	"github.com/rickar/cal/v2/us"
	"github.com/rickar/cal/v2/za"
)

// countries are the public holidays by ISO 3166, as the library has them.
func countries() map[string][]*cal.Holiday {
	return map[string][]*cal.Holiday{
		"AR": ar.Holidays, "AT": at.Holidays, "BE": be.Holidays, "BG": bg.Holidays, "BR": br.Holidays,
		"CA": ca.Holidays, "CH": ch.Holidays, "CZ": cz.Holidays, "DE": de.Holidays, "DK": dk.Holidays,
		"ES": es.Holidays, "FR": fr.Holidays, "GB": gb.Holidays, "GR": gr.Holidays, "HR": hr.Holidays,
		"IE": ie.Holidays, "IT": it.Holidays, "JP": jp.Holidays, "LT": lt.Holidays, "LV": lv.Holidays,
		"MW": mw.Holidays, "NL": nl.Holidays, "NO": no.Holidays, "NZ": nz.Holidays, "PL": pl.Holidays,
		"RO": ro.Holidays, "SE": se.Holidays, "SI": si.Holidays, "SK": sk.Holidays, "UA": ua.Holidays,
		"US": us.Holidays, "ZA": za.Holidays,
	}
}

// regions are those of countries that are known by region.
func regions() map[string][]*cal.Holiday {
	return map[string][]*cal.Holiday{
		"AU-ACT": au.HolidaysACT, "AU-NSW": au.HolidaysNSW, "AU-NT": au.HolidaysNT,
		"AU-QLD": au.HolidaysQLD, "AU-SA": au.HolidaysSA, "AU-TAS": au.HolidaysTAS,
		"AU-VIC": au.HolidaysVIC, "AU-WA": au.HolidaysWA, "DE-BB": de.HolidaysBB, "DE-BE": de.HolidaysBE,
		"DE-BW": de.HolidaysBW, "DE-BY": de.HolidaysBY, "DE-HB": de.HolidaysHB, "DE-HE": de.HolidaysHE,
		"DE-HH": de.HolidaysHH, "DE-MV": de.HolidaysMV, "DE-NI": de.HolidaysNI, "DE-NW": de.HolidaysNW,
		"DE-RP": de.HolidaysRP, "DE-SH": de.HolidaysSH, "DE-SL": de.HolidaysSL, "DE-SN": de.HolidaysSN,
		"DE-ST": de.HolidaysST, "DE-TH": de.HolidaysTH, "CH-BE": ch.HolidaysBE, "CH-BS": ch.HolidaysBS,
		"CH-GE": ch.HolidaysGE, "CH-VD": ch.HolidaysVD, "CH-ZH": ch.HolidaysZH,
	}
}

// holidaysOf are the public holidays of a country or a region.
func holidaysOf(code string) ([]*cal.Holiday, error) {
	known := countries()
	maps.Copy(known, regions())
	if found := known[code]; found != nil {
		return found, nil
	}
	var others []string
	for other := range known {
		if len(code) < 2 || strings.HasPrefix(other, code[:2]) || len(other) == 2 {
			others = append(others, other)
		}
	}
	slices.Sort(others)
	return nil, fmt.Errorf("holidays %q are unknown: write one of %s; for other holidays, write the dates in start "+
		"and alsoOn", code, strings.Join(others, ", "))
}

// datesOf are the days of holidays, and those on which they are made up for, ascending.
func datesOf(holidays []*cal.Holiday) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for year := earliest; year <= latest; year++ {
			for _, at := range datesIn(holidays, year) {
				if !yield(at) {
					return
				}
			}
		}
	}
}

func datesIn(holidays []*cal.Holiday, year int) (out []time.Time) {
	for _, h := range holidays {
		actual, observed := h.Calc(year)
		for _, one := range []time.Time{actual, observed} {
			if !one.IsZero() {
				out = append(out, time.Date(one.Year(), one.Month(), one.Day(), 0, 0, 0, 0, time.UTC))
			}
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return out
}
