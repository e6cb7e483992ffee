import { encodeKeystroke } from '../../src/cli/bench/client-protocol.ts'
import { cpuOfTree } from '../../src/cli/bench/cpu.ts'
import { openPostgresEngine } from '../../src/cluster/postgres/engine.ts'
import type { AppendTo, Engine } from '../../src/core/store/engine.ts'
import { openLevelEngine } from '../../src/core/store/level/engine.ts'
import { quantile } from '../support/report.ts'
import { temporaryDirectory } from '../support/server.ts'
import { keyOf } from '../support/stored.ts'
import { type Stores, walBytes } from './stores.ts'

export interface Appending {
  readonly documents: number
  readonly inFlight: number
  readonly seconds: number
}

/** Results of appending keystrokes. An append counts when it is durable. */
export interface Appended {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** CPU time of the database per append in microseconds; 0 for the embedded engine. */
  readonly databaseCpu: number
  /** Number of bytes per append that the database writes to its write-ahead log. */
  readonly walBytes: number
}

/** Resources that the database has used so far; all members are 0 for the embedded engine. */
interface Used {
  readonly cpu: number
  readonly wal: number
}

/**
 * Appends directly to the engines, without a server. The embedded engine is measured first, and then the
 * database.
 */
export async function appendTo(
  stores: Stores,
  how: Appending,
): Promise<{ level: Appended; postgres: Appended }> {
  const level = await openLevelEngine({ directory: temporaryDirectory() })
  const schema = stores.newSchema()
  const nothing = async (): Promise<Used> => ({ cpu: 0, wal: 0 })
  const used = async (): Promise<Used> => ({
    cpu: cpuOfTree(stores.postgres.pid),
    wal: await walBytes(stores),
  })
  return {
    level: await appendAll(level, how, nothing),
    postgres: await appendAll(await openPostgresEngine({ url: stores.postgres.url, schema }), how, used),
  }
}

async function appendAll(engine: Engine, how: Appending, used: () => Promise<Used>): Promise<Appended> {
  const { documents, inFlight, seconds } = how
  const epochs = await Promise.all(
    Array.from({ length: documents }, async (_, index) => (await append(engine, index, 'create', 0)).epoch),
  )
  const heads = epochs.map(() => 1)
  const [before, start, times] = [await used(), performance.now(), [] as number[]]
  let next = 0
  const one = async (): Promise<void> => {
    while (performance.now() - start < seconds * 1000) {
      const index = next++ % documents
      const from = performance.now()
      const expectHead = heads[index] as number
      heads[index] = expectHead + 1
      await append(engine, index, epochs[index] as number, next, expectHead)
      times.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, one))
  const [took, after] = [(performance.now() - start) / 1000, await used()]
  // The engine is closed after the last measurement, because the CPU time of a database process is lost when
  // its connection ends.
  await engine.close()
  return {
    perSecond: times.length / took,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    databaseCpu: (after.cpu - before.cpu) / times.length,
    walBytes: (after.wal - before.wal) / times.length,
  }
}

const append = ({ log }: Engine, index: number, to: AppendTo, clock: number, expectHead?: number) =>
  log.append(keyOf('bench', `d${index}`), to, [{ bytes: encodeKeystroke(index + 1, clock), by: 'bench' }], {
    expectHead,
  })
