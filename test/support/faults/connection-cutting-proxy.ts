import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Direction of the bytes that a proxy keeps back. */
export type Direction = 'both' | 'to database' | 'from database'

/** A proxy between an engine and its database. It can cut the connection of the next commit. */
export interface CuttingProxy {
  readonly port: number
  /** Number of connections since the start. */
  readonly connections: number
  /**
   * Cuts the connection of the next commit. `lost`: the commit does not arrive at the database. `untold`: the
   * database executes it, but the engine gets no answer. `running`: only the engine loses its connection, so
   * the database continues. Resolves when the connection is cut.
   */
  cutNextCommit(commit: 'lost' | 'untold' | 'running'): Promise<void>
  /**
   * Holds back the next commit and all later bytes of its connection, which stays open. Resolves when the
   * commit has arrived at the proxy.
   */
  holdNextCommit(): Promise<void>
  /** Keeps the bytes of a direction back until `resume`, also those of new connections. The connections stay open. */
  pause(direction?: Direction): void
  resume(): void
  close(): void
}

interface Cut {
  readonly commit: 'lost' | 'untold' | 'running' | 'held'
  readonly done: () => void
}

/** Names of the statements that commit. The second one is a transaction of its own. */
const commits = ['commit', 'append-known']
const isCommit = (bytes: Buffer): boolean => commits.some((name) => bytes.includes(`${name}\0`))
/** The last messages of the two answers: a command tag, and that no transaction is open. */
const isCommitted = (bytes: Buffer): boolean =>
  bytes.includes('COMMIT') || (bytes.includes('SELECT 1') && bytes.at(-1) === 'I'.charCodeAt(0))

export async function startCuttingProxy(databasePort: number): Promise<CuttingProxy> {
  let next: Cut | null = null
  let connections = 0
  let paused: Direction | null = null
  const ends = new Set<Record<'client' | 'database', Socket>>()
  const pauseEnds = ({ client, database }: Record<'client' | 'database', Socket>): void => {
    if (paused === 'both' || paused === 'to database') client.pause()
    if (paused === 'both' || paused === 'from database') database.pause()
  }
  const server = createServer((client) => {
    connections += 1
    const database = connect(databasePort, '127.0.0.1')
    const end = () => {
      client.destroy()
      database.destroy()
    }
    const both = { client, database }
    ends.add(both)
    for (const socket of [client, database]) socket.on('error', end).on('close', end)
    client.on('close', () => ends.delete(both))
    const cutNow = ({ done }: Cut) => {
      end()
      done()
    }
    let cut: Cut | null = null
    client.on('data', (bytes) => {
      if (next !== null && isCommit(bytes)) {
        cut = next
        next = null
      }
      if (cut?.commit === 'lost') cutNow(cut)
      else if (cut?.commit === 'held') cut.done()
      else database.write(bytes)
      if (cut?.commit !== 'running') return
      client.off('close', end).destroy()
      cut.done()
    })
    database.on('data', (bytes) => {
      if (cut === null || cut.commit === 'held') client.write(bytes)
      // Waits for the answer to the commit. In a batch, each command has an answer, and the answer to the
      // commit is the last.
      else if (isCommitted(bytes)) cutNow(cut)
    })
    pauseEnds(both)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    cutNextCommit: (commit) =>
      new Promise((resolve) => {
        next = { commit, done: resolve }
      }),
    holdNextCommit: () =>
      new Promise((resolve) => {
        next = { commit: 'held', done: resolve }
      }),
    pause: (direction = 'both') => {
      paused = direction
      for (const each of ends) pauseEnds(each)
    },
    resume: () => {
      paused = null
      for (const { client, database } of ends) {
        client.resume()
        database.resume()
      }
    },
    close: () => {
      server.close()
      for (const { client, database } of ends) {
        client.destroy()
        database.destroy()
      }
    },
  }
}
