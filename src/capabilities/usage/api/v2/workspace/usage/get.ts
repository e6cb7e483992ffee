import { json } from '../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import { readPage } from '../../../../../../rest/paging/page-request.ts'
import type { UsageItem } from '../../../../usage-reader.ts'
import { msPerHour } from '../../../../usage-records.ts'
import { daysKeptDays, hoursKeptDays } from '../../../../usage-retention.ts'
import { type UsageRow, usageItem, usageRequest } from '../../../usage-schema.ts'

const path = '/v2/workspace/usage/get'
const minuteMs = 60_000

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
  errors: [],
  async handler(data, context) {
    const { workspaceId } = context.caller
    const { usage, clock } = context.services
    const { from = 0, granularity = 'hour', organizationId } = data
    const by = organizationId === undefined ? (data.by ?? 'workspace') : 'organization'
    // The end of the current hour, so that the token of the next page has the same query for a while.
    const { to = endOfHour(clock.now()) } = data
    const query = { from, to, granularity, by, ...(organizationId !== undefined && { organizationId }) }
    if (data.pageToken === undefined) await usage.meter.write(workspaceId)
    const { found, token } = await readPage(
      context,
      [path, from, data.to ?? null, granularity, by, organizationId ?? null],
      data,
      (range) => usage.reader.list(workspaceId, query, range),
    )
    return { message: `${found.items.length} items found.`, data: found.items.map(toUsageResponse), ...token }
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
