import { cpuOfTree } from '../../src/cli/bench/cpu.ts'
import { HttpClient, type HttpTarget } from './http-client.ts'

/** Measurements of the calls. */
export interface Called {
  /** Duration of each call in ms. */
  readonly times: readonly number[]
  readonly perSecond: number
  /** CPU time of the server per call, in microseconds. */
  readonly microseconds: number
}

/** Limits after which no more calls start. */
export interface Amount {
  readonly calls: number
  /** Time in seconds after which no call starts. A server with slow calls therefore gets fewer calls. */
  readonly secondsMax: number
}

/** Makes one call. The caller has the number `who`, and `index` counts the calls of all callers. */
export type Call = (caller: HttpClient, who: number, index: number) => Promise<unknown>

/** A server that runs in a separate process. */
export type CalledServer = HttpTarget & { readonly pid: number }

/**
 * Makes calls with several concurrent callers. Each caller has its own connection, and calls again as soon as
 * its previous call is answered.
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
