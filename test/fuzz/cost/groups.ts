import { unlimited } from '../../../src/core/config/option-parsers.ts'
import { Random } from '../../support/data/random-doc.ts'
import { climb, minimize } from './climb.ts'
import { costOf, describeFinding, type Finding, judge, judgeAt } from './judge.ts'
import { cpu, type Meter, mainThread, type Probe, retained, startWorkMeter } from './measure.ts'

export interface GroupOptions {
  /** Time for known shapes that are tried while there is time. */
  readonly seconds: number
  /** Time for a search from the known shapes. It depends on measured times, so a seed does not repeat it. */
  readonly searchSeconds: number
  readonly seed: number
}

export interface GroupResult {
  /** Sentences about work that grows too fast, minimized. */
  readonly findings: readonly string[]
  /** Figures that show what was tried. */
  readonly notes: Readonly<Record<string, number>>
}

export type Group = (options: GroupOptions) => Promise<GroupResult>

/** Prints a finding at once, because the search may take long after findings. */
function reported(finding: Finding): string {
  const sentence = describeFinding(finding)
  process.stderr.write(`${sentence}\n`)
  return sentence
}

async function findingsOf(probes: readonly Probe[], meter: Meter, at?: number): Promise<string[]> {
  const findings: string[] = []
  for (const probe of probes) {
    const finding = at === undefined ? await judge(probe, meter) : await judgeAt(probe, at, meter)
    if (finding !== null) findings.push(reported(finding))
  }
  return findings
}

/** Readers of bytes: executed blocks and moves for all shapes, and CPU time and retained bytes if there is time. */
async function parsers({ seconds, seed }: GroupOptions): Promise<GroupResult> {
  const work = startWorkMeter()
  const { parserProbes } = await import('./parsers.ts')
  const findings = await findingsOf(parserProbes, work)
  const deadline = performance.now() + seconds * 1_000
  let timed = 0
  // In the order of the seed, because a short run has time for a few of them only.
  for (const probe of shuffled(parserProbes, new Random(seed))) {
    if (performance.now() > deadline) break
    timed += 1
    findings.push(...(await findingsOf([probe], cpu)), ...(await findingsOf([probe], retained)))
  }
  return { findings, notes: { probes: parserProbes.length, timed } }
}

/**
 * CPU time in ms from which a text of `climbedLength` characters is suspicious: linear readers take under
 * 0.5.
 */
const suspectMs = 1.5
const climbedLength = 2_000

/** Readers of text: the known shapes, then a search from them. */
async function texts({ searchSeconds, seed }: GroupOptions): Promise<GroupResult> {
  const { hostileTexts, mutateText, readQuietly, simplerTexts, textProbe, textReaders } = await import(
    './texts.ts'
  )
  const { textOf } = await import('../../support/faults/hostile-messages.ts')
  const random = new Random(seed)
  const findings: string[] = []
  let tried = 0
  const deadline = performance.now() + searchSeconds * 1_000
  for (const [index, reader] of textReaders.entries()) {
    const own = performance.now() + (deadline - performance.now()) / (textReaders.length - index)
    const length = Math.min(climbedLength, reader.lengthMax)
    const found = await climb({
      random,
      seeds: hostileTexts,
      mutate: mutateText,
      cost: (shape) => {
        const text = textOf(shape, length)
        return cpu.cost(() => readQuietly(reader, text))
      },
      goesOn: (count) => {
        tried += 1
        return count < hostileTexts.length || performance.now() < own
      },
    })
    const fails = async (shape: (typeof hostileTexts)[number]): Promise<boolean> =>
      (await judge(textProbe(reader, shape), cpu)) !== null
    for (const { genome, cost } of found) {
      if (cost < suspectMs || !(await fails(genome))) continue
      const least = await minimize(genome, simplerTexts, fails)
      const finding = await judge(textProbe(reader, least), cpu)
      if (finding !== null) findings.push(reported(finding))
      break
    }
  }
  return { findings, notes: { readers: textReaders.length, tried } }
}

/** Items of each writer in the search for a plan, and the smallest size at which growth is judged. */
const plannedItems = 1_000
const judgedItems = 1_000

/**
 * Updates, vectors and awareness messages over real sockets: the known shapes, then a search for plans of updates if it
 * has time.
 */
async function sockets({ seconds, searchSeconds, seed }: GroupOptions): Promise<GroupResult> {
  const { startTestServer } = await import('../../support/servers/server.ts')
  const { planProbe, socketProbes } = await import('./sockets.ts')
  const { mutatePlan, randomPlan, simplerPlans, updatesOf } = await import(
    '../../support/data/update-plans.ts'
  )
  const { adminToken } = await import('../../support/servers/tenants.ts')
  const server = await startTestServer({
    adminToken,
    idleUnloadSeconds: 0,
    newDocumentsPerWorkspace: unlimited,
  })
  const random = new Random(seed)
  const sampled = Math.ceil(seconds / 4)
  const probes = socketProbes(server, (names) => Array.from({ length: sampled }, () => random.pick(names)))
  const findings = await findingsOf(probes, mainThread, judgedItems)
  const deadline = performance.now() + searchSeconds * 1_000
  let tried = 0
  const plans = Array.from({ length: searchSeconds > 0 ? 12 : 0 }, () => randomPlan(random))
  const found = await climb({
    random,
    seeds: plans,
    mutate: mutatePlan,
    cost: async (plan) => {
      tried += 1
      const { run } = await planProbe(server, plan).prepare(plannedItems)
      return cpu.cost(run)
    },
    goesOn: (count) => count < plans.length || performance.now() < deadline,
  })
  // Judging an expensive plan can take more than a minute, because the server makes the workspace wait after
  // expensive changes. So no plan is judged after this time.
  const judgedUntil = performance.now() + 60_000
  const fails = async (plan: Parameters<typeof updatesOf>[0]): Promise<boolean> =>
    performance.now() < judgedUntil &&
    (await judgeAt(planProbe(server, plan), judgedItems, mainThread)) !== null
  for (const { genome } of found) {
    if (!(await fails(genome))) continue
    const least = await minimize(genome, simplerPlans, fails)
    const finding = await judgeAt(planProbe(server, least), judgedItems, mainThread)
    if (finding !== null) findings.push(reported(finding))
    break
  }
  await server.stop()
  return { findings, notes: { probes: probes.length, tried, worst: Math.round(found[0]?.cost ?? 0) } }
}

/** Number of pieces of one byte whose memory is measured, and the most bytes that they may take: 100 for each piece. */
const keptCount = 30_000
const keptBytesMax = 100 * keptCount

/** Input in small pieces: the bytes of one tick of the event loop, and the memory of pieces that wait for the last one. */
async function pieces({ seconds, searchSeconds, seed }: GroupOptions): Promise<GroupResult> {
  const { startTestServer } = await import('../../support/servers/server.ts')
  const { excessOf, keptPieces, keptSources, mutatePiecePlan, plainPiecePlans, randomPiecePlan } =
    await import('./pieces.ts')
  const server = await startTestServer({
    receiveBytesPerWorkspace: unlimited,
    webhookAllowlist: ['127.0.0.1'],
  })
  const random = new Random(seed)
  const seeds = [...plainPiecePlans, ...Array.from({ length: 4 * seconds }, () => randomPiecePlan(random))]
  const deadline = performance.now() + searchSeconds * 1_000
  let tried = 0
  const found = await climb({
    random,
    seeds,
    mutate: mutatePiecePlan,
    cost: (plan) => {
      tried += 1
      return excessOf(server, plan)
    },
    goesOn: (count) => count < seeds.length || performance.now() < deadline,
  })
  const findings = found
    .filter(({ cost }) => cost > 1)
    .map(({ genome, cost }) => `${JSON.stringify(genome)}: ${cost} of the bytes of a tick`)
  for (const source of keptSources) {
    const { run } = await keptPieces(server, source, keptCount)
    const bytes = await retained.cost(run)
    if (bytes > keptBytesMax)
      findings.push(`${source}: ${keptCount} bytes in pieces of one take ${bytes} bytes`)
  }
  await server.stop()
  return { findings, notes: { tried, worst: found[0]?.cost ?? 0 } }
}

/** Maximum work of the event loop for each further character of a document. To copy it several times takes less. */
const loopWorkPerCharacter = 0.25

/** Calls of tools about large documents, which threads must parse and search. */
async function tools(): Promise<GroupResult> {
  const work = startWorkMeter()
  const { startTestServer } = await import('../../support/servers/server.ts')
  const { toolProbes } = await import('./tools.ts')
  const server = await startTestServer({ callsPerAgent: unlimited })
  const findings: string[] = []
  let worst = 0
  for (const probe of await toolProbes(server)) {
    const [small, large] = [await costOf(probe, probe.from, work), await costOf(probe, probe.to, work)]
    worst = Math.max(worst, large)
    if (large - small <= (probe.to - probe.from) * loopWorkPerCharacter) continue
    findings.push(`${probe.name}: n=${probe.from} ${small}, n=${probe.to} ${large} ${work.unit}`)
  }
  await server.stop()
  return { findings, notes: { worst } }
}

const shuffled = <T>(values: readonly T[], random: Random): readonly T[] =>
  values
    .map((value) => ({ value, at: random.below(2 ** 30) }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)

/** REST operations with one enlarged member at a time, replacements of content, and lengths of responses. */
async function rest({ seconds, seed }: GroupOptions): Promise<GroupResult> {
  const { makeWorld, startExampleServer } = await import('../../support/data/openapi-example-data.ts')
  const { blownLength, operationProbes, replacementProbes, responseLength, responseProbes, smallResponse } =
    await import('./operations.ts')
  const example = await startExampleServer({ maxResponseBytes: 1_048_576 })
  await makeWorld(example.server, '')
  const random = new Random(seed)
  const small = blownLength / 4
  const probes = operationProbes(example, random)
  const replacements = shuffled(replacementProbes(example), random)
  const responses = responseProbes(example)
  const findings = [
    ...(await findingsOf(responses, responseLength, smallResponse)),
    ...(await findingsOf(replacements.slice(0, Math.ceil(seconds)), mainThread, small)),
  ]
  const deadline = performance.now() + seconds * 1_000
  let tried = 0
  for (const probe of shuffled(probes, random)) {
    if (performance.now() > deadline) break
    findings.push(...(await findingsOf([probe], mainThread, small)))
    tried += 1
  }
  await example.server.stop()
  return { findings, notes: { members: probes.length, tried, replacements: replacements.length } }
}

/** The groups by their names. */
export const groups: ReadonlyMap<string, () => Promise<Group>> = new Map<string, () => Promise<Group>>([
  ['parsers', () => Promise.resolve(parsers)],
  ['texts', () => Promise.resolve(texts)],
  ['sockets', () => Promise.resolve(sockets)],
  ['pieces', () => Promise.resolve(pieces)],
  ['tools', () => Promise.resolve(tools)],
  ['rest', () => Promise.resolve(rest)],
])
