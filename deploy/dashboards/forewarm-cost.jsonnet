local f = import 'forewarm.libsonnet';
local name = '{{namespace}}/{{forecast}}';
// Replica time over the time in which it was used is a mean number of replicas.
local replicas(policy) = '%s / %s' % [
  f.each('forewarm_simulated_replica_seconds', 'policy="%s"' % policy),
  f.each('forewarm_simulated_window_seconds'),
];
local hours(policy) = '$gpus * 24 * sum(%s)' % replicas(policy);
// Counters move at the end of each hour: the last day has whole ones.
local spent(metric, policy, by) = 'sum by (%s) (max by (namespace, forecast, variant) (increase(forewarm_%s{%s, policy="%s"}[1d])))' % [
  by,
  metric,
  f.forecasts,
  policy,
];
local pools(metric) = 'max by (namespace, pool) (forewarm_warm_pool_%s{namespace=~"$namespace"})' % metric;
local pool(metric, legend) = f.target(pools(metric), '{{namespace}}/{{pool}} ' + legend);
local simulated = "Autoscalers are simulated on the recorded demand, over at most the budget's period: it is no bill. " +
                  'Multiplied by the GPUs of a replica, as chosen above.';

f.dashboard(
  'What does it cost?',
  'forewarm-cost',
  'GPU-hours with Forewarm, before, and with the best target in hindsight, and the idle time of warm pools. Forecasts with ' +
  'an objective only.',
  [
    f.namespaceVariable,
    f.forecastVariable,
    {
      name: 'gpus',
      label: 'GPUs of a replica',
      type: 'custom',
      query: '1,2,4,8,16',
      current: { text: '1', value: '1' },
    },
  ],
  [
    f.row('Now', [
      f.number('GPU-hours a day, Forewarm', 'With the value that Forewarm serves. ' + simulated, 'none', hours('served'), decimals=1),
      f.number('GPU-hours a day, before', 'With the HPA of spec.scaling.before on the observed demand. ' + simulated, 'none', hours('before'), decimals=1),
      f.number(
        'Difference',
        'GPU-hours a day more (or fewer) than before: compare it with the lateness below. ' + simulated,
        'none',
        '%s - %s' % [hours('served'), hours('before')],
        decimals=1
      ),
      f.number(
        'Relative cost, served',
        'Replica time over that of the demand at full capacity, mean over the Forecasts. 1 is the least possible.',
        'none',
        'avg(%s)' % f.each('forewarm_simulated_relative_cost_ratio', 'policy="served"'),
        decimals=2
      ),
      f.number(
        'Idle GPU-hours of pools',
        'GPU-hours that all pools have stood idle in the time range of this dashboard.',
        'none',
        'sum(increase(forewarm_warm_pool_idle_gpu_seconds{namespace=~"$namespace"}[$__range])) / 3600',
        decimals=1
      ),
      f.number(
        'Pools falling back',
        'Pools that hold their fallback, because forecasts are unreliable or the budget is spent.',
        'none',
        'sum(%s)' % pools('falling_back'),
        [['green', null], ['orange', 1]],
        alerts=['ForewarmPoolOverBudget']
      ),
    ]),
    f.row('GPU-hours of the workloads', [
      f.lines(
        'GPU-hours a day',
        'The sum over the Forecasts. ' + simulated,
        'none',
        [
          f.target(hours('before'), 'before'),
          f.target(hours('hindsight'), 'best in hindsight'),
          f.target(hours('served'), 'Forewarm'),
        ],
        w=12,
        min=0
      ),
      f.lines(
        'More GPU-hours than before',
        'GPU-hours with Forewarm over those before, minus 1. Too much for what it saves in ' +
        'lateness? Allow more ' +
        'lateness in the objective.',
        'percentunit',
        [f.target('(%s) / (%s) - 1' % [replicas('served'), replicas('before')], name)],
        w=12
      ),
      f.lines(
        'Relative cost',
        'Replica time over that of the demand at full capacity. 1 is the least possible.',
        'none',
        [f.target(f.each('forewarm_simulated_relative_cost_ratio', 'policy!="observed"', by='namespace, forecast, policy'), name + ' {{policy}}')],
        w=12
      ),
      f.lines(
        'Lateness for it',
        'Share of the demand that was late over the simulated window: with Forewarm (served), before, and with the best target in hindsight.',
        'percentunit',
        [f.target(f.each('forewarm_simulated_late_ratio', 'policy!="observed"', by='namespace, forecast, policy'), name + ' {{policy}}')],
        w=12,
        min=0
      ),
    ]),
    f.row('By team', [
      f.lines(
        'GPU-hours a day by namespace',
        'With the value that Forewarm serves, counted by the hour. ' + simulated,
        'none',
        [f.target('$gpus * %s / 3600' % spent('replica_seconds_total', 'served', 'namespace'), '{{namespace}}')],
        w=8,
        min=0,
        stack=true
      ),
      f.lines(
        'Cost a day by namespace',
        'In the currency of spec.price, of the Forecasts that have one. ' + simulated,
        'none',
        [f.target(spent('cost_total', 'served', 'namespace'), '{{namespace}}')],
        w=8,
        min=0,
        stack=true
      ),
      f.lines(
        'Cost a day by variant',
        'What of it is on which variant: spot and on demand, slow and fast. ' + simulated,
        'none',
        [f.target(spent('cost_total', 'served', 'namespace, forecast, variant'), name + ' {{variant}}')],
        w=8,
        min=0,
        stack=true
      ),
    ]),
    f.row('Warm pools', [
      f.lines(
        'Chunks',
        "Chunks that the members' forecasts ask for, that are held, that are ready, and that pods have taken. Held and not ready for long: " +
        'there is no capacity. Only the replica that leads reports pools.',
        'none',
        [
          pool('wanted_chunks', 'wanted'),
          pool('held_chunks', 'held'),
          pool('ready_chunks', 'ready'),
          pool('borrowed_chunks', 'borrowed'),
        ],
        min=0
      ),
      f.lines(
        'Idle GPU-hours of the day',
        'GPU-hours that chunks have stood idle since midnight (UTC), and the budget. At the budget the pool ' +
        'holds its fallback until midnight.',
        'none',
        [
          f.target(pools('idle_gpu_seconds') + ' / 3600', '{{namespace}}/{{pool}} idle'),
          f.target(pools('budget_gpu_seconds') + ' / 3600', '{{namespace}}/{{pool}} budget'),
        ],
        min=0,
        alerts=['ForewarmPoolOverBudget']
      ) + { panel+: { fieldConfig+: { overrides: [{
        matcher: { id: 'byRegexp', options: '/ budget$/' },
        properties: [{ id: 'custom.lineStyle', value: { fill: 'dash' } }],
      }] } } },
      f.lines(
        'Idle GPUs',
        'Mean GPUs that stand idle, by pool.',
        'none',
        [f.target(
          'sum by (namespace, pool) ' +
          '(rate(forewarm_warm_pool_idle_gpu_seconds{namespace=~"$namespace"}[$__rate_interval]))',
          '{{namespace}}/{{pool}}'
        )],
        min=0
      ),
    ]),
  ]
)
