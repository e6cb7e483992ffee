import { type UpdatePlan, updatesOf } from '../../support/data/update-plans.ts'
import { hostileAwareness, hostileVectors } from '../../support/faults/hostile-messages.ts'
import { hostileUpdates } from '../../support/faults/hostile-shapes.ts'
import type { TestServer } from '../../support/servers/server.ts'
import { otherWorkspace } from '../../support/servers/tenants.ts'
import type { Prepared, Probe } from './measure.ts'
import { type VoiceKind, voices } from './voices.ts'

/** One message of a client. */
interface Sent {
  readonly types: readonly number[]
  readonly body: Uint8Array
}

let documents = 0

/**
 * Sends messages to a new document, reads it, and reads it again after the server has closed its room. In one workspace
 * for all runs, each run would wait for the share of the event loop that earlier runs have spent.
 */
async function prepared(server: TestServer, kind: VoiceKind, messages: readonly Sent[]): Promise<Prepared> {
  const { token } = await otherWorkspace(server)
  return {
    size: messages.reduce((sum, { body }) => sum + body.length, 0),
    run: async () => {
      documents += 1
      const documentId = `cost-${documents}`
      const writer = await kind.open(server, token, documentId)
      for (const { types, body } of messages) writer.send(types, body)
      await writer.handled()
      writer.end()
      const reader = await kind.open(server, token, documentId)
      await reader.handled()
      reader.end()
    },
  }
}

const probe = (
  server: TestServer,
  kind: VoiceKind,
  name: string,
  to: number,
  messages: (n: number) => readonly Sent[],
): Probe => ({
  name: `${kind.name} ${name}`,
  from: 1_000,
  to,
  prepare: (n) => prepared(server, kind, messages(n)),
})

/** A shape of this size has about 250 KB. */
const nMax = 16_000
const bytesMax = 256_000

export const updateProbe = (
  server: TestServer,
  kind: VoiceKind,
  type: 'update' | 'offer',
  name: string,
  updates: (n: number) => readonly Uint8Array[],
): Probe =>
  probe(server, kind, `${type} ${name}`, nMax, (n) =>
    updates(n).map((body) => ({ types: kind.types[type], body })),
  )

export const planProbe = (server: TestServer, plan: UpdatePlan): Probe =>
  updateProbe(server, voices[0] as VoiceKind, 'update', JSON.stringify(plan), (n) => updatesOf(plan, n))

/**
 * Rows of small messages, each of which costs time that is linear in the document. For example, Yjs copies
 * the clocks of all clients for each transaction. n of them on a document of n items take n² in total. The
 * bound is the workspace's share of the event loop, not a limit of one message.
 */
const rows: readonly string[] = ['clientsAtOnePlace', 'smallLongScans', 'formatKeystrokes']

const shapes = Object.entries(hostileUpdates).filter(([name]) => !rows.includes(name))

/**
 * Probes of all kinds of messages. One protocol sends every update shape, the others send the shapes of
 * `sample`.
 */
export function socketProbes(
  server: TestServer,
  sample: (shapes: readonly string[]) => readonly string[],
): readonly Probe[] {
  return voices.flatMap((kind, index) => {
    const { vector, awareness } = kind.types
    const names = index === 0 ? shapes.map(([name]) => name) : sample(shapes.map(([name]) => name))
    const offered = sample(shapes.map(([name]) => name))
    const updates = shapes.flatMap(([name, make]) => [
      ...(names.includes(name) ? [updateProbe(server, kind, 'update', name, make)] : []),
      ...(offered.includes(name) ? [updateProbe(server, kind, 'offer', name, make)] : []),
    ])
    const vectors = Object.entries(hostileVectors).map(([name, make]) =>
      probe(server, kind, `vector ${name}`, bytesMax, (n) => [{ types: vector, body: make(n) }]),
    )
    const states = Object.entries(hostileAwareness).map(([name, make]) =>
      probe(server, kind, `awareness ${name}`, bytesMax, (n) => [{ types: awareness, body: make(n) }]),
    )
    const others = kind.otherTypes.map((types) =>
      probe(server, kind, `message ${types.join(',')}`, bytesMax, (n) => [
        { types, body: new Uint8Array(n) },
      ]),
    )
    return [...updates, ...vectors, ...states, ...others, questions(server, kind)]
  })
}

/**
 * Many state vectors in a row, to a document that grows with their number. One response at a time is
 * sufficient.
 */
const questions = (server: TestServer, kind: VoiceKind): Probe =>
  probe(server, kind, 'vectors in a row', 4_000, (n) => [
    ...hostileUpdates.alternateItemDeletions(n).map((body) => ({ types: kind.types.update, body })),
    ...Array.from({ length: n }, () => ({ types: kind.types.vector, body: Uint8Array.of(0) })),
  ])
