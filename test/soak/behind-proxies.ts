import { thousands } from '../../bench/support/report.ts'
import { errorMessage } from '../../src/core/base/errors.ts'
import { Random } from '../support/data/random-doc.ts'
import { seed } from '../support/data/seed.ts'
import { missing } from '../support/needs.ts'
import { type Converged, stockClients } from '../support/proxies/crowd.ts'
import { installedProxies, modesOf, type ProxyKind } from '../support/proxies/proxies.ts'
import {
  behindFailover,
  behindProxy,
  behindRestarts,
  type Problem,
  startUnlimited,
  type TrialOptions,
} from '../support/proxies/trials.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import type { Outcome, Size, Step } from './steps.ts'

interface Amount {
  readonly kinds: readonly ProxyKind[]
  readonly problems: readonly Problem[]
  /** Typing in each trial, in ms. */
  readonly typingMs: number
  /** Typing while each connection is cut after 30 s, in ms. */
  readonly cutMs: number
}

const installed = installedProxies()
const problems: readonly Problem[] = ['plain', 'buffers', 'cuts', 'http2', 'random', 'six', 'every30']

const amounts: Readonly<Record<Size, Amount>> = {
  smoke: { kinds: installed.slice(0, 1), problems: ['plain', 'random'], typingMs: 1_000, cutMs: 1_000 },
  full: { kinds: installed, problems, typingMs: 5_000, cutMs: 150_000 },
  long: { kinds: installed, problems, typingMs: 30_000, cutMs: 600_000 },
}

/** Number of trials at the same time. */
const atOnce = 3

/** In words, for the table. */
const words: Readonly<Record<Problem, string>> = {
  plain: 'proxies reject websockets',
  buffers: 'proxies hold back each response until its end',
  cuts: 'proxies cut responses after 2 s',
  http2: 'clients use HTTP/2',
  random: 'connections are cut at random times',
  six: 'all clients are on one page with six connections',
  every30: 'each connection is cut after 30 s',
}

interface Trial {
  readonly kind: ProxyKind
  readonly run: () => Promise<Converged & { readonly cuts?: number }>
}

/** Runs trials, a few at a time, and returns one row for all of them. */
async function rowOf(done: string, trials: readonly Trial[], say: (line: string) => void): Promise<Outcome> {
  const rest = [...trials]
  const sum = { marks: 0, lost: 0, doubled: 0, cuts: 0 }
  const failed: string[] = []
  const runNext = async (): Promise<void> => {
    for (let trial = rest.shift(); trial !== undefined; trial = rest.shift()) {
      const { kind, run } = trial
      await run().then(
        ({ marks, lost, doubled, cuts = 0 }) => {
          sum.marks += marks
          sum.lost += lost
          sum.doubled += doubled
          sum.cuts += cuts
          say(`${done}: ${kind}: ${marks} edits, ${lost} lost, ${doubled} doubled, ${cuts} cuts`)
        },
        (error: unknown) => {
          failed.push(kind)
          say(`${done}: ${kind}: ${errorMessage(error)}`)
        },
      )
    }
  }
  await Promise.all(Array.from({ length: atOnce }, runNext))
  const cuts = sum.cuts > 0 ? `, ${thousands(sum.cuts)} cuts` : ''
  const failure = failed.length > 0 ? `; not equal in time behind ${failed.join(', ')}` : ''
  return {
    promise: 'clients without a websocket lose nothing',
    done: `${done} (${trials.map(({ kind }) => kind).join(', ')})`,
    result: `${sum.lost} lost and ${sum.doubled} doubled of ${thousands(sum.marks)} edits${cuts}${failure}`,
    kept: sum.lost + sum.doubled + failed.length === 0,
  }
}

/** All stock clients behind all proxies, with all problems, restarts and failovers. */
export const behindProxies: Step = async (size, say) => {
  const { kinds, problems: some, typingMs, cutMs } = amounts[size]
  const random = new Random(seed)
  const optionsFor = (problem?: Problem): TrialOptions => ({
    random,
    clients: problem === 'six' ? [...stockClients, ...stockClients.slice(0, 2)] : stockClients,
    typingMs: problem === 'every30' ? cutMs : typingMs,
    pauseMs: problem === 'every30' ? 2_000 : 170,
  })
  const outcomes: Outcome[] = []
  const add = async (done: string, of: readonly ProxyKind[], run: (kind: ProxyKind) => Promise<Converged>) =>
    outcomes.push(
      await rowOf(
        done,
        of.map((kind) => ({ kind, run: () => run(kind) })),
        say,
      ),
    )
  const started = await startUnlimited()
  try {
    for (const problem of some) {
      const able = kinds.filter((kind) => {
        const modes: readonly Problem[] = modesOf(kind)
        return modes.includes(problem) || ['random', 'six', 'every30'].includes(problem)
      })
      await add(words[problem], able, (kind) =>
        behindProxy(started.server, kind, problem, optionsFor(problem)),
      )
    }
  } finally {
    await started.stop()
  }
  await add('the server is killed and restarts, and stops and restarts', kinds, (kind) =>
    behindRestarts(kind, optionsFor()),
  )
  if (size === 'smoke' || missing('postgres') !== null) return outcomes
  const postgres = await startPostgres()
  try {
    await add('one of two nodes is killed', kinds, (kind) => behindFailover(kind, postgres, optionsFor()))
  } finally {
    await postgres.remove()
  }
  return outcomes
}
