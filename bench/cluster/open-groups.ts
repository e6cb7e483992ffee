import type { LoadSocket } from '../../src/cli/loadtest/load-socket.ts'
import { KeystrokeTracker, Typist, trackUpdates } from '../../src/cli/loadtest/typist.ts'
import { subjectToken } from '../../src/cluster/nats/subjects.ts'
import { bucketOf } from '../../src/core/store/buckets.ts'
import type { Running } from '../load/contenders.ts'
import { answer, enter, enterAll } from '../load/entering.ts'
import { Mover } from '../load/mover.ts'
import { sum } from '../support/report.ts'
import { keyOf } from '../support/stored.ts'
import { documentOf } from '../sync/connect.ts'
import type { Usage } from './usage.ts'

/** Documents that a group of nodes has open. A user of the first node edits each, and one of each other node reads. */
export interface OpenGroup {
  /** Numbers of the nodes of the group. */
  readonly nodes: readonly number[]
  readonly documents: readonly string[]
  readonly typists: readonly Typist[]
  readonly readers: readonly LoadSocket[]
  readonly watches: readonly KeystrokeTracker[]
  /** Lets the clients show cursors. Afterwards, they do not count keystrokes. */
  movers(): { readonly moving: readonly Mover[]; readonly watching: readonly Mover[] }
}

/** Returns the bucket of the messages about a document. */
const bucketOfDocument = (document: string): number => bucketOf(keyOf('bench', document))

/** Returns names of documents of which no two are in the same bucket. */
export function namesInBuckets(count: number): string[] {
  const names = new Map<number, string>()
  for (let index = 0; names.size < count; index++) {
    const name = `edited-${index}`
    const bucket = bucketOfDocument(name)
    if (!names.has(bucket)) names.set(bucket, name)
  }
  return [...names.values()]
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

/** Opens documents on the nodes `servers`, of which the first has the number `from`. */
export async function openGroup(
  servers: readonly Running[],
  from: number,
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
    nodes: servers.map((_, index) => from + index),
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

/** Returns the end of the subject of messages about edits of a document. */
const tokenOf = (document: string): string => subjectToken(`document/${bucketOfDocument(document)}`)

/**
 * Counts messages about edits of the documents of the groups.
 * @returns `all`: number of messages. `unneeded`: share of them that a node of another group received. It has
 * none of these documents, and its own documents with edits are in other buckets. NaN if there is one group
 */
export function messagesAbout(
  groups: readonly OpenGroup[],
  { received }: Usage,
): { readonly all: number; readonly unneeded: number } {
  let [all, sent, unneeded] = [0, 0, 0]
  for (const { nodes, documents } of groups) {
    const tokens = new Set(documents.map(tokenOf))
    const countAt = (node: number): number =>
      sum([...(received[node] ?? [])].map(([name, count]) => (tokens.has(lastToken(name)) ? count : 0)))
    // A node with readers receives all messages about the documents.
    const count = countAt(nodes[1] ?? 0)
    all += count
    for (const node of received.keys())
      if (!nodes.includes(node)) {
        sent += count
        unneeded += countAt(node)
      }
  }
  return { all, unneeded: unneeded / sent }
}

const lastToken = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1)
