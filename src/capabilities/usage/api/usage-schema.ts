import type { FromSchema } from '../../../core/base/schema.ts'
import type { OperationContext } from '../../../rest/operation.ts'
import { pageRequest, pageSizeMax, readPageWithToken } from '../../../rest/paging/page-request.ts'
import type { UsageRow } from '../usage-csv.ts'
import { granularities, type UsageItem } from '../usage-reader.ts'
import { msPerHour } from '../usage-records.ts'

/** The end of the year 9999, in epoch milliseconds. */
const timeMax = 253_402_300_799_999
const minuteMs = 60_000

const time = { type: 'integer', minimum: 0, maximum: timeMax } as const
const count = { type: 'integer', minimum: 0 } as const

/** Selects usage. All operations that read usage have this request. */
export const usageRequest = {
  type: 'object',
  properties: {
    from: { ...time, default: 0, description: 'Start of the time, in epoch milliseconds.' },
    to: { ...time, description: 'End of the time (excluded), in epoch milliseconds. Default: now.' },
    granularity: {
      type: 'string',
      enum: granularities,
      default: 'hour',
      description: 'Length of the time that an item covers. An item always covers it completely.',
    },
    by: {
      type: 'string',
      enum: ['workspace', 'organization'],
      default: 'workspace',
      description: 'The subject of an item. With `organization`, items are sorted by `organizationId` first.',
      examples: ['organization'],
    },
    organizationId: {
      type: 'string',
      format: 'id',
      description: 'Only organizations with this id, of any API key. Implies `by: organization`.',
    },
    ...pageRequest,
  },
} as const

export const usageItem = {
  type: 'object',
  required: [
    'start',
    'connectionsOpened',
    'connectionsPeak',
    'connectionMinutes',
    'updates',
    'bytesSent',
    'calls',
  ],
  properties: {
    start: { type: 'integer', description: 'Start of the hour, day or month (UTC), in epoch milliseconds.' },
    apiKey: { type: 'string', description: 'API key of the organization; absent for the workspace.' },
    organizationId: { type: 'string', description: 'The organization; absent for the workspace.' },
    connectionsOpened: { ...count, description: 'Realtime connections to an editor that were opened.' },
    connectionsPeak: {
      ...count,
      description: 'Maximum number of connections that were open at the same time.',
    },
    connectionMinutes: {
      type: 'number',
      minimum: 0,
      description: 'Sum of the minutes for which the connections were open.',
    },
    updates: { ...count, description: 'Accepted updates of clients, and changes by REST.' },
    bytesSent: { ...count, description: 'Bytes sent on realtime connections and in responses to calls.' },
    calls: { ...count, description: 'Calls that the rate limit accepted.' },
    bytesStored: {
      ...count,
      description:
        'Last measurement of the bytes that the workspace stores (an estimate). Absent for an organization, and ' +
        'without a measurement.',
    },
  },
} as const

/**
 * Reads a page of usage. The first page has the current counts of this node.
 * @param path path of the operation, to which its page tokens belong
 * @throws ApiError INVALID_ARGUMENT if the page token belongs to another query; StoreUnavailableError
 */
export async function readUsagePage(
  path: string,
  data: FromSchema<typeof usageRequest>,
  { caller: { workspaceId }, services: { usage, pageTokens, clock } }: OperationContext<'workspace'>,
): Promise<{ readonly items: readonly UsageRow[]; readonly token: { readonly pageToken?: string } }> {
  const { from = 0, granularity = 'hour', organizationId, pageSize = pageSizeMax, pageToken } = data
  const by = organizationId === undefined ? (data.by ?? 'workspace') : 'organization'
  // The end of the current hour, so that the token of the next page has the same query for a while.
  const { to = endOfHour(clock.now()) } = data
  const query = { from, to, granularity, by, ...(organizationId !== undefined && { organizationId }) }
  if (pageToken === undefined) await usage.meter.write(workspaceId)
  const { found, token } = await readPageWithToken(
    pageTokens,
    [path, workspaceId, from, data.to ?? null, granularity, by, organizationId ?? null],
    { pageSize: Math.min(pageSize, pageSizeMax), ...(pageToken !== undefined && { pageToken }) },
    (range) => usage.reader.list(workspaceId, query, range),
  )
  return { items: found.items.map(toUsageResponse), token }
}

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
