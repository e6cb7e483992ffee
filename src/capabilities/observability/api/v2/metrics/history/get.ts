import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { historyNames } from '../../../../metric-points.ts'
import { dayIntervalMs, dayMax, recentIntervalMs, recentMax } from '../../../../metrics-history.ts'
import { maySeeMetrics, metricsTokenMember } from '../../../metrics-access.ts'

const values = (description: string) => json.list(json.orNull(json.number()), { description })

const series = (intervalMs: number, max: number, description: string) =>
  ({
    type: 'object',
    required: ['intervalSeconds', 'timestamps', ...historyNames],
    properties: {
      intervalSeconds: json.integer('Time between two samples.', { examples: [intervalMs / 1000] }),
      timestamps: json.list(json.integer(), {
        description: `Epoch milliseconds of each sample, oldest first; at most ${max}. All lists have this length.`,
        examples: [[1_767_225_600_000]],
      }),
      connections: values('Open websockets.'),
      updatesPerSecond: values('Document updates by websocket and by REST.'),
      commitP50: values(
        'Median time in seconds from the receipt of an update until it is durable; null without updates.',
      ),
      commitP99: values('99th percentile of this time.'),
      loopP50: values('Median delay of the event loop in seconds, measured with a timer of 10 ms.'),
      loopP99: values('99th percentile of this delay.'),
      webhookQueue: values('Events that wait for delivery.'),
      memory: values('Resident memory of the process in bytes.'),
    },
    description,
  }) as const

export const getMetricsHistory = defineOperation({
  path: '/v2/metrics/history/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read the history of the metrics',
  description:
    'Returns the recent values that the overview of the console draws. They are those of the node that answers, since ' +
    'its start, for all API keys together. If the server has a metrics token, the request must contain it. Without a ' +
    'metrics token, a server with several API keys returns no values, because an API key must not see the activity of ' +
    'others.',
  request: json.object({}, metricsTokenMember),
  response: json.object(
    {
      node: json.text('Node of the cluster that answered.'),
      timestamp: json.integer('Epoch milliseconds of the response, for callers whose clock differs.', {
        examples: [1_767_225_600_000],
      }),
    },
    {
      recent: series(recentIntervalMs, recentMax, 'Samples of the last hour.'),
      day: series(
        dayIntervalMs,
        dayMax,
        'Samples of the last 24 hours: the means of the recent samples, and of 99th percentiles the highest.',
      ),
    },
  ),
  errors: [{ code: 'auth/metrics-token', when: 'the request lacks the metrics token' }],
  async handler({ metricsToken }, { services }) {
    const { engine, clock, metricsHistory } = services
    const isVisible = await maySeeMetrics(metricsToken, services)
    return {
      message: 'History found.',
      data: { node: engine.cluster.self, timestamp: clock.now(), ...(isVisible && metricsHistory.read()) },
    }
  },
})
