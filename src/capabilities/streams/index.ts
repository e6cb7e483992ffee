import { TransactionRunner } from '../../core/directory/store/transaction.ts'
import type { UserDataScope, UserDataSource } from '../../core/directory/user-data/user-data-source.ts'
import type { CheckLease } from '../../core/jobs/task-worker.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Kv } from '../../core/store/engine.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { isNamedIn, metaWithoutUser } from '../../core/update/attribution/attribution.ts'
import { defineCapability } from '../../rest/capability.ts'
import { contentStreamRoute } from './api/stream-route.ts'
import { contentStreamDescription } from './api/stream-schema.ts'
import { type StreamRecord, streamKeys, streamRecordType, streamsPart } from './stream-records.ts'
import { StreamService } from './stream-service.ts'

/** Maximum number of streams that one commit reads and changes. */
const atOnce = 100

/**
 * Replaces a user by the unknown user in the streams of an API key, or of one organization of it. Returns the number
 * of changed streams.
 */
async function forgetStreamUser(
  kv: Kv,
  { organizationId, ...tenant }: Tenant & { readonly organizationId: string | null },
  userId: string,
  goOn: CheckLease,
): Promise<number> {
  const transactions = new TransactionRunner(kv)
  const isNamed = (record: StreamRecord): boolean =>
    (organizationId === null || record.organizationId === organizationId) &&
    isNamedIn({ by: record.userId, meta: record.meta }, userId)
  let changed = 0
  for (let after = {}; ; await goOn()) {
    const found = await transactions.run(streamsPart(tenant), async (transaction) => {
      const entries = await transaction.scan({ prefix: streamKeys.streams, limit: atOnce, ...after })
      const named = entries.flatMap((entry) => {
        const record = readRecord(streamRecordType, entry)
        return isNamed(record) ? [{ key: entry.key, record }] : []
      })
      for (const { key, record } of named) transaction.put(key, withoutUserOf(record, userId))
      return { last: entries.at(-1), isLast: entries.length < atOnce, count: named.length }
    })
    changed += found.count
    if (found.last === undefined || found.isLast) return changed
    after = { after: found.last.key }
  }
}

const withoutUserOf = (record: StreamRecord, userId: string): StreamRecord => ({
  ...record,
  userId: record.userId === userId ? '' : record.userId,
  meta: record.meta === null ? null : metaWithoutUser(record.meta, userId),
})

/**
 * Returns the source of the streams of content that name a user. They are kept for minutes, so an export leaves them
 * out: it has the changes that the streams have made.
 */
const streamSource = (kv: Kv): UserDataSource<UserDataScope> => ({
  name: 'streams',
  list: () => Promise.resolve({ items: [], next: null }),
  erase: (place, userId, goOn) => forgetStreamUser(kv, place, userId, goOn),
})

declare module '../../rest/services.ts' {
  interface Services {
    readonly streams: StreamService
  }
}

/** Content that arrives in pieces, such as the text of a model. */
export const streams = defineCapability({
  name: 'streams',
  create: (services) => ({ streams: new StreamService(services) }),
  userData: ({ engine }) => ({ ofTenant: [streamSource(engine.kv)] }),
  routes: (services, edge) => [contentStreamRoute(services, edge)],
  paths: [contentStreamDescription],
  start: ({ streams }) => streams.start(),
  stop: ({ streams }) => streams.stop(),
})
