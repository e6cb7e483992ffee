import * as Y from 'yjs'
import { RawClient } from '../../support/clients/clients.ts'
import type { TestCluster } from './cluster.ts'
import type { ClusterNode } from './node.ts'

/** Reads the document as a new client at a node. */
export async function stateAt(node: ClusterNode, documentId: string, token: string): Promise<Y.Doc> {
  const url = `${node.wsUrl}/sync/acme/${documentId}/main?token=${token}`
  const client = await RawClient.connect(url, {}, { handshakeTimeout: 5_000 })
  try {
    await client.roundTrip()
    return docOf(client.offers())
  } finally {
    client.end()
  }
}

/** Reads the document from the log, independent of the nodes. */
export async function stateInLog({ postgres }: TestCluster, documentId: string): Promise<Y.Doc> {
  const name = `\\x${Buffer.from(documentId).toString('hex')}`
  const updates = await postgres.sql(`
    with doc as (
      select id, epoch from weft.document where position('${name}'::bytea in key) > 0 and state = 'live'
    ), base as (
      select snapshot.seq, snapshot.bytes from weft.snapshot, doc
      where snapshot.doc = doc.id and snapshot.epoch = doc.epoch order by seq desc limit 1
    )
    select bytes, seq from base
    union all
    select entry.bytes, entry.seq from weft.entry, doc
    where entry.doc = doc.id and entry.epoch = doc.epoch and seq > coalesce((select seq from base), 0)
    order by seq`)
  return docOf(updates.map(({ bytes }) => bytes as Uint8Array))
}

/** Equal for equal content, regardless of deletions. */
export const digestOf = (doc: Y.Doc): string =>
  Buffer.from(Y.encodeSnapshot(Y.snapshot(doc))).toString('base64')

export const vectorOf = (doc: Y.Doc): ReadonlyMap<number, number> =>
  Y.decodeStateVector(Y.encodeStateVector(doc))

function docOf(updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc
}
