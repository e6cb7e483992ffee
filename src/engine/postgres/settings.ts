import { type Session, statement } from './session.ts'

/** What is set on each connection. */
export interface SessionSettings {
  readonly schema: string
  readonly durability: 'disk' | 'process'
}

/** Which one is written to: one more after each promotion of a standby. */
const readTimeline = `case when not pg_is_in_recovery()
  then ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int end`

/**
 * Everything here is found by its key: plans are made once, and never for tables that look empty. What is
 * acknowledged has been flushed, whatever the server's own setting is; a stronger one stays.
 * @param servers of several the timeline is read
 * @returns the timeline; 0 where it is not read
 * @throws of a server that takes no writes
 */
export async function prepareSession(
  session: Session,
  { schema, durability }: SessionSettings,
  servers: 'one' | 'several',
): Promise<number> {
  const settings = [
    ['search_path', schema],
    ['plan_cache_mode', 'force_generic_plan'],
    ['enable_seqscan', 'off'],
    ['enable_hashjoin', 'off'],
    ['enable_mergejoin', 'off'],
    ['jit', 'off'],
    ['bytea_output', 'hex'],
    // That a standby was not waited for comes as a warning.
    ['client_min_messages', 'warning'],
  ]
  const set = settings.map(([name, value]) => `set_config('${name}', '${value}', false)`)
  const synchronous =
    durability === 'process'
      ? `set_config('synchronous_commit', 'off', false)`
      : `case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end`
  const timeline = servers === 'one' ? '0' : readTimeline
  const asked = statement<{ standby: boolean; timeline: number }>(
    '',
    `select ${[...set, synchronous].join(', ')}, pg_is_in_recovery() as standby, ${timeline} as timeline`,
  )
  const [found] = await session.rows(asked, [])
  if (found?.standby !== false) throw new Error('it is a standby, which takes no writes')
  return found.timeline
}
