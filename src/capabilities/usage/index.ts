import { defineCapability } from '../../rest/capability.ts'
import { getUsage } from './api/v2/workspace/usage/get.ts'
import { createUsage, type UsageModule } from './create-usage.ts'

interface Added {
  readonly usage: UsageModule
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** Usage of workspaces and organizations, by hour, day and month. */
export const usage = defineCapability({
  name: 'usage',
  operations: [getUsage],
  create(services) {
    const usage = createUsage(services)
    return { usage, counts: usage.meter }
  },
  start({ usage }) {
    usage.meter.start()
    usage.retention.start()
  },
  stop: ({ usage }) => usage.retention.stop(),
  flush: ({ usage }) => usage.meter.stop(),
})
