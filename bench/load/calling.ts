import { HttpClient, type HttpTarget } from '../../src/loadtest/http-client.ts'
import { cpuOfTree } from '../support/cpu.ts'

/** What came of the calls. */
export interface Called {
  /** Milliseconds of each. */
  readonly times: readonly number[]
  readonly perSecond: number
  /** CPU of the server for one call. */
  readonly microseconds: number
}

/** Until when calls are made. */
export interface Amount {
  readonly calls: number
  /** Where calls are slow, it is fewer: no further one is made after these seconds. */
  readonly secondsMax: number
}

/** One call of a caller; `index` counts the calls of all. */
export type Call = (caller: HttpClient, who: number, index: number) => Promise<unknown>

/** A server in a process of its own. */
export type CalledServer = HttpTarget & { readonly pid: number }

/** Has so many call over and over, each on a connection of its own and the next as soon as one is answered. */
export async function callAll(
  target: CalledServer,
  callers: number,
  { calls, secondsMax }: Amount,
  call: Call,
): Promise<Called> {
  const all = Array.from({ length: callers }, () => new HttpClient(target))
  const times: number[] = []
  let made = 0
  const [cpu, start] = [cpuOfTree(target.pid), performance.now()]
  const isDone = (): boolean => made >= calls || performance.now() - start > secondsMax * 1000
  await Promise.all(
    all.map(async (caller, who) => {
      while (!isDone()) {
        const from = performance.now()
        await call(caller, who, made++)
        times.push(performance.now() - from)
      }
    }),
  )
  const [seconds, used] = [(performance.now() - start) / 1000, cpuOfTree(target.pid) - cpu]
  for (const caller of all) caller.end()
  return { times, perSecond: times.length / seconds, microseconds: used / times.length }
}
