import { expect, it } from 'vitest'
import { Semaphore } from '../../../src/core/base/semaphore.ts'

/** Jobs that run until they are ended, one after the other. */
function pieces() {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const work = (name: string) => () =>
    new Promise<void>((resolve) => {
      begun.push(name)
      ends.push(resolve)
    })
  const endAll = async (): Promise<void> => {
    for (let at = 0; at < ends.length; at += 1) {
      ends[at]?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { begun, work, endAll }
}

it('[ORG-14] gives slots to owners in turn, and gives no owner more slots than its limit', async () => {
  const slots = new Semaphore({ total: 3, each: 2 })
  const { begun, work, endAll } = pieces()
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1', 'c2'].map((name) =>
    slots.run(name.charAt(0), work(name)),
  )
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  await endAll()
  await Promise.all(all)
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'c1', 'a4', 'c2'])
})

it('[ORG-14] releases the slot of a job when the job fails', async () => {
  const slots = new Semaphore({ total: 1, each: 1 })
  await expect(slots.run('a', () => Promise.reject(new Error('out of order')))).rejects.toThrow(
    'out of order',
  )
  expect(await slots.run('a', () => Promise.resolve('done'))).toBe('done')
})

it('[CALL-73] keeps the last slots for owners that have none', async () => {
  const slots = new Semaphore({ total: 4, each: 3, reserved: 2 })
  const { begun, work, endAll } = pieces()
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1'].map((name) => slots.run(name.charAt(0), work(name)))
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1'])
  await endAll()
  await Promise.all(all)
  expect(begun.toSorted()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1'])
})
