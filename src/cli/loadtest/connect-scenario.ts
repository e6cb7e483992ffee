import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connectAll, connectOne, endAll, expectOpen } from './connect-clients.ts'
import type { Scenario } from './scenario.ts'

const socketsMax = 1_000
const socketsPerRoom = 10

/**
 * Scenario that opens connections until the time is over, ten for each document. Each client waits until it
 * has the content of its document.
 */
export const connectScenario: Scenario = {
  name: `up to ${socketsMax} who connect, ${socketsPerRoom} to a document`,
  share: 0.15,
  async run(target, seconds) {
    const memory = await residentBytes(target.pid)
    const start = performance.now()
    const sockets = await connectAll(
      socketsMax,
      (index) => connectOne(target, `connect-${Math.floor(index / socketsPerRoom)}`),
      start + seconds * 1000,
    )
    const value = sockets.length / ((performance.now() - start) / 1000)
    await sleep(Math.min(500, seconds * 250))
    const bytes = ((await residentBytes(target.pid)) - memory) / sockets.length
    expectOpen(sockets)
    endAll(sockets)
    const connects = { key: 'connectsPerSecond', label: 'connects', value, unit: '/s' } as const
    if (Number.isNaN(bytes)) return [connects]
    const kilobytes = Math.max(0, bytes / 1024)
    return [
      connects,
      { key: 'connectionKilobytes', label: 'memory of a connection', value: kilobytes, unit: 'KB' },
    ]
  },
}

/** Returns the resident memory of a process in bytes; NaN if it cannot be measured. */
async function residentBytes(pid: number | null): Promise<number> {
  if (pid === null) return Number.NaN
  const listing = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]).catch(() => null)
  return listing === null ? Number.NaN : Number(listing.stdout.trim()) * 1024
}
