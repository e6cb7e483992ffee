import type { Meter, Probe } from './measure.ts'

/** Work that grows faster than n·log n. */
export interface Finding {
  readonly probe: string
  readonly unit: string
  /** Costs of n, 2n and 4n. */
  readonly n: number
  readonly costs: readonly [number, number, number]
  readonly size: number
}

/** Returns the lowest measured cost of work of size n. */
export async function costOf(
  probe: Probe,
  n: number,
  meter: Meter,
  repeats = meter.repeats,
): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let index = 0; index < repeats; index++) {
    const { run } = await probe.prepare(n)
    best = Math.min(best, await meter.cost(run))
  }
  return best
}

/**
 * Compares n, 2n and 4n at the smallest n at which the work can be measured. Returns null if the work is at
 * most n·log n, or too little to be measured at the largest size.
 */
export async function judge(probe: Probe, meter: Meter): Promise<Finding | null> {
  return judgeAt(probe, await measurableSize(probe, meter), meter)
}

/**
 * Number of measurements of a suspicion: other work of the machine also takes caches and memory from this
 * process.
 */
const confirmations = 3

/**
 * Smallest growth by which a doubling counts as more than n·log n. Quadratic work has 4. Linear work that no longer fits
 * into the caches of the processor had up to 4 for one doubling, but less than 2.5 for the other one.
 */
const doublingMin = 2.7

/**
 * A first doubling above this is a step, such as that to memory that is collected differently: work of order n² has 4.
 * The second doubling then decides alone, and must be close to 4.
 */
const stepMin = 6
const afterStepMin = 3.4

const growsTwice = (small: number, middle: number, large: number): boolean =>
  middle > stepMin * small
    ? large > afterStepMin * middle
    : middle > doublingMin * small && large > doublingMin * middle

/** Compares n, 2n and 4n. A finding must appear in every measurement. */
export async function judgeAt(probe: Probe, n: number, meter: Meter): Promise<Finding | null> {
  if (4 * n > probe.to) return null
  const isSuspect = (small: number, large: number): boolean =>
    large > 4 * meter.floor && large > small * meter.growthMax
  const once = await costOf(probe, 4 * n, meter, 1)
  if (!isSuspect(0, once) || !isSuspect(await costOf(probe, n, meter), once)) return null
  let costs: Finding['costs'] = [0, 0, 0]
  for (let confirmed = 0; confirmed < confirmations; confirmed++) {
    const small = await costOf(probe, n, meter, meter.repeats + 1)
    const middle = await costOf(probe, 2 * n, meter)
    const large = await costOf(probe, 4 * n, meter)
    if (!isSuspect(small, large) || !growsTwice(small, middle, large)) return null
    costs = [small, middle, large]
  }
  const { size } = await probe.prepare(4 * n)
  return { probe: probe.name, unit: meter.unit, n, costs, size }
}

async function measurableSize(probe: Probe, meter: Meter): Promise<number> {
  let n = probe.from
  while (4 * n <= probe.to) {
    const cost = await costOf(probe, n, meter, 1)
    // Code takes longer when it runs for the first time.
    if (cost >= meter.floor && (await costOf(probe, n, meter)) >= meter.floor) return n
    n *= cost < meter.floor / 4 ? 4 : 2
  }
  return Math.max(probe.from, Math.floor(probe.to / 4))
}

export const describeFinding = ({ probe, unit, n, costs, size }: Finding): string => {
  const numbers = costs.map((cost) => Math.round(cost).toLocaleString('en-US'))
  return `${probe}: n=${n} ${numbers[0]}, 2n ${numbers[1]}, 4n ${numbers[2]} ${unit} (input of 4n: ${size})`
}
