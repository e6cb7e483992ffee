import { execFileSync } from 'node:child_process'
import { eventually } from '../clients/clients.ts'
import type { ServerProcess } from './process.ts'

/** Ids of the socket workers of a server. */
export function workersOf({ child }: ServerProcess): number[] {
  try {
    return execFileSync('pgrep', ['-P', String(child.pid), '-f', 'sync/workers/worker-main'], {
      encoding: 'utf8',
    })
      .split('\n')
      .filter((line) => line !== '')
      .map(Number)
  } catch {
    // It fails when there are none.
    return []
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The value of the first series that starts so; 0 when there is none. */
export async function metricOf({ url }: ServerProcess, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(name))
  return Number(line?.split(' ').at(-1) ?? 0)
}

export const workersRun = (server: ServerProcess, count: number): Promise<void> =>
  eventually(async () => (await metricOf(server, 'weft_socket_workers ')) === count)
