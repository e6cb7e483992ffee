import { expect, it } from 'vitest'
import { type ClusterNode, deadMs, firstDeadInMs } from '../../../src/cluster/postgres/cluster/node-rows.ts'

const now = 1_700_000_000_000

const heardOf = (agoMs: number): ClusterNode => ({
  id: `heard of ${agoMs} ms ago`,
  incarnation: `heard of ${agoMs} ms ago`,
  state: 'serving',
  url: null,
  heartbeatAt: now - agoMs,
  isAlive: agoMs < deadMs,
})

it('[CL-10] computes the earliest time at which another node would count as dead, and ignores nodes that already do', () => {
  expect(firstDeadInMs({ now, others: [heardOf(200), heardOf(3_900), heardOf(900)] })).toBe(100)
  expect(firstDeadInMs({ now, others: [heardOf(200), heardOf(60_000)] })).toBe(deadMs - 200)
  expect(firstDeadInMs({ now, others: [heardOf(60_000)] })).toBe(Number.POSITIVE_INFINITY)
})
