import { defineCapability } from '../../rest/capability.ts'
import { MetricsHistory } from './metrics-history.ts'

declare module '../../rest/services.ts' {
  interface Services {
    readonly metricsHistory: MetricsHistory
  }
}

/** The history of the metrics of a node, and the bytes of a workspace. */
export const observability = defineCapability({
  name: 'observability',
  create: (services) => ({ metricsHistory: new MetricsHistory(services.metrics, services.clock) }),
  start: ({ metricsHistory }) => metricsHistory.start(),
  async leave({ metricsHistory }) {
    metricsHistory.stop()
  },
})
