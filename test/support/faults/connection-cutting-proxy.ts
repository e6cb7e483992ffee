import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Between an engine and its database: cuts the connection on which the next transaction is committed. */
export interface CuttingProxy {
  readonly port: number
  /** The next commit never gets there (`lost`), or is done and nobody is told (`untold`). Resolves when it is cut. */
  cutNextCommit(commit: 'lost' | 'untold'): Promise<void>
  /** From the next commit on nothing more of its connection gets there, though it stays open. Resolves when it has come. */
  holdNextCommit(): Promise<void>
  close(): void
}

interface Cut {
  readonly commit: 'lost' | 'untold' | 'held'
  readonly done: () => void
}

/** A commit as node-postgres sends it. */
const commitMessage = Buffer.from('commit\0')

export async function startCuttingProxy(databasePort: number): Promise<CuttingProxy> {
  let next: Cut | null = null
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(databasePort, '127.0.0.1')
    const end = () => {
      client.destroy()
      database.destroy()
    }
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', end).on('close', end)
    }
    const cutNow = ({ done }: Cut) => {
      end()
      done()
    }
    let cut: Cut | null = null
    client.on('data', (bytes) => {
      if (next !== null && bytes.includes(commitMessage)) {
        cut = next
        next = null
      }
      if (cut?.commit === 'lost') cutNow(cut)
      else if (cut?.commit === 'held') cut.done()
      else database.write(bytes)
    })
    database.on('data', (bytes) => {
      if (cut === null || cut.commit === 'held') client.write(bytes)
      // Every command of what has been sent together has an answer of its own; that of the commit is the last.
      else if (bytes.includes('COMMIT')) cutNow(cut)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cutNextCommit: (commit) =>
      new Promise((resolve) => {
        next = { commit, done: resolve }
      }),
    holdNextCommit: () =>
      new Promise((resolve) => {
        next = { commit: 'held', done: resolve }
      }),
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
