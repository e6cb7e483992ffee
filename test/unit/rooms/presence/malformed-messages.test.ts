import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { matchesSchema } from '../../../../src/core/base/validation.ts'
import {
  allTopic,
  bucketTopic,
  documentKey,
  nodeTopic,
  type PresenceMessage,
  presenceMessageSchema,
} from '../../../../src/core/rooms/presence/presence-messages.ts'
import type { PresenceRecord } from '../../../../src/core/rooms/presence/presence-records.ts'
import { bucketOf } from '../../../../src/core/store/buckets.ts'
import { document, Page, World } from './simulated-cluster.ts'

const name = documentKey(document)
const sender = { from: 'node-1', incarnation: 9e15, at: 1 }
const fields = { name: 'Eve', email: '', status: 'busy' }
const records: readonly (readonly [string, PresenceRecord])[] = [
  [
    'c7:main',
    { kind: 'client', editorId: 'main', clientId: 7, clock: 1, text: '{}', userId: 'eve', since: 1 },
  ],
  [
    'peve',
    {
      kind: 'user',
      userId: 'eve',
      name: 'Eve',
      email: '',
      status: null,
      editors: [['main', 1]],
      fields,
      fieldsAt: 1,
      lastSeen: 1,
    },
  ],
  [
    'reve',
    {
      kind: 'rest',
      userId: 'eve',
      at: 1,
      fields,
      ttlMs: 9,
      lastSeen: 1,
      deletedAt: 0,
      addedAt: 1,
      arrivedAt: 0,
      keptUntil: 10,
    },
  ],
]
const messages: readonly PresenceMessage[] = [
  { ...sender, type: 'delta', document: name, prev: 0, seq: 1, entries: records },
  { ...sender, type: 'snapshot', document: name, seq: 2, part: 0, parts: 1, entries: records },
  { ...sender, type: 'digest', requestsReply: true, documents: [[name, 3]] },
  { ...sender, type: 'request', documents: [name] },
]
const call = { from: 'node-1', life: 'life', number: 1, answer: true }
const calls = [
  { ...call, payload: { document: name, sender, seq: 1, have: {} } },
  { ...call, payload: { place: { workspaceId: 'ws', apiKey: 'key', organizationId: null }, userId: 'ada' } },
  { ...call, payload: { document, editorId: null, text: '{}' } },
  { ...call, payload: { document, editorId: 'main', clientIds: [1, 2] } },
]

/** The paths of all places in a value. */
function placesIn(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [[]]
  const inside = Object.entries(value).flatMap(([key, each]) => placesIn(each).map((path) => [key, ...path]))
  return [[], ...inside]
}

function changedAt(value: unknown, [key, ...rest]: readonly string[], put: unknown): unknown {
  if (key === undefined) return put
  const copy: unknown = Array.isArray(value) ? [...value] : { ...(value as object) }
  const members = copy as Record<string, unknown>
  members[key] = changedAt(members[key], rest, put)
  return copy
}

const replacements: readonly unknown[] = [null, undefined, 'x', -1, 1e300, {}, [], [null]]

/** A valid message with another value at one place. */
const strange = fc
  .constantFrom<unknown>(...messages, ...calls)
  .chain((message) =>
    fc
      .tuple(fc.constantFrom(...placesIn(message)), fc.constantFrom(...replacements))
      .map(([path, put]) => JSON.stringify(changedAt(message, path, put)) ?? ''),
  )

const topics = [
  allTopic,
  nodeTopic('node-2'),
  bucketTopic(bucketOf(name)),
  ...['presence.sync', 'presence.of', 'presence.erase', 'live', 'awareness.renew'].map(
    (each) => `nodes.call.${each}`,
  ),
  'nodes.answer.node-2',
]

/** Clients cannot parse them. */
const unreadable = [
  [['text'], 'x'],
  [['clock'], 1e300],
  [['clientId'], -1],
].map(([path, put]) =>
  JSON.stringify(changedAt(messages[0], ['entries', '0', '1', ...(path as string[])], put)),
)

it.each(messages)(
  '[CP-26] accepts a $type message, and rejects it with a number that is not finite at any place',
  (message) => {
    expect(matchesSchema(presenceMessageSchema, message)).toBe(true)
    const variants = placesIn(message).map((path) => changedAt(message, path, Number.POSITIVE_INFINITY))
    expect(variants.filter((variant) => matchesSchema(presenceMessageSchema, variant))).toEqual([])
  },
)

it('[CP-26] survives any malformed message between nodes, and continues to show users', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(strange, { minLength: 1, maxLength: 40 }), async (said) => {
      const world = await World.of(2, () => [0])
      const [ada, bob] = [new Page('ada', 1), new Page('bob', 2)]
      ada.connect(world.node(0))
      bob.connect(world.node(1))
      await world.pass(200)
      const { bus } = world.node(0).shared.engine
      for (const each of said) for (const topic of topics) bus.publish(topic, Buffer.from(each))
      await world.pass(200)
      bob.show(5)
      expect(world.node(1).listed()).toContain('bob socket')
      await world.during(world.node(1).presence.entries(document))
      await world.pass(70_000)
      expect(ada.awareness.getStates().get(2)).toMatchObject({ cursor: 5 })
      for (const page of [ada, bob]) {
        page.disconnect()
        page.destroy()
      }
      await world.end()
    }),
    { numRuns: 30, examples: unreadable.map((each): [string[]] => [[each]]) },
  )
}, 60_000)
