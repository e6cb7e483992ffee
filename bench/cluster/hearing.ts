import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeKeystroke } from '../../src/cli/loadtest/client-protocol.ts'
import { atRate } from '../../src/cli/loadtest/typist.ts'
import { cpuOfTree } from '../support/cpu.ts'
import { endWithThis } from '../support/ending.ts'
import { keyOf } from '../support/stored.ts'
import { openCopies } from './bare-copies.ts'
import type { Stores } from './stores.ts'

export interface Telling {
  readonly documents: number
  /** Number of messages per second. Each message contains one update. */
  readonly perSecond: number
  /** Duration of the measurement in seconds. The warm-up before it has the same duration. */
  readonly seconds: number
  /** Number of nodes that receive each message. */
  readonly listeners: number
}

/** Costs of one message. */
export interface Heard {
  /** Number of messages per second that one listener received. */
  readonly perSecond: number
  /**
   * CPU time in microseconds of a node that ignores the message. `nats` is the CPU time in which NATS
   * receives and forwards it, divided by the number of nodes that receive it.
   */
  readonly node: number
  readonly nats: number
  /** Mean size of a message in bytes. */
  readonly bytes: number
}

export const toldDocument = (index: number) => keyOf('bench', `told-${index}`)

/**
 * Measures the cost of messages that a node receives but does not need. The node does not have the documents
 * of these messages, but other documents in the same buckets.
 */
export async function hearInVain(stores: Stores, telling: Telling): Promise<Heard> {
  const schema = stores.newSchema()
  const copies = await openCopies(stores.postgres.url, schema, stores.nats.url, 'teller')
  const listeners = await Promise.all(
    Array.from({ length: telling.listeners }, () => startListener(stores, schema, telling.documents)),
  )
  const update = encodeKeystroke(1, 1_000)
  let said = 0
  const stop = atRate(telling.perSecond, (due) => {
    for (let index = 0; index < due; index++) {
      said += 1
      copies.tell(toldDocument(said % telling.documents), update)
    }
  })
  const of = async () => ({
    node: listeners.reduce((sum, { pid }) => sum + cpuOfTree(pid as number), 0),
    nats: cpuOfTree(stores.nats.pid),
    told: await stores.natsTold(),
  })
  await sleep(telling.seconds * 1000)
  const before = await of()
  await sleep(telling.seconds * 1000)
  const after = await of()
  stop()
  for (const listener of listeners) listener.kill('SIGKILL')
  await copies.end()
  const count = after.told.outMessages - before.told.outMessages
  return {
    perSecond: count / telling.seconds / telling.listeners,
    node: (after.node - before.node) / count,
    nats: (after.nats - before.nats) / count,
    bytes: (after.told.inBytes - before.told.inBytes) / (after.told.inMessages - before.told.inMessages),
  }
}

async function startListener(stores: Stores, schema: string, documents: number) {
  const args = [stores.postgres.url, schema, stores.nats.url, String(documents)]
  const child = fork(join(import.meta.dirname, 'listener.ts'), args, { execArgv: ['--import', 'tsx'] })
  endWithThis(child)
  await once(child, 'message')
  return child
}
