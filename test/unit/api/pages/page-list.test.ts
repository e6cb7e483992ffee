import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { operationList } from '../../../../src/capabilities/list.ts'
import { systemClock } from '../../../../src/core/base/clock.ts'
import { CallDurations } from '../../../../src/core/metrics/call-durations.ts'
import { createMetrics } from '../../../../src/core/metrics/metrics.ts'
import { DocumentRates } from '../../../../src/rest/pages/document-rates.ts'
import { pageRoutes } from '../../../../src/rest/pages/page-list.ts'
import { describedPaths } from '../../../../src/server/described-paths.ts'

const all = pageRoutes({
  version: '1',
  node: 'node',
  clock: systemClock,
  documents: new DocumentRates(() => [], systemClock),
  slowCalls: new CallDurations(systemClock),
  publicUrl: 'http://localhost:8787',
  operations: operationList,
  paths: describedPaths,
  metrics: createMetrics(),
  metricsToken: null,
  degraded: () => [],
  readiness: () => ({ ok: true }),
  adminToken: null,
  backup: () => 'nothing',
})

it.each(['/openapi.json', '/docs/reference/organizations', '/docs/reference/workspace', '/docs/search.json'])(
  '[LIM-6] sends the same bytes of %s to all readers',
  async (path) => {
    const page = all.find((each) => each.path === path)
    const textOf = async () => {
      const headers = { 'accept-encoding': 'gzip' }
      const content = await page?.content({ headers } as IncomingMessage)
      return content?.kind === 'text' && content.headers?.['content-encoding'] === 'gzip'
        ? content.text
        : null
    }
    const first = await textOf()
    expect(Buffer.isBuffer(first) && first.length > 10_000).toBe(true)
    expect(await textOf()).toBe(first)
  },
)
