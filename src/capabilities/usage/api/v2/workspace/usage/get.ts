import { type FromSchema, json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { answerPage, pageRequest } from '../../../../../../rest/paging/page-request.ts'
import { granularities, type UsageItem } from '../../../../usage-reader.ts'
import { msPerHour } from '../../../../usage-records.ts'
import { daysKeptDays, hoursKeptDays } from '../../../../usage-retention.ts'

const path = '/v2/workspace/usage/get'
const minuteMs = 60_000

/** The end of the year 9999, in epoch milliseconds. */
const timeMax = 253_402_300_799_999

const time = { type: 'integer', minimum: 0, maximum: timeMax } as const
const count = { type: 'integer', minimum: 0 } as const

/** Selects usage. */
const usageRequest = json.object(
  {},
  {
    from: { ...time, default: 0, description: 'Start of the time, in epoch milliseconds.' },
    to: { ...time, description: 'End of the time (excluded), in epoch milliseconds. Default: now.' },
    granularity: json.choice(
      granularities,
      'Length of the time that an item covers. An item always covers it completely.',
      { default: 'hour' },
    ),
    by: json.choice(
      ['workspace', 'organization'],
      'The subject of an item. With `organization`, items are sorted by `organizationId` first.',
      { default: 'workspace', examples: ['organization'] },
    ),
    organizationId: json.id('Only organizations with this id, of any API key. Implies `by: organization`.'),
    ...pageRequest,
  },
)

const usageItem = json.object(
  {
    start: json.integer('Start of the hour, day or month (UTC), in epoch milliseconds.'),
    connectionsOpened: { ...count, description: 'Realtime connections to an editor that were opened.' },
    connectionsPeak: {
      ...count,
      description: 'Maximum number of connections that were open at the same time.',
    },
    connectionMinutes: json.number('Sum of the minutes for which the connections were open.', { minimum: 0 }),
    updates: { ...count, description: 'Accepted updates of clients, and changes by REST.' },
    bytesSent: { ...count, description: 'Bytes sent on realtime connections and in responses to calls.' },
    calls: { ...count, description: 'Calls that the rate limit accepted.' },
  },
  {
    apiKey: json.text('API key of the organization; absent for the workspace.'),
    organizationId: json.text('The organization; absent for the workspace.'),
    bytesStored: {
      ...count,
      description:
        'Last measurement of the bytes that the workspace stores (an estimate). Absent for an organization, and ' +
        'without a measurement.',
    },
  },
)

/** The usage of one hour, day or month. */
type UsageRow = FromSchema<typeof usageItem>

export const getUsage = defineOperation({
  path,
  auth: 'workspace',
  effect: 'reads',
  strict: true,
  audited: 'read',
  summary: 'Read the usage',
  description:
    'The usage of the workspace, or of each of its organizations, by hour, day or month (UTC), oldest first. Hours, ' +
    `days and months without usage are left out. Usage by hour is kept for ${hoursKeptDays} days, and usage by day and ` +
    `month for ${daysKeptDays} days. The response has the current counts of the node that answers; the counts of other ` +
    'nodes are at most a minute old. A page may have fewer items than requested, or no items: continue until there is ' +
    'no `pageToken`.',
  request: usageRequest,
  response: json.list(usageItem),
  async handler(data, context) {
    const { workspaceId } = context.caller
    const { usage, clock } = context.services
    const { from = 0, granularity = 'hour', organizationId } = data
    const by = organizationId === undefined ? (data.by ?? 'workspace') : 'organization'
    // The end of the current hour, so that the token of the next page has the same query for a while.
    const { to = endOfHour(clock.now()) } = data
    const query = { from, to, granularity, by, ...(organizationId !== undefined && { organizationId }) }
    if (data.pageToken === undefined) await usage.meter.write(workspaceId)
    return answerPage(
      context,
      [path, from, data.to ?? null, granularity, by, organizationId ?? null],
      data,
      (range) => usage.reader.list(workspaceId, query, range),
      ['items', toUsageResponse],
    )
  },
})

const endOfHour = (now: number): number => now - (now % msPerHour) + msPerHour

function toUsageResponse({ subject, bucket }: UsageItem): UsageRow {
  const { start, opened, peak, openMs, updates, bytesSent, calls, stored } = bucket
  return {
    start,
    ...subject,
    connectionsOpened: opened,
    connectionsPeak: peak,
    connectionMinutes: openMs / minuteMs,
    updates,
    bytesSent,
    calls,
    ...(stored !== null && { bytesStored: stored.bytes }),
  }
}
