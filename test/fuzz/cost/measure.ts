import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Prepared work. The measurement covers `run`. The result of `run` is the memory that the work retains. */
export interface Prepared {
  /** Bytes or characters of its input. */
  readonly size: number
  readonly run: () => unknown
}

/** Work of any size, such as a parser with one shape of input. */
export interface Probe {
  readonly name: string
  readonly from: number
  /** The largest size that the server accepts, or that takes too long to build. */
  readonly to: number
  readonly prepare: (n: number) => Prepared | Promise<Prepared>
}

/** Measures work in its own unit. */
export interface Meter {
  readonly unit: string
  readonly cost: (run: Prepared['run']) => Promise<number>
  /** The cost below which growth is not judged. */
  readonly floor: number
  /** Measurements of the same work; the lowest counts. */
  readonly repeats: number
  /** Largest accepted quotient of the costs of 4n and n: n·log n has less than 5.5 from n = 64 on. */
  readonly growthMax: number
}

/** CPU time of the process in ms. The time of other processes does not count. */
export const cpu: Meter = {
  unit: 'ms',
  floor: 5,
  repeats: 3,
  growthMax: 9,
  cost: (run) => costBy(cpuMs, run),
}

/** CPU time of the main thread in ms, which stalls the server. Linux only; elsewhere that of the process. */
export const mainThread: Meter = {
  ...cpu,
  floor: 20,
  repeats: 2,
  growthMax: 8,
  cost: (run) => costBy(mainThreadMs, run),
}

export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

export function mainThreadMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1_000_000
  } catch {
    return cpuMs()
  }
}

async function costBy(now: () => number, run: Prepared['run']): Promise<number> {
  const from = now()
  await run()
  return now() - from
}

/**
 * Counts executed blocks of JavaScript, and the elements, characters and bytes that native functions move, which is
 * deterministic. It does not count other native code, such as a regular expression. Start it before the measured code is
 * loaded.
 */
export function startWorkMeter(): Meter {
  const moved = countMoves()
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  const take = (): number => {
    let work = Math.ceil(moved())
    session.post('Profiler.takePreciseCoverage', (_error, taken) => {
      for (const { functions } of taken.result)
        for (const { ranges } of functions) for (const { count } of ranges) work += count
    })
    return work
  }
  return {
    unit: 'blocks and moves',
    floor: 60_000,
    repeats: 1,
    growthMax: 7,
    cost: async (run) => {
      take()
      await run()
      return take()
    },
  }
}

/** Bytes that a copy of memory moves in the time of one element of an array. */
const bytesPerMove = 64

/** Counts what native functions move. Returns a function that returns the number since its last call. */
function countMoves(): () => number {
  let moved = 0
  const counted = <Name extends PropertyKey>(
    holder: Record<Name, (...values: never[]) => unknown>,
    name: Name,
    moves: (self: never, values: never[], result: never) => number,
  ): void => {
    const original = holder[name]
    holder[name] = function (this: never, ...values: never[]) {
      const result = Reflect.apply(original, this, values) as never
      moved += moves(this, values, result)
      return result
    }
  }
  const lengthOf = (value: { readonly length: number }): number => value.length
  const copied = (bytes: { readonly length: number }): number => bytes.length / bytesPerMove
  counted(Array.prototype, 'splice', (self: unknown[], [start]) => self.length - (start ?? 0))
  counted(Array.prototype, 'slice', (_self, _values, copy: unknown[]) => lengthOf(copy))
  counted(Uint8Array.prototype, 'set', (_self, [source]) => copied(source ?? []))
  counted(Buffer, 'concat', (_self, _values, joined: Buffer) => copied(joined))
  counted(JSON, 'parse', (_self, [text]) => lengthOf(text ?? ''))
  return () => {
    const since = moved
    moved = 0
    return since
  }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes that the result of the work retains. */
export const retained: Meter = {
  unit: 'retained bytes',
  floor: 2_000_000,
  repeats: 1,
  growthMax: 7,
  cost: async (run) => {
    const before = usedBytes()
    const result = await run()
    const after = usedBytes()
    // Keeps the result alive until here.
    return result === before ? 0 : after - before
  },
}

function usedBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
