import { allSettled, type DatabaseSession } from './database-session.ts'
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
    await session.command('rollback').catch(() => undefined)
    throw error
  }
  await commit(session, writes)
  return result
}

async function asking<Asked>(
  session: DatabaseSession,
  ask: (session: DatabaseSession) => Promise<Asked>,
): Promise<Asked> {
  try {
    const [, asked] = await allSettled([session.command('begin'), ask(session)])
    return asked
  } catch (error) {
    if (!endsConnection(error)) await session.command('rollback').catch(() => undefined)
    throw new TransactionRolledBackError(error)
  }
}

/**
 * Sends the writes and the commit. If a write has failed, PostgreSQL executes the commit as a rollback; the
 * command tag of the commit shows this.
 */
async function commit(session: DatabaseSession, writes: readonly SendStatements[]): Promise<void> {
  const { sent, problem } = sendAll(session, writes)
  if (problem !== null) {
    // A part of the transaction may still be open on the connection. Without this rollback, the next user of
    // the connection would commit that part.
    await Promise.allSettled([...sent, session.command('rollback')])
    throw problem.error
  }
  const [done, ...written] = await Promise.allSettled([session.command('commit'), ...sent])
  const failed = written.find((each) => each.status === 'rejected')
  if (done?.status === 'fulfilled') {
    if (done.value === 'COMMIT') return
    throw new TransactionRolledBackError(failed?.reason ?? new Error('the transaction was rolled back'))
  }
  if (failed !== undefined && !endsConnection(failed.reason))
    throw new TransactionRolledBackError(failed.reason)
  throw new OutcomeUnknownError(failed?.reason ?? done?.reason)
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
