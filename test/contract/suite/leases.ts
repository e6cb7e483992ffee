import { expect, it } from 'vitest'
import type { Bench } from './suite.ts'

export function leaseContract(bench: () => Bench): void {
  const leases = () => bench().engine.leases

  it('[ENG-81] gives a lease to one holder until the holder releases it, independent of leases with other names', async () => {
    const lease = await leases().acquire('a')
    expect(lease?.isHeld).toBe(true)
    expect(await leases().acquire('a')).toBeNull()
    expect((await leases().acquire('b'))?.isHeld).toBe(true)
    await lease?.release()
    expect(lease?.isHeld).toBe(false)
    const next = await leases().acquire('a')
    await lease?.release()
    expect(next?.isHeld).toBe(true)
    expect(await leases().acquire('a')).toBeNull()
  })

  it('[ENG-81] when several callers request a lease at the same time, gives it to only one of them', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => leases().acquire('a')))
    expect(all.filter((lease) => lease !== null)).toHaveLength(1)
  })

  it('[ENG-81] keeps a lease for 30 s without a release, and reports no loss', async () => {
    const { clock } = bench()
    let isLost = false
    const lease = await leases().acquire('a', () => {
      isLost = true
    })
    for (let seconds = 0; seconds < 30; seconds++) {
      clock.advance(1_000)
      // The store answers a renewal before a later call.
      expect(await leases().acquire('a')).toBeNull()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect([lease?.isHeld, isLost]).toEqual([true, false])
  })
}
