import { bytesArray } from '../connection/arrays.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'
import { GroupedReads } from '../connection/grouped-reads.ts'

/** Keys of one partition. */
interface ValueRequest {
  readonly part: Buffer
  readonly keys: readonly Buffer[]
}

type FoundValues = readonly (Buffer | null)[]

const getValues = statement<{ n: number; value: Buffer }>(
  'get-values',
  `select k.n::int, v.value from unnest($1::bytea[], $2::bytea[]) with ordinality as k(part, key, n)
   join kv v on v.part = k.part and v.key = k.key`,
)

/** Values in the order of the requested keys. An absent key has the value null. */
export type ValueReads = GroupedReads<ValueRequest, FoundValues>

/** Reads values of any partitions. One statement reads the values of all calls of a tick. */
export const valueReadsIn = (database: PostgresDatabase): ValueReads =>
  new GroupedReads(database, readValues, 200)

async function readValues(
  session: DatabaseSession,
  wanted: readonly ValueRequest[],
): Promise<readonly FoundValues[]> {
  const parts = wanted.flatMap(({ part, keys }) => keys.map(() => part))
  const keys = wanted.flatMap((each) => each.keys)
  const found: (Buffer | null)[] = keys.map(() => null)
  for (const { n, value } of await session.rows(getValues, [bytesArray(parts), bytesArray(keys)]))
    found[n - 1] = value
  let next = 0
  return wanted.map((each) => {
    const start = next
    next += each.keys.length
    return found.slice(start, next)
  })
}
