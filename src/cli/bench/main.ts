import { cpus } from 'node:os'
import { readPackageVersion } from '../../core/base/package-version.ts'
import { check } from './check.ts'
import type { ServerSpec } from './contender.ts'
import { htmlPage } from './html-report.ts'
import { fsyncMs, round } from './measure.ts'
import { aligned, BenchResults, type Measured } from './results.ts'
import type { Scale, Scenario } from './scenario.ts'
import { scenarios } from './scenarios/scenarios.ts'
import { startRun } from './start-run.ts'
import { weftSpec } from './weft-spec.ts'

export { scenarios, weftSpec }

/** Servers, scenarios and the load of a benchmark. */
export interface Benchmark {
  /** The others are compared with the first one. */
  readonly servers: readonly ServerSpec[]
  readonly scenarios: readonly Scenario[]
  readonly scale: Scale
  /** How often each scenario runs with each server, in turns. */
  readonly rounds: number
  /** Returns the servers to measure in a scenario; all by default. */
  readonly chosen?: (scenario: Scenario, able: readonly ServerSpec[]) => readonly ServerSpec[]
  readonly onProgress: (step: string, share: number) => void
  /** Called after each run with the results so far. */
  readonly onRun?: (report: BenchReport) => void
}

/** The result of a benchmark. */
export interface BenchReport {
  readonly version: string
  readonly date: string
  readonly node: string
  readonly cpu: string
  readonly cores: number
  /** Time of one disk sync on this machine in ms. */
  readonly fsync: { readonly p50: number; readonly p99: number }
  readonly rounds: number
  readonly seconds: number
  /** `smoke`: the loads were small, so the figures mean nothing. */
  readonly size: Scale['size']
  readonly servers: readonly { readonly name: string; readonly version: string; readonly protocol: string }[]
  readonly results: readonly Measured[]
}

const isAble = ({ needs }: Scenario, { keeps, start }: ServerSpec): boolean =>
  needs === 'url' || (keeps && (needs === 'store' || start !== undefined))

/**
 * Checks and measures servers, in turns. A server that fails the check is not measured. A failed run does not
 * end the benchmark.
 */
export async function runBenchmark(
  benchmark: Benchmark,
): Promise<{ report: BenchReport; results: BenchResults }> {
  const { servers, scale, rounds, chosen = (_, able) => able, onProgress, onRun } = benchmark
  const results = new BenchResults(servers.map(({ name }) => name))
  const machine = cpus()
  const base = {
    version: readPackageVersion(),
    date: new Date().toISOString(),
    node: process.version,
    cpu: machine[0]?.model.trim() ?? '',
    cores: machine.length,
    fsync: fsyncMs(),
    rounds,
    seconds: scale.seconds,
    size: scale.size,
    servers: servers.map(({ name, version = '', protocol }) => ({ name, version, protocol })),
  }
  const report = (): BenchReport => ({ ...base, results: results.all })
  const correct = new Set<ServerSpec>()
  const attempt = async (scenario: Scenario, server: ServerSpec): Promise<boolean> => {
    try {
      results.add(scenario, server.name, await startRun({ scenario: scenario.key, server, scale }))
      return true
    } catch (error) {
      results.fail(scenario, server.name, error instanceof Error ? error.message : String(error))
      return false
    } finally {
      onRun?.(report())
    }
  }
  for (const server of servers) {
    onProgress(`check ${server.name}`, 0)
    if (!server.keeps || (await attempt(check, server))) correct.add(server)
  }
  const runs = Array.from({ length: rounds }, () => benchmark.scenarios)
    .flat()
    .flatMap((scenario) => {
      const able = servers.filter((server) => correct.has(server) && isAble(scenario, server))
      return chosen(scenario, able).map((server) => ({ scenario, server }))
    })
  for (const [index, { scenario, server }] of runs.entries()) {
    onProgress(`${scenario.key}, ${server.name}`, index / runs.length)
    await attempt(scenario, server)
  }
  // A relay stores nothing, so it cannot keep anything.
  for (const scenario of benchmark.scenarios)
    for (const server of servers)
      if (correct.has(server) && server.keeps && !isAble(scenario, server))
        results.skip(scenario, server.name, 'the command that starts the server (--start)')
  return { report: report(), results }
}

/** Describes the machine and the software of a report in one line. */
const headlineOf = ({ version, node, cpu, cores, fsync, rounds, seconds, size, date }: BenchReport): string =>
  `weft bench ${version}, ${date.slice(0, 10)}, Node ${node}, ${cores} × ${cpu}, fsync ${round(fsync.p50)} ms (p50); ` +
  (size === 'full'
    ? `rounds: ${rounds} of ${seconds} s in turns, medians with the smallest and the largest value`
    : 'small loads, so the figures mean nothing')

/** Returns the names of the servers with their versions. */
const serversOf = ({ servers }: BenchReport): string =>
  servers.map(({ name, version, protocol }) => `${[name, version].join(' ').trim()} (${protocol})`).join(', ')

/** Returns the lines that a terminal shows. */
export function reportLines(report: BenchReport, results: BenchResults): readonly string[] {
  const tables = results
    .tables()
    .flatMap(({ measured, header, rows }) => [
      '',
      `${measured.name} (${measured.key})`,
      ...(header.length > 1 ? aligned(header, rows) : []),
      ...passedIn(measured),
      ...notesOf(measured),
    ])
  return [headlineOf(report), serversOf(report), ...tables]
}

/** Returns the servers that passed a scenario without figures, which is a check. */
function passedIn({ figures, runs, failures }: Measured): readonly string[] {
  const passed = Object.keys(runs).filter((name) => !(name in failures))
  return Object.keys(figures).length > 0 || passed.length === 0 ? [] : [`  passed: ${passed.join(', ')}`]
}

/** Returns the report as a page. */
export const pageOf = (report: BenchReport, results: BenchResults): string =>
  htmlPage(
    [headlineOf(report), serversOf(report)],
    results,
    report.servers.map(({ name }) => name),
    notesOf,
  )

/** Returns the failures of a scenario, the servers that lack what it needs, and the load of other processes if it was high. */
function notesOf({ failures, lacks, runs }: Measured): readonly string[] {
  const failed = Object.entries(failures).map(([name, reason]) => `  ${name} failed: ${reason}`)
  const skipped = Object.entries(lacks).map(([name, lack]) => `  ${name} is not measured: this needs ${lack}`)
  const busy = Object.entries(runs).flatMap(([name, all]) => {
    const cores = Math.max(
      0,
      ...all.map(({ usage }) => (usage.microseconds === undefined ? 0 : (usage.foreignCores ?? 0))),
    )
    return cores < foreignMax ? [] : [`  ${name}: other processes used up to ${round(cores, 1)} cores`]
  })
  return [...failed, ...skipped, ...busy]
}

/** Number of cores. A report states that other processes used more. */
const foreignMax = 0.2
