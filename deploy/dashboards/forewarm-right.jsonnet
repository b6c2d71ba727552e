local f = import 'forewarm.libsonnet';
local name = '{{namespace}}/{{forecast}}';
local left = '1 - %s / %s' % [
  f.each('forewarm_objective_budget_spent_replica_seconds'),
  f.each('forewarm_objective_budget_allowed_replica_seconds'),
];
local forecastOf(level) =
  'max by (namespace, forecast) (forewarm_forecast_value{%s, horizon="$lead_window", level="%s"} offset ${lead_window}s)'
  % [f.forecasts, level];
local band(p) = p {
  panel+: { fieldConfig+: { overrides: [
    {
      matcher: { id: 'byName', options: line.name },
      properties: [{ id: 'color', value: { mode: 'fixed', fixedColor: line.color } }] + line.more,
    }
    for line in [
      { name: 'actual', color: 'text', more: [{ id: 'custom.lineWidth', value: 2 }] },
      { name: '50 %', color: 'blue', more: [] },
      { name: '95 %', color: 'light-blue', more: [{ id: 'custom.fillBelowTo', value: '50 %' }, { id: 'custom.fillOpacity', value: 25 }] },
      { name: '99 %', color: 'super-light-blue', more: [{ id: 'custom.fillBelowTo', value: '95 %' }, { id: 'custom.fillOpacity', value: 12 }] },
    ]
  ] } },
};

f.dashboard(
  'Is it right?',
  'forewarm-right',
  'Are the forecasts right, and is each objective met? Figures are shown for each Forecast.',
  [
    f.namespaceVariable,
    f.forecastVariable,
    // A PromQL offset is a constant, so the lead window is a variable.
    f.query(
      'lead_window',
      'Lead window (s)',
      'query_result(count_values("window", %s))' % f.each('forewarm_lead_window_seconds'),
      { regex: '/window="([^"]+)"/', sort: 3 }
    ),
  ],
  [
    f.row('Now', [
      f.number(
        'Forecasts not ready',
        'Forecasts that are pending, stale, invalid, or served by the fallback. `kubectl describe forecast` shows the reason.',
        'none',
        'sum(%s)' % f.each('forewarm_forecast_state', 'state=~"FallingBack|Invalid|Pending|Stale"'),
        [['green', null], ['red', 1]],
        alerts=['ForewarmForecastNotServed'],
      ),
      f.number(
        'Objectives missed',
        'Forecasts that have spent more than their lateness budget.',
        'none',
        'sum(1 - %s)' % f.each('forewarm_objective_met'),
        [['green', null], ['red', 1]],
      ),
      f.number(
        'Least budget left',
        'The part of the lateness budget that is left, for the Forecast with the least budget left. Below 0, the ' +
        'objective is missed.',
        'percentunit',
        'min(%s)' % left,
        [['red', null], ['orange', 0], ['green', 0.25]],
        alerts=['ForewarmBudgetBurnsFast'],
        decimals=0,
      ),
      f.number(
        'Lowest coverage',
        'The lowest coverage of any Forecast. Compare it with the quantile that the Forecast serves, and for a ' +
        'Forecast with an objective with 95 %.',
        'percentunit',
        'min(%s)' % f.each('forewarm_coverage_ratio'),
        decimals=1,
      ),
      f.number(
        'Mean skill',
        'How much smaller the loss of the forecast is than the loss of repeating the last value, as the mean over the Forecasts. ' +
        'Above 0, the forecast is better than no forecast.',
        'percentunit',
        'avg(%s)' % f.each('forewarm_skill_ratio'),
        [['red', null], ['green', 0]],
        decimals=1,
      ),
      f.number(
        'Suspect demand',
        'Forecasts whose newest samples look wrong: they are suddenly close to 0, far above their history, or incomplete. Forewarm ' +
        'does not use such samples unchanged.',
        'none',
        'count(%s == 0) or vector(0)' % f.each('forewarm_forecast_condition', 'type="DataClean"'),
        [['green', null], ['red', 1]],
        alerts=['ForewarmDemandSuspect'],
      ),
    ]),
    f.row('Lateness against the objective', [
      f.lines(
        'Lateness',
        'Share of the demand that was late in the simulated window. Forewarm simulates an autoscaler on the served value. ' +
        'If objective.measured has a query, its result is shown as measured. The dashed line is the objective. ' +
        'The dashboard "What does it cost?" compares the lateness with the lateness of your previous HPA.',
        'percentunit',
        [
          f.target(f.each('forewarm_simulated_late_ratio', 'policy="served"'), name),
          f.target(f.each('forewarm_measured_late_ratio'), name + ' measured'),
          f.target(f.each('forewarm_objective_late_ratio'), name + ' objective'),
        ],
        min=0,
      ) + { panel+: { fieldConfig+: { overrides: [{
        matcher: { id: 'byRegexp', options: '/ objective$/' },
        properties: [{ id: 'custom.lineStyle', value: { fill: 'dash' } }],
      }] } } },
      f.lines(
        'Lateness budget left',
        'How much demand can still be late, or arrive in bad hours, before the budget of the period is spent, as a share of the ' +
        'whole budget. Below 0, the objective is missed. The burn rate shows when the budget was spent, and the runbook says what to ' +
        'do.',
        'percentunit',
        [f.target(left, name)],
        alerts=['ForewarmBudgetBurnsSlowly', 'ForewarmBadHoursOverspent'],
        thresholds=[{ color: 'red', value: 0 }],
      ),
      f.lines(
        'Burn rate',
        'Lateness in the last hour and in the last six hours, as a multiple of the objective. At a burn rate of 1, the budget ' +
        'lasts exactly for its period. The dashed lines are the thresholds of the alerts. A burn rate of 16.8 ' +
        "spends a tenth of a week's budget in one hour, and a burn rate of 2.8 does so in six hours.",
        'none',
        [f.target(f.each('forewarm_objective_burn_rate', by='namespace, forecast, window'), name + ' {{window}}')],
        alerts=['ForewarmBudgetBurnsFast', 'ForewarmBudgetBurnsSlowly'],
        min=0,
        thresholds=[{ color: 'orange', value: 2.8 }, { color: 'red', value: 16.8 }],
      ),
    ]),
    f.row('Forecast quality', [
      f.lines(
        'Coverage',
        'Share of past lead windows whose peak was at or below the quantile that the selected model forecast. With ' +
        '`quantile: "0.95"` or an objective, it should be close to 95 %.',
        'percentunit',
        [f.target(f.each('forewarm_coverage_ratio'), name)],
      ),
      f.lines(
        'Skill',
        'How much smaller the pinball loss of the selected model is than the loss of the last value. Above 0, the model is better than ' +
        'the last value. If the skill stays below 0 for days, the history shows no pattern that a model can use.',
        'percentunit',
        [f.target(f.each('forewarm_skill_ratio'), name)],
        thresholds=[{ color: 'red', value: 0 }],
      ),
      f.lines(
        'Headroom multiplier',
        'Headroom that Forewarm adds to the median forecast of the window peak, as a multiple of the spread of that forecast. ' +
        'Forewarm calibrates it to the objective.',
        'none',
        [f.target(f.each('forewarm_headroom_multiplier'), name)],
        min=0,
      ),
    ]),
    f.row('$forecast', [
      band(f.lines(
        'Forecast against actual',
        'The peak of the demand over the last lead window, and the quantiles of that peak that were forecast one lead window ' +
        'earlier. If the forecast is right, the actual peak is below the 95 % line at 19 of 20 points in time. Choose one namespace, ' +
        'one Forecast, and the lead window of that Forecast.',
        'none',
        [
          f.target(forecastOf('0.99'), '99 %'),
          f.target(forecastOf('0.95'), '95 %'),
          f.target(forecastOf('0.5'), '50 %'),
          f.target(
            'max by (namespace, forecast) ' +
            '(max_over_time(forewarm_observed_value{%s}[${lead_window}s]))' % f.forecasts, 'actual'
          ),
        ],
        w=12,
        min=0,
      )),
      f.lines(
        'Demand and served value',
        'The current demand, and the value that the metrics APIs serve, by replica of Forewarm. In shadow mode, both are equal. ' +
        'While the served value has a gap, HPAs keep their current replicas. If the served values differ, the replicas of ' +
        'Forewarm disagree.',
        'none',
        [
          f.target(f.each('forewarm_observed_value'), 'observed'),
          f.target(f.each('forewarm_served_value', by='namespace, forecast, instance'), 'served by {{instance}}'),
        ],
        w=12,
        min=0,
        alerts=['ForewarmReplicasDisagree'],
      ),
      f.lines(
        'Loss of the candidates',
        'Recent pinball loss of each candidate model, as a percentage of the loss of the last value. Below 100 %, the candidate ' +
        'is better than the last value.',
        'percentunit',
        [f.target(
          '%s / on (namespace, forecast) group_left () %s' % [
            f.each('forewarm_candidate_loss_value', by='namespace, forecast, model'),
            f.each('forewarm_candidate_loss_value', 'model="last-value"'),
          ], '{{model}}'
        )],
        w=12,
      ),
      f.lines(
        'Lead time',
        'The lead time, from the request for more replicas until they are ready, and the lead window that the forecast covers. If ' +
        'the lead time grows, find out why replicas start more slowly: the image, the node or the model.',
        's',
        [
          f.target(f.each('forewarm_lead_time_seconds'), 'lead time'),
          f.target(f.each('forewarm_lead_window_seconds'), 'lead window'),
        ],
        w=12,
        min=0,
        alerts=['ForewarmLeadTimeJumped'],
      ),
    ], repeat='forecast'),
  ]
)
