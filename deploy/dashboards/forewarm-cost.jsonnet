local f = import 'forewarm.libsonnet';
local name = '{{namespace}}/{{forecast}}';
// Replica time divided by the length of the window is the mean number of replicas.
local replicas(policy) = '%s / %s' % [
  f.each('forewarm_simulated_replica_seconds', 'policy="%s"' % policy),
  f.each('forewarm_simulated_window_seconds'),
];
local hours(policy) = '$gpus * 24 * sum(%s)' % replicas(policy);
// Counters increase at the end of each hour, so the last day contains whole hours.
local spent(metric, policy, by) = 'sum by (%s) (max by (namespace, forecast, variant) (increase(forewarm_%s{%s, policy="%s"}[1d])))' % [
  by,
  metric,
  f.forecasts,
  policy,
];
local pools(metric) = 'max by (namespace, pool) (forewarm_warm_pool_%s{namespace=~"$namespace"})' % metric;
local pool(metric, legend) = f.target(pools(metric), '{{namespace}}/{{pool}} ' + legend);
local fleet(metric, legend, by) = f.target(
  'max by (%s) (forewarm_fleet_%s{namespace=~"$namespace"})' % [by, metric], '{{namespace}}/{{fleet}} ' + legend
);
local simulated = "Forewarm simulates the autoscaler on the recorded demand, over at most the budget's period. This is not a bill. " +
                  'The result is multiplied by the number of GPUs per replica that is chosen above.';

f.dashboard(
  'What does it cost?',
  'forewarm-cost',
  'GPU-hours with Forewarm, with your previous HPA, and with the best HPA target in hindsight, and the idle time of warm pools. ' +
  'Only Forecasts with an objective are included.',
  [
    f.namespaceVariable,
    f.forecastVariable,
    {
      name: 'gpus',
      label: 'GPUs per replica',
      type: 'custom',
      query: '1,2,4,8,16',
      current: { text: '1', value: '1' },
    },
  ],
  [
    f.row('Now', [
      f.number('GPU-hours a day, Forewarm', 'GPU-hours a day if the HPA reads the value that Forewarm serves. ' + simulated, 'none', hours('served'), decimals=1),
      f.number('GPU-hours a day, before', 'GPU-hours a day with the HPA of spec.scaling.before on the observed demand. ' + simulated, 'none', hours('before'), decimals=1),
      f.number(
        'Difference',
        'How many more GPU-hours a day Forewarm uses than your previous HPA. A negative number is a saving. ' +
        'Compare it with the lateness below. ' + simulated,
        'none',
        '%s - %s' % [hours('served'), hours('before')],
        decimals=1
      ),
      f.number(
        'Relative cost, served',
        'Replica time divided by the least replica time that could serve the demand, with every replica at full capacity. ' +
        'This is the mean over the Forecasts. The lowest possible value is 1.',
        'none',
        'avg(%s)' % f.each('forewarm_simulated_relative_cost_ratio', 'policy="served"'),
        decimals=2
      ),
      f.number(
        'Idle GPU-hours of pools',
        'Idle GPU-hours of all pools in the time range of this dashboard.',
        'none',
        'sum(increase(forewarm_warm_pool_idle_gpu_seconds{namespace=~"$namespace"}[$__range])) / 3600',
        decimals=1
      ),
      f.number(
        'Pools on fallback',
        'Pools that use their fallback, because their forecasts are unreliable or their budget is spent.',
        'none',
        'sum(%s)' % pools('falling_back'),
        [['green', null], ['orange', 1]],
        alerts=['ForewarmPoolOverBudget']
      ),
    ]),
    f.row('GPU-hours of the workloads', [
      f.lines(
        'GPU-hours a day',
        'GPU-hours a day, summed over the Forecasts. ' + simulated,
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
        'How many percent more GPU-hours Forewarm uses than your previous HPA. If this is too much for the lateness that it ' +
        'avoids, allow more lateness in the objective.',
        'percentunit',
        [f.target('(%s) / (%s) - 1' % [replicas('served'), replicas('before')], name)],
        w=12
      ),
      f.lines(
        'Relative cost',
        'Replica time divided by the least replica time that could serve the demand, with every replica at full capacity. ' +
        'The lowest possible value is 1.',
        'none',
        [f.target(f.each('forewarm_simulated_relative_cost_ratio', 'policy!="observed"', by='namespace, forecast, policy'), name + ' {{policy}}')],
        w=12
      ),
      f.lines(
        'Lateness at this cost',
        'Share of the demand that was late in the simulated window: with Forewarm (served), with your previous HPA (before), and ' +
        'with the best HPA target in hindsight.',
        'percentunit',
        [f.target(f.each('forewarm_simulated_late_ratio', 'policy!="observed"', by='namespace, forecast, policy'), name + ' {{policy}}')],
        w=12,
        min=0
      ),
    ]),
    f.row('By team', [
      f.lines(
        'GPU-hours a day by namespace',
        'GPU-hours a day if the HPA reads the value that Forewarm serves. The figures are updated every hour. ' + simulated,
        'none',
        [f.target('$gpus * %s / 3600' % spent('replica_seconds_total', 'served', 'namespace'), '{{namespace}}')],
        w=8,
        min=0,
        stack=true
      ),
      f.lines(
        'Cost a day by namespace',
        'Cost a day in the currency of spec.price. Only Forecasts with a price are included. ' + simulated,
        'none',
        [f.target(spent('cost_total', 'served', 'namespace'), '{{namespace}}')],
        w=8,
        min=0,
        stack=true
      ),
      f.lines(
        'Cost a day by variant',
        'Cost a day of each variant, for example spot and on demand, or slow and fast. ' + simulated,
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
        "Chunks that the members' forecasts request (wanted), chunks that the pool holds (held), held chunks that are ready, and " +
        'chunks that pods have taken (borrowed). If held chunks do not become ready for a long time, the cluster has no ' +
        'capacity for them. Only the leader reports pools.',
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
        'Idle GPU-hours of the chunks since midnight (UTC), and the budget. When the budget is spent, the pool ' +
        'holds at most its fallback until midnight.',
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
        'Mean number of idle GPUs, by pool.',
        'none',
        [f.target(
          'sum by (namespace, pool) ' +
          '(rate(forewarm_warm_pool_idle_gpu_seconds{namespace=~"$namespace"}[$__rate_interval]))',
          '{{namespace}}/{{pool}}'
        )],
        min=0
      ),
    ]),
    f.row('Fleets', [
      f.lines(
        'GPUs',
        'GPUs of each fleet, GPUs that its members hold or ask for, and GPUs of other pods on its nodes. Only the leader reports fleets.',
        'none',
        [
          fleet('gpus', 'all', 'namespace, fleet'),
          fleet('member_gpus', 'members', 'namespace, fleet'),
          fleet('other_gpus', 'other pods', 'namespace, fleet'),
        ],
        min=0
      ),
      f.lines(
        'Batch replicas',
        'Replicas of batch work that may run (spare), and replicas that hold GPUs or wait for them (running), by consumer.',
        'none',
        [
          fleet('spare_replicas', '{{batch}} spare', 'namespace, fleet, batch'),
          fleet('running_replicas', '{{batch}} running', 'namespace, fleet, batch'),
        ],
        min=0
      ),
      f.lines(
        'Shortage ahead',
        'GPUs that the members will need in addition to those of the fleet, at the worst time of the next shortage within a day.',
        'none',
        [fleet('shortage_gpus', 'missing', 'namespace, fleet')],
        min=0,
        alerts=['ForewarmFleetShortage']
      ),
    ]),
  ]
)
