import { schemaName } from '../../config/parse.ts'
import { postgresUrls } from '../../config/postgres-urls.ts'
import { messageOf } from '../../errors.ts'
import { EngineOpenError, StoreUnavailable } from '../engine.ts'
import type { Database } from './database.ts'
import { stateOf } from './failures.ts'
import { statement } from './session.ts'

/** The oldest PostgreSQL that is used, as `server_version_num` says it. */
const oldestVersion = 150_000

const readVersion = statement<{ version: string; fsync: string; standbys: string; waits: string }>(
  'read-version',
  `select current_setting('server_version_num') as version, current_setting('fsync') as fsync,
     current_setting('synchronous_standby_names') as standbys, current_setting('synchronous_commit') as waits`,
)

/** Why what is acknowledged may be lost though all works, and what to do about it. */
export interface Weakness {
  readonly found: string
  readonly help: string
}

const noFsync: Weakness = {
  found: 'fsync is off in the database: what is acknowledged does not survive a loss of power',
  help: 'set fsync to on',
}
const noStandby: Weakness = {
  found:
    'the URL names several servers, and no standby is waited for: what is acknowledged may be lost when another one takes over',
  help: "set synchronous_standby_names, such as 'ANY 1 (…)', and synchronous_commit to on",
}

/** @throws EngineOpenError */
export function checkSchemaName(schema: string): void {
  if (schemaName.parse(schema) !== undefined) return
  throw new EngineOpenError(
    'failed',
    `${JSON.stringify(schema)} cannot be the name of a schema: expected ${schemaName.expected}`,
  )
}

/** What must hold of the server before anything is made there. @throws EngineOpenError */
export async function checkServer(database: Database, url: string): Promise<readonly Weakness[]> {
  const [found] = await database.read((session) => session.rows(readVersion, []))
  const version = Number(found?.version)
  if (version < oldestVersion) {
    throw new EngineOpenError(
      'failed',
      `PostgreSQL ${Math.floor(version / 10_000)} is too old: version 15 or newer is needed`,
    )
  }
  const waitsForNobody = found?.standbys === '' || found?.waits === 'local'
  return [
    ...(found?.fsync === 'off' ? [noFsync] : []),
    ...(waitsForNobody && postgresUrls(url).length > 1 ? [noStandby] : []),
  ]
}

/** The sentence for what went wrong, which never holds the password. */
export function openError(error: unknown): EngineOpenError {
  if (error instanceof EngineOpenError) return error
  const fail = (reason: EngineOpenError['reason'], sentence: string) =>
    new EngineOpenError(reason, sentence, { cause: error })
  const message = messageOf(error)
  const state = stateOf(error)
  if (state === '42501') return fail('readOnly', `the database refuses what is needed (${message}): grant it`)
  if (error instanceof StoreUnavailable) return fail('failed', message)
  return fail('failed', `the database cannot be opened: ${message}`)
}
