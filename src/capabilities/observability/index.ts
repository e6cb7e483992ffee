import { defineCapability } from '../../rest/capability.ts'
import { getMetricsHistory } from './api/v2/metrics/history/get.ts'
import { getStorageMetrics } from './api/v2/metrics/storage/get.ts'
import { MetricsHistory } from './metrics-history.ts'

interface Added {
  readonly metricsHistory: MetricsHistory
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** The history of the metrics of a node, and the bytes of a workspace. */
export const observability = defineCapability({
  name: 'observability',
  operations: [getMetricsHistory, getStorageMetrics],
  create: (services) => ({ metricsHistory: new MetricsHistory(services.metrics, services.clock) }),
  start: ({ metricsHistory }) => metricsHistory.start(),
  async leave({ metricsHistory }) {
    metricsHistory.stop()
  },
})
