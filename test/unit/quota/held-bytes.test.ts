import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { HeldBytes, type Hold } from '../../../src/quota/held-bytes.ts'

const limitsOf = (work: () => void): unknown => {
  try {
    work()
    return null
  } catch (error) {
    return error
  }
}

it('[LIM-15] a workspace has its share, all together have what there is, and small pieces cost more than they hold', () => {
  const held = new HeldBytes({ ofWorkspace: 1_000, inAll: 1_800 })
  const [ada, bob] = [held.enter('ada'), held.enter('bob')]
  ada.add(800)
  expect(limitsOf(() => ada.add(1))).toMatchObject({
    status: 'RESOURCE_EXHAUSTED',
    retryAfterSeconds: 1,
    details: { limit: 'bodyBytesAtOnce', value: 1_000, scope: 'workspace' },
  })
  expect(limitsOf(() => bob.add(800))).toMatchObject({
    details: { limit: 'bodyBytesInAll', value: 1_800, scope: 'server' },
  })
  const pieces = held.enter('bob')
  for (let piece = 0; piece < 6; piece += 1) pieces.add(1)
  expect(limitsOf(() => pieces.add(1))).not.toBeNull()
  pieces.release()
  ada.release()
  ada.release()
  expect(limitsOf(() => bob.add(800))).toBeNull()
})

it('[LIM-15] what has been let go leaves nothing behind, whatever was refused', () => {
  const steps = fc.array(fc.record({ who: fc.nat(5), bytes: fc.nat(400), ends: fc.boolean() }))
  fc.assert(
    fc.property(steps, (all) => {
      const held = new HeldBytes({ ofWorkspace: 1_000, inAll: 1_500 })
      const holds = new Map<number, Hold>()
      for (const { who, bytes, ends } of all) {
        const hold = holds.get(who) ?? held.enter(`${who % 3}`)
        holds.set(who, hold)
        limitsOf(() => hold.add(bytes))
        if (ends) hold.release()
      }
      for (const hold of holds.values()) hold.release()
      expect(limitsOf(() => held.enter('0').add(1_000 - 128))).toBeNull()
    }),
  )
})
