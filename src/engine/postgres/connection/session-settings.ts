import { type DatabaseSession, statement } from './database-session.ts'

/** Settings that each connection gets. */
export interface SessionSettings {
  readonly schema: string
  readonly durability: 'disk' | 'process'
}

/** SQL expression for the current timeline. Each promotion of a standby increases the timeline by one. */
const readTimeline = `case when not pg_is_in_recovery()
  then ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int end`

/**
 * Settings of a session that do not depend on options. They replace the defaults of the role and the
 * database.
 */
const fixedSettings: readonly (readonly [name: string, value: string])[] = [
  // After a transaction has its locks, it must read the data that others committed before. The snapshot of a
  // stricter isolation level would be older than the locks.
  ['default_transaction_isolation', 'read committed'],
  ['default_transaction_read_only', 'off'],
  ['default_transaction_deferrable', 'off'],
  // Each wait is already limited by `connection-pool.ts`. Its limits are sent when a connection starts, so
  // they have precedence over all defaults.
  ['lock_timeout', '0'],
  ['idle_session_timeout', '0'],
  // Every query finds its rows by key. Therefore plans are made once, and never choose a table scan because a
  // table looks empty.
  ['plan_cache_mode', 'force_generic_plan'],
  ['enable_seqscan', 'off'],
  ['enable_hashjoin', 'off'],
  ['enable_mergejoin', 'off'],
  ['jit', 'off'],
  // Formats in which values are written and read.
  ['standard_conforming_strings', 'on'],
  ['bytea_output', 'hex'],
  ['extra_float_digits', '1'],
  // With this level, a warning reports that a commit did not wait for a standby.
  ['client_min_messages', 'warning'],
]

/**
 * SQL expression that disables `transaction_timeout`. The setting does not exist before PostgreSQL 17; there,
 * `current_setting` returns null.
 */
const noTransactionTimeout = `case when current_setting('transaction_timeout', true) is not null
  then set_config('transaction_timeout', '0', false) end`

/**
 * Sets all settings of a session in one round trip, so that transactions do not have to set anything. For
 * `durability: 'disk'`, `synchronous_commit` is at least `on`, so that an acknowledged write has been
 * flushed. A stronger setting of the server is not changed.
 * @param servers `several`: also read the timeline
 * @returns the timeline; 0 for one server
 * @throws if the server does not accept writes
 */
export async function prepareSession(
  session: DatabaseSession,
  { schema, durability }: SessionSettings,
  servers: 'one' | 'several',
): Promise<number> {
  const settings = [['search_path', schema], ...fixedSettings]
  const set = settings.map(([name, value]) => `set_config('${name}', '${value}', false)`)
  const synchronous =
    durability === 'process'
      ? `set_config('synchronous_commit', 'off', false)`
      : `case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end`
  const timeline = servers === 'one' ? '0' : readTimeline
  const asked = statement<{ standby: boolean; timeline: number }>(
    '',
    `select ${[...set, noTransactionTimeout, synchronous].join(', ')}, pg_is_in_recovery() as standby, ${timeline} as timeline`,
  )
  const [found] = await session.rows(asked, [])
  if (found?.standby !== false) throw new Error('it is a standby, which takes no writes')
  return found.timeline
}
