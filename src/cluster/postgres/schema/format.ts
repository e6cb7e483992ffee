import type { Log } from '../../../core/base/log.ts'
import { EngineOpenError } from '../../../core/store/engine.ts'
import { RowLease } from '../cluster/row-lease.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { type DatabaseSession, rollback, statement } from '../connection/database-session.ts'
import { baseTables, clusterTables, termTables } from './tables.ts'

/**
 * Version number of the layout of the tables. A server supports a schema with its own major number, even if
 * the minor number of the schema is higher.
 */
interface SchemaFormat {
  readonly major: number
  readonly minor: number
}

/**
 * A migration step from the previous format. If a step does not change the major number, it only adds to the
 * layout.
 */
interface SchemaStep {
  readonly to: SchemaFormat
  readonly sql: (partitions: number) => string
}

export const schemaSteps: readonly SchemaStep[] = [
  { to: { major: 1, minor: 0 }, sql: baseTables },
  { to: { major: 1, minor: 1 }, sql: () => clusterTables },
  { to: { major: 2, minor: 0 }, sql: () => termTables },
]

export const schemaFormat: SchemaFormat = { major: 2, minor: 0 }

const isBefore = (a: SchemaFormat, b: SchemaFormat): boolean =>
  a.major < b.major || (a.major === b.major && a.minor < b.minor)
export const formatText = ({ major, minor }: SchemaFormat): string => `${major}.${minor}`

/** Returns the formats of the steps that a start would run on a schema. */
export const missingSteps = (stored: SchemaFormat | null): readonly SchemaFormat[] =>
  schemaSteps.map(({ to }) => to).filter((to) => stored === null || isBefore(stored, to))

/**
 * Duration of the lease for a migration, in ms. After that time, another server may take over the migration.
 */
const migrationMs = 60_000

const readStored = statement<{ value: string }>('read-format', `select value from meta where name = 'format'`)

/**
 * Returns the statements that create the schema and the tables `meta` and `lease`. All other steps need these
 * tables. Several servers may run the statements simultaneously.
 */
const foundation = (schema: string): string => `
  select pg_advisory_xact_lock(hashtextextended('weft ${schema}', 0));
  do $$ begin
    if to_regnamespace('${schema}') is null then create schema ${schema}; end if;
    if to_regclass('${schema}.meta') is null then
      create table ${schema}.meta (name text primary key, value text not null);
    end if;
    if to_regclass('${schema}.lease') is null then
      create table ${schema}.lease (name text primary key, holder text not null, until timestamptz not null);
    end if;
  end $$`

/** Creates the schema or runs the missing migration steps. @throws EngineOpenError */
export async function ensureSchema(
  database: PostgresDatabase,
  { schema, partitions, log }: { schema: string; partitions: number; log: Log | undefined },
): Promise<void> {
  await database.once((session) => session.command(foundation(schema)))
  if (isSettled(schema, await storedFormat(database))) return
  const lease = new RowLease(database, 'migration', migrationMs)
  await lease.wait(() => false)
  try {
    for (const step of schemaSteps) {
      const stored = await storedFormat(database)
      if (stored !== null && !isBefore(stored, step.to)) continue
      log?.info({ schema, to: formatText(step.to) }, 'creating or migrating the tables')
      await database.once((session) => take(session, step, { lease, partitions }))
    }
  } finally {
    await lease.give()
  }
}

/**
 * Runs a step and stores its format number, in one transaction. Only the holder of the migration lease can
 * commit the transaction.
 */
async function take(
  session: DatabaseSession,
  { to, sql }: SchemaStep,
  { lease, partitions }: { lease: RowLease; partitions: number },
): Promise<void> {
  const step = session.command(`
    begin;
    set local statement_timeout = 0;
    do $$ begin
      perform 1 from lease where name = 'migration' and holder = '${lease.holder}' for update;
      if not found then raise 'another server is creating the tables'; end if;
    end $$;
    ${sql(partitions)}
    insert into meta values ('format', '${formatText(to)}') on conflict (name) do update set value = excluded.value;
    commit`)
  await step.catch(async (error: unknown) => {
    // The connection stays in use, so it must not stay in the failed transaction.
    await session.rows(rollback).catch(() => undefined)
    throw error
  })
}

/** Returns the format of the schema; null if its tables have not been created. The table `meta` must exist. */
export async function storedFormat(database: PostgresDatabase): Promise<SchemaFormat | null> {
  const [row] = await database.read((session) => session.rows(readStored, []))
  if (row === undefined) return null
  const [major = Number.NaN, minor = 0] = row.value.split('.').map(Number)
  return { major, minor }
}

/**
 * Returns whether the stored format is current. Returns false if steps are missing.
 * @throws EngineOpenError if this server does not support the stored format
 */
function isSettled(schema: string, stored: SchemaFormat | null): boolean {
  if (stored === null) return false
  if (stored.major <= schemaFormat.major) return !isBefore(stored, schemaFormat)
  const formats = `format ${formatText(stored)}, this one knows ${formatText(schemaFormat)}`
  throw new EngineOpenError(
    'newerFormat',
    `the schema ${schema} was made by a newer version (${formats}): use that version`,
  )
}
