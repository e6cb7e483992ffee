import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { yWebsocket } from '../../src/core/sync/protocols/y-websocket.ts'
import { readAwareness, writeAwareness } from '../../src/core/update/awareness.ts'
import { MalformedMessageError, MalformedUpdateError } from '../../src/core/update/malformed.ts'
import { readUpdate } from '../../src/core/update/read-update.ts'
import { readStateVector } from '../../src/core/update/state-vector.ts'
import { message } from '../support/clients/clients.ts'
import { Random, randomHistory } from '../support/data/random-doc.ts'
import { seed } from '../support/data/seed.ts'
import { asCase, hexOf } from '../support/faults/corpus.ts'
import { mutate } from '../support/faults/mutations.ts'
import { times } from '../support/time/full-run.ts'

const cases = Number(process.env.WEFT_FUZZ_CASES ?? times(20_000, 400_000))
const casesPerHistory = 1_000

/**
 * Reads a message like a session.
 * @throws MalformedMessageError, MalformedUpdateError
 */
function readAll(bytes: Uint8Array): string {
  const said = yWebsocket.decode(bytes)
  switch (said.kind) {
    case 'update':
    case 'offer':
      readUpdate(said.update)
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

interface Frame {
  readonly types: readonly number[]
  readonly body: Uint8Array
}

/** Messages of each kind, from users who edit a document. */
function genuineFrames(historySeed: number): {
  readonly updates: readonly Frame[]
  readonly others: readonly Frame[]
} {
  const { updates, doc } = randomHistory(historySeed, 20)
  if (updates.length === 0) return genuineFrames(historySeed + cases)
  const shown = { clientId: historySeed, clock: 3, text: '{"user":{"name":"Ada"},"cursor":{"anchor":[1,2]}}' }
  return {
    updates: updates.flatMap((body, index) => [
      { types: [0, 2], body },
      { types: [0, 1], body: Y.mergeUpdates(updates.slice(0, index + 1)) },
    ]),
    others: [
      { types: [0, 0], body: Y.encodeStateVector(doc) },
      { types: [1], body: writeAwareness([shown, { ...shown, clientId: 7, text: 'null' }]) },
      { types: [3], body: Uint8Array.of(0) },
    ],
  }
}

/** Puts wrong bytes into a complete message, or anywhere. */
function mutated({ types, body }: Frame, other: Frame, random: Random): Uint8Array {
  if (random.below(3) > 0) return message(types, mutate(body, other.body, random))
  return mutate(message(types, body), other.body, random)
}

it(`[FUZZ-4] reads mutated frames or rejects them as malformed (seed ${seed}, ${cases} cases)`, () => {
  const random = new Random(seed)
  const outcomes: Record<string, number> = { malformed: 0 }
  for (let round = 0; round < cases / casesPerHistory; round++) {
    const { updates, others } = genuineFrames(seed + round)
    for (let index = 0; index < casesPerHistory; index++) {
      const frame = random.pick(random.below(2) === 0 ? updates : others)
      const bytes = mutated(frame, random.pick(updates), random)
      let outcome = 'malformed'
      try {
        outcome = readAll(bytes)
      } catch (error) {
        if (!(error instanceof MalformedMessageError || error instanceof MalformedUpdateError))
          throw new Error(
            asCase({ name: `seed ${seed}, round ${round}`, frames: [hexOf(bytes)], ends: 4400 }),
            {
              cause: error,
            },
          )
      }
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
  }
  console.info(outcomes)
  const kinds = ['malformed', 'update', 'offer', 'vector', 'awareness', 'queryAwareness']
  expect(kinds.filter((kind) => outcomes[kind] === undefined)).toEqual([])
}, 300_000)
