import * as Y from 'yjs'
import { message } from '../clients/clients.ts'
import { tokenFrame, varString } from '../clients/hocuspocus-frames.ts'
import { block, contents, id, item, list, updateOf } from '../data/update-builder.ts'
import { hostileVectors } from '../faults/hostile-messages.ts'
import { hostileUpdates, type UpdateShapeName } from '../faults/hostile-shapes.ts'
import {
  type Attack,
  counter,
  openSocket,
  served,
  sleep,
  store,
  syncUrl,
  type Target,
  together,
} from './attack.ts'

/** Sends updates to a document as fast as the connection accepts them, and then closes the connection. */
async function send(target: Target, documentId: string, updates: readonly Uint8Array[]): Promise<void> {
  const socket = await openSocket(syncUrl(target, documentId))
  if (socket === null) return
  for (const update of updates) socket.send(message([0, 2], update))
  await served(socket)
  socket.terminate()
}

const documentsOf = (name: string): string[] => [0, 1, 2].map((index) => `${name}-${index}`)

/**
 * Returns an attack that sends updates of several shapes, one shape per step, each with its size. The steps
 * use three documents in rotation.
 */
const shaped = (
  finding: number,
  name: string,
  shapes: readonly (readonly [UpdateShapeName, number])[],
): Attack => ({
  finding,
  documents: documentsOf(name),
  prepare: async (target) => {
    const made = shapes.map(([shape, n]) => hostileUpdates[shape](n))
    const documents = documentsOf(name)
    const next = counter()
    return async () => {
      const turn = next()
      await send(target, documents[turn % documents.length] ?? name, made[turn % made.length] ?? [])
    }
  },
})

const quadraticUpdate = shaped(2, 'quadratic', [['rightOriginsBackwards', 10_000]])

const quadraticVariants = shaped(2, 'variants', [
  ['rightOriginsOfClients', 5_000],
  ['prependsOverAppends', 10_000],
  ['concurrentPrepends', 10_000],
  ['clientsAtOnePlace', 3_000],
  ['splits', 10_000],
  ['surrogateSplits', 10_000],
  ['valueSplits', 10_000],
  ['entriesOfOneKey', 10_000],
])

const nestedDeletions = shaped(2, 'deletions', [
  ['deletedTypes', 20_000],
  ['deletedTurns', 20_000],
  ['alternateItemDeletions', 20_000],
  ['overlappingDeletions', 20_000],
  ['changedDeepTypes', 5_000],
])

const formatting = shaped(2, 'formatting', [
  ['formatsInOneGap', 10_000],
  ['attributesOfStretches', 2_000],
  ['deletedFromFormatted', 20_000],
  ['formatKeystrokes', 2_000],
])

/** Sends keystrokes at the start of a long list. Each keystroke makes Yjs scan the whole list. */
const listKeystrokes = shaped(2, 'keystrokes', [['smallLongScans', 5_000]])

const manyClients = shaped(6, 'clients', [
  ['deletingClients', 60_000],
  ['missingClients', 60_000],
  ['rootNames', 20_000],
])

const pendingUpdates = shaped(6, 'pending', [['pendingUpdates', 60_000]])

/** Deletes characters, or cuts a text, from its end to its start. */
const reversedDeletions = shaped(2, 'reversed', [
  ['reversedDeletions', 40_000],
  ['laterReversedDeletions', 40_000],
])
const reversedCuts = shaped(2, 'cuts', [['splits', 200_000]])

const nestedConflicts = shaped(2, 'conflicts', [
  ['rightOriginsBackwards', 20_000],
  ['concurrentPrepends', 20_000],
])

const manyItems = shaped(2, 'items', [
  ['alternateItemDeletions', 50_000],
  ['singleValues', 100_000],
])

const deletedClients = shaped(6, 'deleted-clients', [['deletingClients', 30_000]])

/** Clients whose items depend on each other in a circle, or on an item that is missing. */
const circularClients = shaped(6, 'circles', [
  ['circularClients', 30_000],
  ['missingChains', 30_000],
])

/** Sends 16 updates that stay pending, each with 16,000 clients. */
const pendingClients = shaped(6, 'pending-clients', [['pendingUpdates', 16 * 16_000]])

/** Sends one character of each client, one update after the other. */
const clientsOneByOne = shaped(6, 'one-by-one', [['clientsAtOnePlace', 40_000]])

/** Sends state vectors with a very large number of clients. */
const stateVectors: Attack = {
  finding: 6,
  documents: ['vectors'],
  prepare: async (target) => {
    const [update] = hostileUpdates.deletingClients(1_000)
    if (update !== undefined) await store(target, 'vectors', update)
    const vectors = [hostileVectors.clients(1_000_000), hostileVectors.oneClient(1_000_000)]
    const next = counter()
    return async () => {
      const socket = await openSocket(syncUrl(target, 'vectors'))
      if (socket === null) return
      for (let times = 0; times < 4; times += 1)
        socket.send(message([0, 0], vectors[next() % vectors.length] ?? new Uint8Array(1)))
      await served(socket)
      socket.terminate()
    }
  },
}

/** Sends state vectors with very many clients in the protocol of Hocuspocus. */
const hocuspocusVectors: Attack = {
  finding: 6,
  documents: ['hocuspocus'],
  prepare: async (target) => {
    const name = 'hostile/hocuspocus/main'
    const vector = Buffer.concat([varString(name), message([0, 0], hostileVectors.clients(200_000))])
    return async () => {
      const socket = await openSocket(`${target.wsUrl}/hocuspocus`)
      socket?.send(tokenFrame(name, target.token))
      for (let times = 0; times < 4; times += 1) socket?.send(vector)
      await sleep(500)
      socket?.terminate()
    }
  },
}

/** Returns the update of a new client that makes one change. */
const plainUpdate = (change: (doc: Y.Doc) => void): Uint8Array => {
  const doc = new Y.Doc()
  doc.transact(() => change(doc))
  return Y.encodeStateAsUpdate(doc)
}

/** Returns an attack that sends an update to each of three documents in rotation. `make` returns an update. */
const sent = (finding: number, name: string, make: () => Uint8Array): Attack => ({
  finding,
  documents: documentsOf(name),
  prepare: async (target) => {
    const updates = documentsOf(name).map(make)
    const next = counter()
    return async () => {
      const turn = next() % updates.length
      await send(target, documentsOf(name)[turn] ?? name, updates.slice(turn, turn + 1))
    }
  },
})

/** Sends an update with a large amount of ordinary content. */
const largeUpdates = sent(2, 'large', () =>
  plainUpdate((doc) => {
    for (let key = 0; key < 60_000; key += 1) doc.getMap('large').set(`key ${key}`, key)
  }),
)

const manyElements = sent(2, 'elements', () =>
  plainUpdate((doc) => {
    const elements = list(100_000, (index) => {
      const element = new Y.XmlElement('p')
      element.setAttribute('id', String(index))
      return element
    })
    doc.getXmlFragment('default').insert(0, elements)
  }),
)

/** Sends an update of 2 MB that becomes 1,000,000 objects in memory. */
const emptyObjects = sent(13, 'objects', () =>
  plainUpdate((doc) =>
    doc.getArray('objects').insert(
      0,
      list(1_000_000, () => ({})),
    ),
  ),
)

/** Sends clients of which each depends on the next one. */
const chainedClients = sent(6, 'chains', () => {
  const clients = 30_000
  return updateOf(
    list(clients, (index) => {
      const client = clients - index
      const place = index === 0 ? {} : { left: id(client + 1, 0) }
      return block(client, [item(place, contents.text('a'))])
    }).reverse(),
  )
})

/** Sends updates of moderate cost to many documents at the same time. */
const manyDocuments: Attack = {
  finding: 2,
  documents: ['many-0', 'many-1'],
  prepare: async (target) => {
    const [update] = hostileUpdates.prependsOverAppends(600)
    return () => together(48, async (at) => send(target, `many-${at}`, update === undefined ? [] : [update]))
  },
}

/** Sends many updates that must wait for an update that needs a thread. */
const heldDocuments: Attack = {
  finding: 2,
  documents: documentsOf('held'),
  prepare: async (target) => {
    const expensive = hostileUpdates.prependsOverAppends(10_000)
    const more = plainUpdate((doc) => doc.getText('more').insert(0, 'x'.repeat(200_000)))
    const next = counter()
    return () =>
      send(target, documentsOf('held')[next() % 3] ?? 'held', [...expensive, ...list(20, () => more)])
  },
}

export const updateAttacks = {
  largeUpdates,
  manyDocuments,
  heldDocuments,
  quadraticUpdate,
  quadraticVariants,
  nestedDeletions,
  formatting,
  listKeystrokes,
  manyClients,
  pendingUpdates,
  stateVectors,
  hocuspocusVectors,
  reversedDeletions,
  reversedCuts,
  nestedConflicts,
  manyItems,
  manyElements,
  emptyObjects,
  deletedClients,
  chainedClients,
  circularClients,
  pendingClients,
  clientsOneByOne,
}
