import { DatabaseError } from 'pg'
import { allSettled, begin, commit, type DatabaseSession, rollback } from './database-session.ts'
import { endsConnection, OutcomeUnknownError, TransactionRolledBackError } from './postgres-errors.ts'

export interface SqlTransaction<Asked, Result> {
  /** Acquires locks and reads data. Its statements are sent together with `begin`. */
  readonly ask: (session: DatabaseSession) => Promise<Asked>
  /**
   * Decides what to write, and adds the writes, which are sent together with `commit`. If the transaction is
   * repeated after a collision, `act` is called again.
   */
  readonly act: (asked: Asked, write: Write) => Result
}

type SendStatements = (session: DatabaseSession) => Promise<unknown>

/** Adds a write to the current transaction. */
export type Write = (send: SendStatements) => void

/**
 * Runs a transaction in two round trips: `begin` and the reads, then the writes and `commit`.
 * @throws TransactionRolledBackError, OutcomeUnknownError, and the errors of `act`
 */
export async function runSqlTransaction<Asked, Result>(
  session: DatabaseSession,
  { ask, act }: SqlTransaction<Asked, Result>,
): Promise<Result> {
  const asked = await asking(session, ask)
  const writes: SendStatements[] = []
  let result: Result
  try {
    result = act(asked, (send) => writes.push(send))
  } catch (error) {
    await session.rows(rollback).catch(() => undefined)
    throw error
  }
  await writeAndCommit(session, writes)
  return result
}

/**
 * Runs a transaction in one round trip. `send` must send all its statements without an `await` between them,
 * and none of them may be `begin`.
 * @throws TransactionRolledBackError, OutcomeUnknownError
 */
export async function runSqlBatch<Result>(
  session: DatabaseSession,
  send: (session: DatabaseSession) => Promise<Result>,
): Promise<Result> {
  try {
    return await send(session)
  } catch (error) {
    // The error belongs to a statement, so it precedes the commit.
    if (error instanceof DatabaseError) throw new TransactionRolledBackError(error)
    throw new OutcomeUnknownError(error)
  }
}

async function asking<Asked>(
  session: DatabaseSession,
  ask: (session: DatabaseSession) => Promise<Asked>,
): Promise<Asked> {
  try {
    const [, asked] = await allSettled([session.rows(begin), ask(session)])
    return asked
  } catch (error) {
    if (!endsConnection(error)) await session.rows(rollback).catch(() => undefined)
    throw new TransactionRolledBackError(error)
  }
}

/** Sends the writes and the commit. If a write fails, PostgreSQL skips the statements after it. */
async function writeAndCommit(session: DatabaseSession, writes: readonly SendStatements[]): Promise<void> {
  const { sent, problem } = sendAll(session, writes)
  if (problem !== null) {
    // A part of the transaction may still be open on the connection. Without this rollback, the next user of
    // the connection would commit that part.
    await Promise.allSettled(sent)
    await session.rows(rollback).catch(() => undefined)
    throw problem.error
  }
  const [done, ...written] = await Promise.allSettled([session.rows(commit), ...sent])
  const failed = written.find((each) => each.status === 'rejected')
  if (failed !== undefined && !endsConnection(failed.reason)) {
    await session.rows(rollback).catch(() => undefined)
    throw new TransactionRolledBackError(failed.reason)
  }
  if (done?.status === 'rejected') throw new OutcomeUnknownError(failed?.reason ?? done.reason)
}

/**
 * Sends all writes. A write may throw while its values are encoded, before it is sent. In that case, neither
 * this write nor the writes after it are sent.
 */
function sendAll(session: DatabaseSession, writes: readonly SendStatements[]) {
  const sent: Promise<unknown>[] = []
  try {
    for (const send of writes) sent.push(send(session))
    return { sent, problem: null }
  } catch (error) {
    return { sent, problem: { error } }
  }
}
