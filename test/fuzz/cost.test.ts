import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildFolders } from '../../src/build/build-folders.ts'
import { Random } from '../support/data/random-doc.ts'
import { seed } from '../support/data/seed.ts'
import { times } from '../support/time/full-run.ts'
import { climb, minimize } from './cost/climb.ts'
import type { GroupResult } from './cost/groups.ts'
import { judge, judgeAt } from './cost/judge.ts'
import { cpu, type Meter, type Probe, retained } from './cost/measure.ts'

const seconds = Number(process.env.WEFT_FUZZ_SECONDS ?? times(1, 4))
/** A search belongs to long runs, because it finds something else each time. */
const searchSeconds = times(0, seconds)

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
/** The libraries of the server are found from here. */
const bundle = join(root, `node_modules/.cache/weft-cost-${process.pid}`)

// From its sources, a process would take several times as long to start.
beforeAll(() =>
  build({
    entryPoints: [join(import.meta.dirname, 'cost', 'main.ts')],
    outdir: bundle,
    bundle: true,
    // A group loads its modules when it has started its meter.
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    define: { BUILD_FOLDER: JSON.stringify(buildFolders.test) },
    logLevel: 'warning',
  }),
)
afterAll(() => rm(bundle, { recursive: true, force: true, maxRetries: 20 }))

/** Runs a group in its own process, because CPU time and retained bytes belong to a process. */
async function resultOf(group: string): Promise<GroupResult> {
  const { stdout } = await run(
    process.execPath,
    [join(bundle, 'main.js'), group, String(seconds), String(searchSeconds), String(seed)],
    { maxBuffer: 2 ** 26 },
  )
  const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as GroupResult
  console.info(group, result.notes)
  return result
}

it.each([
  ['parsers', 'reads and integrates messages and updates in n·log n for every shape and order'],
  ['texts', 'reads headers, paths and members in n·log n for every text that a search finds'],
  ['sockets', 'handles every message of every protocol in n·log n'],
  ['pieces', 'reads few frames and chunks in one tick, and keeps them in little memory'],
  ['tools', 'parses and searches large documents on a thread'],
  ['rest', 'handles every operation in n·log n when one member is large'],
])(
  `[FUZZ-6] %s: %s (WEFT_FUZZ_SEED=${seed})`,
  async (group) => {
    expect((await resultOf(group)).findings).toEqual([])
  },
  600_000,
)

/** Work of order n, n·log n, or more. */
const planted: Readonly<Record<string, (n: number) => unknown>> = {
  linear: (n) => 'a'.repeat(n).split('').length,
  sorting: (n) => Array.from({ length: n }, (_, at) => (at * 7_919) % n).sort((a, b) => a - b),
  'quadratic expression': (n) => /=+$/.exec(`${'='.repeat(n)}a`),
  'quadratic loop': (n) => {
    const all: number[] = []
    for (let at = 0; at < n; at++) if (!all.includes(-at)) all.push(at)
    return all.length
  },
  'quadratic result': (n) => Array.from({ length: n / 8 }, () => new Float64Array(n / 8)),
}

const probeOf = (name: string): Probe => ({
  name,
  from: 500,
  to: 64_000,
  prepare: (n) => ({ size: n, run: () => planted[name]?.(n) }),
})

/** A finding needs several equal measurements in a row, which other work of the machine can prevent. */
async function isFound(name: string, meter: Meter): Promise<boolean> {
  for (let attempt = 0; attempt < 10; attempt++) if ((await judge(probeOf(name), meter)) !== null) return true
  return false
}

it('[FUZZ-6] reports planted functions whose work grows with n², and accepts functions whose work grows with n·log n', async () => {
  for (const name of ['linear', 'sorting']) {
    expect(await judge(probeOf(name), cpu)).toBeNull()
    expect(await judge(probeOf(name), retained)).toBeNull()
  }
  expect(await isFound('quadratic expression', cpu)).toBe(true)
  expect(await isFound('quadratic loop', cpu)).toBe(true)
  expect(await isFound('quadratic result', retained)).toBe(true)
}, 300_000)

it('[FUZZ-6] accepts costs that jump once, and reports costs that grow with n² or n³', async () => {
  const found = async (costs: readonly number[]): Promise<boolean> => {
    const meter: Meter = { ...cpu, cost: (run) => Promise.resolve(Number(run())) }
    const prepare = (n: number) => ({ size: n, run: () => costs[Math.log2(n)] })
    return (await judgeAt({ name: 'planted', from: 1, to: 4, prepare }, 1, meter)) !== null
  }
  expect(await found([3, 26, 73])).toBe(false)
  expect(await found([30, 60, 120])).toBe(false)
  expect(await found([10, 40, 160])).toBe(true)
  expect(await found([3, 24, 192])).toBe(true)
})

it('[FUZZ-6] the search finds a planted expensive text, and minimizing shortens a text to its expensive part', async () => {
  const found = await climb({
    random: new Random(1),
    seeds: ['a'],
    mutate: (text, _, random) => (text + random.pick(['a', 'b', 'c', 'd'])).slice(-6),
    cost: (text) => Promise.resolve(text.split('c').length - 1),
    goesOn: (tried) => tried < 2_000,
  })
  expect(found[0]?.genome).toBe('cccccc')
  const shorter = (text: string): string[] =>
    Array.from(text, (_, at) => text.slice(0, at) + text.slice(at + 1))
  expect(await minimize('abcdabc', shorter, (text) => Promise.resolve(text.includes('c')))).toBe('c')
})
