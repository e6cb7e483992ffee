import { endsConnection, OutcomeUnknown, Undone } from './failures.ts'
import { all, type Session } from './session.ts'

export interface Transaction<Asked, Result> {
  /** Locks and reads: sent with the beginning. */
  readonly ask: (session: Session) => Promise<Asked>
  /** Decides, and says what is to be written: sent with the commit. It may come again after a collision. */
  readonly act: (asked: Asked, write: Write) => Result
}

/** Adds a write to a transaction. */
export type Write = (send: (session: Session) => Promise<unknown>) => void

/**
 * A transaction in two round trips. @throws Undone, OutcomeUnknown, and what `act` throws
 */
export async function transact<Asked, Result>(
  session: Session,
  { ask, act }: Transaction<Asked, Result>,
): Promise<Result> {
  const asked = await asking(session, ask)
  const writes: ((session: Session) => Promise<unknown>)[] = []
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

async function asking<Asked>(session: Session, ask: (session: Session) => Promise<Asked>): Promise<Asked> {
  try {
    const [, asked] = await all([session.command('begin'), ask(session)])
    return asked
  } catch (error) {
    if (!endsConnection(error)) await session.command('rollback').catch(() => undefined)
    throw new Undone(error)
  }
}

/** After an error PostgreSQL makes of the commit that follows a rollback, and says so. */
async function commit(
  session: Session,
  writes: readonly ((session: Session) => Promise<unknown>)[],
): Promise<void> {
  const sent = writes.map((send) => send(session))
  const [done, ...written] = await Promise.allSettled([session.command('commit'), ...sent])
  const failed = written.find((each) => each.status === 'rejected')
  if (done?.status === 'fulfilled') {
    if (done.value === 'COMMIT') return
    throw new Undone(failed?.reason ?? new Error('the transaction was rolled back'))
  }
  if (failed !== undefined && !endsConnection(failed.reason)) throw new Undone(failed.reason)
  throw new OutcomeUnknown(failed?.reason ?? done?.reason)
}
