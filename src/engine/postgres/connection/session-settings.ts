import { type DatabaseSession, statement } from './database-session.ts'

/** Settings of each connection. */
export interface SessionSettings {
  readonly schema: string
  readonly durability: 'disk' | 'process'
}

/** The current timeline. Each promotion of a standby increases it by one. */
const readTimeline = `case when not pg_is_in_recovery()
  then ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int end`

/**
 * Settings of a session that do not depend on options, in place of the defaults of the role and the database.
 */
const fixedSettings: readonly (readonly [name: string, value: string])[] = [
  // A transaction must read, under its locks, the data that others have committed before. A snapshot from
  // before the locks is too old.
  ['default_transaction_isolation', 'read committed'],
  ['default_transaction_read_only', 'off'],
  ['default_transaction_deferrable', 'off'],
  // The limits of `connections.ts` bound each wait. They are sent when a connection starts, which precedes
  // all defaults.
  ['lock_timeout', '0'],
  ['idle_session_timeout', '0'],
  // Everything is found by its key: plans are made once, and never for tables that look empty.
  ['plan_cache_mode', 'force_generic_plan'],
  ['enable_seqscan', 'off'],
  ['enable_hashjoin', 'off'],
  ['enable_mergejoin', 'off'],
  ['jit', 'off'],
  // The formats in which values are written and read.
  ['standard_conforming_strings', 'on'],
  ['bytea_output', 'hex'],
  ['extra_float_digits', '1'],
  // A warning reports that a commit did not wait for a standby.
  ['client_min_messages', 'warning'],
]

/** PostgreSQL before 17 does not have it. A setting that does not exist reads as null. */
const noTransactionTimeout = `case when current_setting('transaction_timeout', true) is not null
  then set_config('transaction_timeout', '0', false) end`

/**
 * Sets all settings of a session in one round trip, so that transactions need no settings of their own. An
 * acknowledged write has been flushed: `synchronous_commit` is at least `on`, and a stronger setting of the
 * server stays.
 * @param servers with several servers, the timeline is read
 * @returns the timeline; 0 if it is not read
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
