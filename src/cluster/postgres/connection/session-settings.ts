import { type DatabaseSession, statement } from './database-session.ts'

/** Settings that are made on each new connection. */
export interface SessionSettings {
  readonly schema: string
  readonly durability: 'disk' | 'process'
}

/** SQL expression for the current timeline. Each promotion of a standby increases the timeline by one. */
const readTimeline = `case when not pg_is_in_recovery()
  then ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int end`

/**
 * Settings of a session that are the same for all options. They override the defaults of the role and the
 * database.
 */
const fixedSettings: readonly (readonly [name: string, value: string])[] = [
  // A transaction first acquires its locks, then reads. It must see the data that others committed before it
  // got the locks. In a stricter isolation level, its snapshot would be older than the locks.
  ['default_transaction_isolation', 'read committed'],
  ['default_transaction_read_only', 'off'],
  ['default_transaction_deferrable', 'off'],
  // No further limits are needed here, because `connection-pool.ts` limits each wait. Its limits are sent
  // when a connection starts, so they override all defaults.
  ['lock_timeout', '0'],
  ['idle_session_timeout', '0'],
  // Every query finds its rows by key. Therefore each query is planned once. Without these settings,
  // PostgreSQL might choose a table scan because a table was empty when the plan was made.
  ['plan_cache_mode', 'force_generic_plan'],
  ['enable_seqscan', 'off'],
  ['enable_hashjoin', 'off'],
  ['enable_mergejoin', 'off'],
  ['jit', 'off'],
  // Formats of the values in statements and results.
  ['standard_conforming_strings', 'on'],
  ['bytea_output', 'hex'],
  ['extra_float_digits', '1'],
  // At this level, PostgreSQL sends the warning that a commit did not wait for a standby.
  ['client_min_messages', 'warning'],
]

/**
 * SQL expression that disables `transaction_timeout`. This setting does not exist before PostgreSQL 17;
 * `current_setting` then returns null.
 */
const noTransactionTimeout = `case when current_setting('transaction_timeout', true) is not null
  then set_config('transaction_timeout', '0', false) end`

/**
 * Applies all settings of a session in one round trip, so that transactions do not have to set anything. For
 * `durability: 'disk'`, `synchronous_commit` is at least `on`: an acknowledged write has been flushed to
 * disk. A stronger setting of the server is not changed.
 * @param servers `several`: also read the timeline
 * @returns the timeline; 0 if `servers` is `one`
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
