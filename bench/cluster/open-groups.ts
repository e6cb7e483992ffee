import type { Running } from '../../src/cli/bench/contender.ts'
import { answer, documentOf, enter, enterAll } from '../../src/cli/bench/entering.ts'
import type { LoadSocket } from '../../src/cli/bench/load-socket.ts'
import { Mover } from '../../src/cli/bench/mover.ts'
import { KeystrokeTracker, Typist, trackUpdates } from '../../src/cli/bench/typist.ts'

/** Documents that a group of nodes has open. A user of the first node edits each, and one of each other node reads. */
export interface OpenGroup {
  readonly documents: readonly string[]
  readonly typists: readonly Typist[]
  readonly readers: readonly LoadSocket[]
  readonly watches: readonly KeystrokeTracker[]
  /** Lets the clients show cursors. Afterwards, they do not count keystrokes. */
  movers(): { readonly moving: readonly Mover[]; readonly watching: readonly Mover[] }
}

async function openAt(server: Running, documents: readonly string[]): Promise<LoadSocket[]> {
  return enterAll(documents.length, async (index) => {
    const document = documents[index] ?? ''
    const socket = await enter(server, document)
    await answer(server, socket, document)
    socket.onMessage = () => {}
    return socket
  })
}

/** Opens `count` documents on each node. Each document is open on `users` consecutive nodes. */
export async function openIdle(nodes: readonly Running[], count: number, users: number): Promise<void> {
  const each = count / users
  for (const [node, server] of nodes.entries())
    for (let user = 0; user < users; user++) {
      const from = ((node + user) % nodes.length) * each
      await openAt(
        server,
        Array.from({ length: each }, (_, index) => documentOf(from + index)),
      )
    }
}

/** Opens documents on the nodes `servers`. */
export async function openGroup(
  servers: readonly Running[],
  documents: readonly string[],
): Promise<OpenGroup> {
  const [writing, ...reading] = servers as [Running, ...Running[]]
  const writers = await openAt(writing, documents)
  const typists = writers.map((socket, index) => new Typist(socket, writing, documents[index] ?? ''))
  const readers: LoadSocket[] = []
  const watches: KeystrokeTracker[] = []
  for (const server of reading)
    for (const [index, socket] of (await openAt(server, documents)).entries()) {
      const watch = new KeystrokeTracker([typists[index] as Typist])
      trackUpdates(socket, server, watch)
      readers.push(socket)
      watches.push(watch)
    }
  const moverOf = (socket: LoadSocket, index: number): Mover =>
    new Mover(1 + index, socket, writing.dialect, documents[index % documents.length] ?? '')
  return {
    documents,
    typists,
    readers,
    watches,
    movers: () => ({
      moving: writers.map((socket, index) => moverOf(socket, index)),
      watching: readers.map((socket, index) => moverOf(socket, documents.length + index)),
    }),
  }
}
