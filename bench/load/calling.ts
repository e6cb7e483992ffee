import { HttpClient, type HttpTarget } from '../../src/loadtest/http-client.ts'
import { cpuOfTree } from '../support/cpu.ts'

/** Results of the calls. */
export interface Called {
  /** Milliseconds of each call. */
  readonly times: readonly number[]
  readonly perSecond: number
  /** Microseconds of CPU of the server per call. */
  readonly microseconds: number
}

/** When to stop calling. */
export interface Amount {
  readonly calls: number
  /** No call starts after these seconds, so slow calls are fewer. */
  readonly secondsMax: number
}

/** One call of a caller; `index` counts the calls of all callers. */
export type Call = (caller: HttpClient, who: number, index: number) => Promise<unknown>

/** A server in its own process. */
export type CalledServer = HttpTarget & { readonly pid: number }

/**
 * Makes `callers` call repeatedly, each on its own connection and as soon as the previous call is answered.
 */
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
