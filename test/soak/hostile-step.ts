import { round } from '../../bench/support/report.ts'
import { attacks } from '../support/attacks/all.ts'
import { Random } from '../support/data/random-doc.ts'
import { seed } from '../support/data/seed.ts'
import { inParallel } from '../support/in-parallel.ts'
import { elsewhere, type Hostile, hostile, type Noticed, worst } from './hostile.ts'
import type { Outcome, Size, Step } from './steps.ts'

interface Bars {
  /** Maximum ratio of round trips and large calls to those without the attack. */
  readonly ratio: number
  /** Maximum additional time without a response of `/healthz`, compared to that without the attack. */
  readonly stallMs: number
}

const MB = 1_000_000
/** 512 MB of heap, and the same amount of buffers and threads. */
const residentBytesMax = 1_000 * MB
/** Shorter times without an attack count as these: the difference is the noise of a machine. */
const quickMs = { p99: 10, call: 100 }

const bars: Readonly<Record<Size, Bars>> = {
  // If other work shares the machine, only a clear violation counts.
  smoke: { ratio: 100, stallMs: 5_000 },
  full: { ratio: 4, stallMs: 100 },
  long: { ratio: 4, stallMs: 100 },
}
const seconds: Readonly<Record<Size, number>> = { smoke: 1, full: 3, long: 10 }
/** Number of attacks at the same time, each on a server of its own. Only the limits of `smoke` allow several. */
const atOnce: Readonly<Record<Size, number>> = { smoke: 2, full: 1, long: 1 }
/** A measurement beyond a limit is repeated: two of three are a violation. */
const triesMax = 3

/** Every promise that an attack broke, in words. */
function broken(found: Hostile, { ratio, stallMs }: Bars): { strict: string[]; timed: string[] } {
  const { idle, attacked } = found
  const strict = [
    ...(found.isAlive ? [] : ['the process ended']),
    ...(Number.isFinite(found.recoveryMs) ? [] : ['no recovery']),
    ...(found.isIntact ? [] : ['the honest document is not what it was']),
    ...(found.unanswered.length === 0 ? [] : [`no answer for ${found.unanswered.join(', ')}`]),
    ...(found.peakBytes <= residentBytesMax ? [] : ['memory']),
  ]
  const exceeds = (key: keyof Noticed, quickest: number): boolean =>
    attacked[key] > ratio * Math.max(idle[key], quickest)
  const timed = [
    ...(exceeds('p99Ms', quickMs.p99) ? ['p99'] : []),
    ...(attacked.stallMs > idle.stallMs + stallMs ? ['stall'] : []),
    ...(found.idle.callMs > 0 && exceeds('callMs', quickMs.call) ? ['large calls'] : []),
    ...(found.reopenStallMs > idle.stallMs + stallMs ? ['stall after the restart'] : []),
  ]
  return { strict, timed }
}

const ms = (value: number): string => (Number.isFinite(value) ? `${round(value, 0)} ms` : 'no end')

const figures = ({ idle, attacked, rounds, recoveryMs, peakBytes, reopenStallMs }: Hostile): string =>
  [
    `p99 ${ms(idle.p99Ms)} to ${ms(attacked.p99Ms)}`,
    `stall ${ms(idle.stallMs)} to ${ms(attacked.stallMs)}`,
    ...(idle.callMs > 0 ? [`large calls ${ms(idle.callMs)} to ${ms(attacked.callMs)}`] : []),
    `memory ${round(peakBytes / MB, 0)} MB`,
    `${rounds} rounds`,
    `recovery ${ms(recoveryMs)}`,
    `stall after the restart ${ms(reopenStallMs)}`,
  ].join(', ')

/** Number of attacks of `smoke`, each of another finding. */
const smokeAttacks = 4

/** Returns the names of the wanted attacks. If none is wanted, these are all attacks; in `smoke`, the seed chooses. */
function chosenAttacks(size: Size, wanted: readonly string[]): readonly string[] {
  const names = Object.keys(attacks)
  if (wanted.length > 0) return names.filter((name) => wanted.includes(name))
  if (size !== 'smoke') return names
  const random = new Random(seed)
  const findings = [...new Set(names.map((name) => attacks[name]?.finding))]
  while (findings.length > smokeAttacks) findings.splice(random.below(findings.length), 1)
  return findings.map((finding) => random.pick(names.filter((name) => attacks[name]?.finding === finding)))
}

/** One hostile tenant for each attack next to an honest one. */
export const hostileNeighbors: Step = async (size, say, parts) => {
  const chosen = chosenAttacks(size, parts)
  const outcomes = new Map<string, Attacked>()
  await inParallel(chosen, atOnce[size], async (attack) => {
    outcomes.set(attack, await attackedBy(attack, size, say))
  })
  const done = chosen.map((attack) => outcomes.get(attack) as Attacked)
  say('')
  say('| attack | p50, p99 of others | longest stall | memory | verdict |')
  say('|---|---|---|---|---|')
  for (const { row } of done) say(row)
  return done.map(({ outcome }) => outcome)
}

interface Attacked {
  readonly outcome: Outcome
  /** The row of the table of attacks. */
  readonly row: string
}

function rowOf(
  { attack, attacked, peakBytes, reopenStallMs }: Hostile,
  violations: readonly string[],
): string {
  const { p50Ms, p99Ms, stallMs } = attacked
  const verdict = violations.length === 0 ? 'kept' : `**${violations.join(', ')}**`
  const stall = ms(Math.max(stallMs, reopenStallMs))
  return `| ${attack} | ${ms(p50Ms)}, ${ms(p99Ms)} | ${stall} | ${round(peakBytes / MB, 0)} MB | ${verdict} |`
}

async function attackedBy(attack: string, size: Size, say: (line: string) => void): Promise<Attacked> {
  const options = { attack, seconds: seconds[size] }
  const tries: string[] = []
  let last: readonly string[] = []
  let row = ''
  for (let tried = 0; tried < triesMax; tried += 1) {
    const found = await hostile(options)
    const first = broken(found, bars[size])
    // Only times may be noise of the machine: an attack also uses processor time outside the server.
    const noise = first.timed.length > 0 && first.strict.length === 0 ? await elsewhere(options) : null
    const quiet = noise === null ? found : { ...found, idle: worst([found.idle, noise]) }
    const { strict, timed } = broken(quiet, bars[size])
    last = [...strict, ...timed]
    row = rowOf(found, last)
    tries.push(
      figures(found) +
        (noise === null ? '' : `; elsewhere p99 ${ms(noise.p99Ms)}, stall ${ms(noise.stallMs)}`),
    )
    say(`${attack}: ${tries.at(-1)}${last.map((each) => `; **${each}**`).join('')}`)
    if (strict.length > 0 || timed.length === 0) break
  }
  const outcome = {
    promise: 'a hostile tenant does not hold up the others',
    done: `finding ${attacks[attack]?.finding}: ${attack}`,
    result: [...last, ...tries].join('; '),
    kept: last.length === 0,
  }
  return { outcome, row }
}
