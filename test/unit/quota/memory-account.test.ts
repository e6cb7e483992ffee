import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { MemoryAccount, type MemoryClaim } from '../../../src/core/quota/memory-account.ts'

const limits = {
  perAddress: 'unreadMemoryPerAddress',
  perWorkspace: 'unreadMemoryPerWorkspace',
  inAll: 'unreadMemoryTotal',
} as const

interface Made {
  readonly holder: MemoryAccount
  readonly hits: string[]
  readonly ended: string[]
  readonly open: (workspaceId: string | null, address: string, name?: string) => MemoryClaim
}

function make(perWorkspace: number, inAll: number, perAddress = inAll): Made {
  const [hits, ended]: [string[], string[]] = [[], []]
  const bounds = { perAddress, perWorkspace, inAll }
  const holder = new MemoryAccount('test', bounds, limits, (limit, who) => hits.push(`${limit} ${who}`))
  const open: Made['open'] = (workspaceId, address, name = address) =>
    holder.open({ workspaceId, address }, () => ended.push(name))
  return { holder, hits, ended, open }
}

const errorOf = (work: () => void): unknown => {
  try {
    work()
    return null
  } catch (error) {
    return error
  }
}

it('[LIM-20] when a workspace exceeds its limit, closes the largest client of its heaviest address', () => {
  const { hits, ended, holder, open } = make(1_000, 5_000)
  open('acme', 'honest').set(400)
  for (let count = 0; count < 3; count += 1) open('acme', 'hostile', `hostile ${count}`).set(200 + count)
  expect(ended).toEqual(['hostile 2'])
  expect(hits).toEqual(['unreadMemoryPerWorkspace acme'])
  expect(holder.bytes).toBe(801)
})

it('[LIM-20] when all workspaces together exceed the limit, closes a client of the heaviest workspace, whichever workspace grows', () => {
  const { hits, ended, open } = make(1_000, 1_800)
  open('heavy', 'a').set(900)
  open('other', 'b').set(800)
  open('light', 'c').set(200)
  expect(ended).toEqual(['a'])
  expect(hits).toEqual(['unreadMemoryTotal heavy'])
})

it('[LIM-20] closes no client of a light workspace if a heavy workspace uses the same address', () => {
  const { ended, open } = make(1_000, 5_000, 900)
  open('light', 'proxy', 'light').set(300)
  for (let count = 0; count < 4; count += 1) open('heavy', 'proxy', 'heavy').set(200)
  expect(ended).toEqual(['heavy'])
})

it('[LIM-15] rejects a reservation that exceeds the limit of its workspace, and one of a heavy workspace that exceeds the total limit', () => {
  const { ended, open } = make(1_000, 1_800)
  const [ada, bob] = [open('ada', 'a'), open('bob', 'b')]
  ada.reserve(900)
  expect(errorOf(() => ada.reserve(101))).toMatchObject({
    status: 'RESOURCE_EXHAUSTED',
    retryAfterSeconds: 1,
    details: { limit: 'unreadMemoryPerWorkspace', value: 1_000, scope: 'workspace' },
  })
  bob.reserve(850)
  expect(errorOf(() => bob.reserve(100))).toMatchObject({
    details: { limit: 'unreadMemoryTotal', value: 1_800, scope: 'server' },
  })
  expect(ended).toEqual([])
  open('light', 'c').reserve(100)
  expect(ended).toEqual(['a'])
})

it('[LIM-15] does not close a client if its memory would not become free, and rejects the reservation instead', () => {
  const { ended, open } = make(1_000, 1_000)
  const heavy = open('heavy', 'a')
  heavy.reserve(900)
  heavy.pin()
  expect(errorOf(() => open('light', 'b').reserve(200))).not.toBeNull()
  expect(ended).toEqual([])
  heavy.release()
  open('light', 'b').reserve(200)
})

it('[LIM-20] after any sequence of reservations, has no used bytes when all claims are released', () => {
  const steps = fc.array(fc.record({ who: fc.nat(8), bytes: fc.nat(500), isReserved: fc.boolean() }))
  fc.assert(
    fc.property(steps, (all) => {
      const { holder, open } = make(1_000, 1_500)
      const claims = Array.from({ length: 9 }, (_, who) =>
        open(who % 4 === 0 ? null : `w${who % 4}`, `a${who % 3}`),
      )
      for (const { who, bytes, isReserved } of all) {
        const claim = claims[who]
        if (isReserved) errorOf(() => claim?.reserve(bytes))
        else claim?.set(bytes)
        expect(holder.bytes).toBeLessThanOrEqual(1_500)
      }
      for (const claim of claims) claim.release()
      expect(holder.bytes).toBe(0)
    }),
  )
})
