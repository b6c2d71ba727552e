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
  'Are the forecasts right, and is each objective met? Every figure is that of a Forecast.',
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
        'Forecasts that are stale, invalid, or served by the fallback. `kubectl describe forecast` has the reason.',
        'none',
        'sum(%s)' % f.each('forewarm_forecast_state', 'state=~"FallingBack|Invalid|Pending|Stale"'),
        [['green', null], ['red', 1]],
        alerts=['ForewarmForecastNotServed'],
      ),
      f.number(
        'Objectives missed',
        'Objectives of which more than the lateness budget is spent.',
        'none',
        'sum(1 - %s)' % f.each('forewarm_objective_met'),
        [['green', null], ['red', 1]],
      ),
      f.number(
        'Least budget left',
        'The part of the lateness budget that is left, of the Forecast that has the least. Below 0 the ' +
        'objective is missed.',
        'percentunit',
        'min(%s)' % left,
        [['red', null], ['orange', 0], ['green', 0.25]],
        alerts=['ForewarmBudgetBurnsFast'],
        decimals=0,
      ),
      f.number(
        'Lowest coverage',
        'Coverage of the Forecast with the lowest. Compare it with the quantile that is served; an objective ' +
        'has no quantile.',
        'percentunit',
        'min(%s)' % f.each('forewarm_coverage_ratio'),
        decimals=1,
      ),
      f.number(
        'Mean skill',
        'Mean over the Forecasts: how much less loss than the last value has. Above 0 the forecast is better ' +
        'than none.',
        'percentunit',
        'avg(%s)' % f.each('forewarm_skill_ratio'),
        [['red', null], ['green', 0]],
        decimals=1,
      ),
      f.number(
        'Doubted demands',
        'Forecasts of which samples do not count as they are: suddenly near 0, far above their history, or incomplete.',
        'none',
        'count(%s == 0) or vector(0)' % f.each('forewarm_forecast_condition', 'type="DataClean"'),
        [['green', null], ['red', 1]],
        alerts=['ForewarmDemandSuspect'],
      ),
    ]),
    f.row('Lateness against the objective', [
      f.lines(
        'Lateness',
        'Share of the demand that was late over the simulated window, in an autoscaler simulated on the served ' +
        'value; and measured, where objective.measured names a query. The dashed line is ' +
        'the objective. The dashboard of costs compares it with the lateness before.',
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
        "What is left of the demand that may be late, or arrive in bad hours, over the budget's period. Below 0 the objective is missed: see why in the " +
        'burn rate, and what to do in the runbook.',
        'percentunit',
        [f.target(left, name)],
        alerts=['ForewarmBudgetBurnsSlowly', 'ForewarmBadHoursOverspent'],
        thresholds=[{ color: 'red', value: 0 }],
      ),
      f.lines(
        'Burn rate',
        'Lateness of the last hour and of the last six as a multiple of the objective. At 1, the budget is ' +
        'spent at the end of its ' +
        "period. The dashed lines are those of the alerts: 16.8 spends a tenth of a week's budget in an hour, 2.8 in six hours.",
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
        'Share of past lead windows whose peak was at most the served quantile. With `quantile: "0.95"` it ' +
        'should be near 95 %.',
        'percentunit',
        [f.target(f.each('forewarm_coverage_ratio'), name)],
      ),
      f.lines(
        'Skill',
        "1 minus the selected candidate's loss over the last value's. Above 0 is better than the last value. Below it for days: the " +
        'demand has no pattern that the history shows.',
        'percentunit',
        [f.target(f.each('forewarm_skill_ratio'), name)],
        thresholds=[{ color: 'red', value: 0 }],
      ),
      f.lines(
        'Headroom multiplier',
        'What an objective adds above the median of the window peak, as a multiple of its spread. It is ' +
        'calibrated by itself.',
        'none',
        [f.target(f.each('forewarm_headroom_multiplier'), name)],
        min=0,
      ),
    ]),
    f.row('$forecast', [
      band(f.lines(
        'Forecast against actual',
        'The peak of the demand over the last lead window, and the quantiles of that peak as they were forecast ' +
        'a lead window ago. A ' +
        'right forecast has the actual peak below 95 % at nineteen of twenty moments. Choose one namespace, and ' +
        'the lead window of ' +
        'this Forecast.',
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
        'The demand observed now, and the value that the metrics APIs serve, by replica of Forewarm. In shadow ' +
        'mode both are equal. ' +
        'A gap in the served value: HPAs keep their replicas. Two different served values: the replicas disagree.',
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
        'Trailing pinball loss of each candidate over that of the last value. Below 100 % is better than the ' +
        'last value.',
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
        'Lead time (from more replicas to ready) and the lead window that the forecast covers. If it grows, ' +
        'find why starts have become ' +
        'slower: image, node, model.',
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
