import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { yWebsocket } from '../../src/sync/protocols/y-websocket.ts'
import { readAwareness, writeAwareness } from '../../src/update/awareness.ts'
import { MalformedMessage, MalformedUpdate } from '../../src/update/malformed.ts'
import { readUpdate } from '../../src/update/read.ts'
import { readStateVector } from '../../src/update/vector.ts'
import { message } from '../support/clients.ts'
import { mutate } from '../support/mutations.ts'
import { Random, randomHistory } from '../support/random-doc.ts'

const all = process.env.WEFT_TEST_ALL === '1'
const seed = Number(process.env.WEFT_FUZZ_SEED ?? Date.now() % 1_000_000)
const cases = Number(process.env.WEFT_FUZZ_CASES ?? (all ? 1_000_000 : 50_000))
const casesPerHistory = 1_000

/** Reads a message as a session does. @throws MalformedMessage, MalformedUpdate */
function readAll(bytes: Uint8Array): string {
  const said = yWebsocket.decode(bytes)
  switch (said.kind) {
    case 'update':
    case 'offer':
      readUpdate(said.update, { allowSubdocuments: false })
      break
    case 'vector':
      readStateVector(said.vector)
      break
    case 'awareness':
      for (const { clientId, clock, state } of readAwareness(said.message)) {
        expect([clientId, clock].every((number) => Number.isSafeInteger(number) && number >= 0)).toBe(true)
        expect(state === null || Object.getPrototypeOf(state) === Object.prototype).toBe(true)
      }
      break
    case 'queryAwareness':
  }
  return said.kind
}

/** One message of each kind, of people who work on a document. */
function genuineFrames(historySeed: number): readonly Uint8Array[] {
  const { updates, doc } = randomHistory(historySeed, 20)
  const shown = { clientId: historySeed, clock: 3, text: '{"user":{"name":"Ada"},"cursor":{"anchor":[1,2]}}' }
  return [
    ...updates.map((update) => message([0, 2], update)),
    ...updates.map((_, index) => message([0, 1], Y.mergeUpdates(updates.slice(0, index + 1)))),
    message([0, 0], Y.encodeStateVector(doc)),
    message([1], writeAwareness([shown, { ...shown, clientId: 7, text: 'null' }])),
    Uint8Array.of(3),
  ]
}

it(`[FUZZ-4] mutated frames are read or refused as malformed (seed ${seed}, ${cases} cases)`, () => {
  const random = new Random(seed)
  const outcomes: Record<string, number> = { malformed: 0 }
  for (let round = 0; round < cases / casesPerHistory; round++) {
    const frames = genuineFrames(seed + round)
    // Updates are many, the other kinds few: each kind is to come up.
    const others = frames.slice(-3)
    for (let index = 0; index < casesPerHistory; index++) {
      const bytes = mutate(random.pick(random.below(2) === 0 ? frames : others), random.pick(frames), random)
      let outcome = 'malformed'
      try {
        outcome = readAll(bytes)
      } catch (error) {
        if (!(error instanceof MalformedMessage || error instanceof MalformedUpdate))
          throw new Error(`seed ${seed}, round ${round}: ${Buffer.from(bytes).toString('hex')}`, {
            cause: error,
          })
      }
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
  }
  console.info(outcomes)
  const kinds = ['malformed', 'update', 'offer', 'vector', 'awareness', 'queryAwareness']
  expect(kinds.filter((kind) => outcomes[kind] === undefined)).toEqual([])
}, 300_000)
