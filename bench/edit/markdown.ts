import { cpuMicroseconds } from '../../src/cli/bench/cpu.ts'
import { words } from '../support/contents.ts'
import { whileReplacing } from '../support/replacing.ts'
import { median, quantile, round, table, thousands } from '../support/report.ts'
import { type BenchServer, done } from '../support/server.ts'
import { type Pace, typistsAt } from '../support/typists.ts'

/** Returns Markdown of about `length` characters with the usual kinds of blocks. Its words are random. */
function markdownOf(length: number): string {
  const blocks: string[] = []
  for (let characters = 0; characters < length; characters += (blocks.at(-1) as string).length + 2)
    blocks.push(section(blocks.length))
  return blocks.join('\n\n')
}

const section = (index: number): string =>
  [
    `## ${words(3)}`,
    `${words(12)} **${words(2)}** ${words(8)} [${words(2)}](https://example.com/${index}), ${words(20)}.`,
    `- ${words(6)}\n- *${words(3)}* ${words(4)}\n  - \`${words(1)}\` ${words(5)}`,
    `${words(40)}.`,
    index % 5 === 0 ? `\`\`\`js\nconst ${words(1)} = 1\n\`\`\`` : `> ${words(15)}`,
  ].join('\n\n')

/** Returns the Markdown with a new word in every `step`th paragraph. */
const changed = (markdown: string, step: number): string =>
  markdown
    .split('\n\n')
    .map((block, index) => (index % step === 1 ? block.replace(' ', ` ${words(1)} `) : block))
    .join('\n\n')

/**
 * Measures how long it takes to write and read a large Markdown document, and how much typing in another document
 * slows down meanwhile. Prints two tables.
 */
export async function measureMarkdown(server: BenchServer, isSmoke: boolean): Promise<void> {
  const length = isSmoke ? 20_000 : 1_000_000
  const runs = isSmoke ? 1 : 5
  const pace: Pace = { perSecond: 100, seconds: isSmoke ? 1 : 10 }
  const first = markdownOf(length)
  const pid = server.process.pid as number
  const contents: readonly (readonly [string, string])[] = [
    ['one paragraph changed', changed(first, first.length)],
    ['one paragraph of 100 changed', changed(first, 100)],
  ]
  const rows = new Map<string, { readonly ms: number; readonly cpuMs: number }[]>()
  const timed = async (name: string, path: string, data: object): Promise<void> => {
    const [since, cpuBefore] = [performance.now(), cpuMicroseconds(pid)]
    await done(server, path, data)
    const ms = performance.now() - since
    const cpuMs = (cpuMicroseconds(pid) - cpuBefore) / 1000
    rows.set(name, [...(rows.get(name) ?? []), { ms, cpuMs }])
  }
  for (let run = 0; run < runs; run += 1) {
    const address = { organizationId: 'bench', documentId: `markdown-${run}`, editorId: 'main' }
    const write = (name: string, data: string) =>
      timed(name, '/v2/crdt/update', { ...address, type: 'markdown', data, upsert: true })
    await write('update: empty document', first)
    await timed('get', '/v2/crdt/get', { ...address, format: 'markdown' })
    for (const [name, data] of contents) {
      await write(`update: ${name}`, data)
    }
  }
  console.log(`\nMarkdown of ${thousands(first.length)} characters, ${runs} documents:`)
  table(
    ['', 'p50 ms', 'worst ms', 'CPU: p50 ms'],
    [...rows].map(([name, calls]) => {
      const times = calls.map(({ ms }) => ms)
      return [
        name,
        round(median(times), 0),
        round(Math.max(...times), 0),
        round(median(calls.map(({ cpuMs }) => cpuMs)), 0),
      ]
    }),
  )

  const phases = isSmoke ? 1 : 3
  const typists = await typistsAt(server, pace, 2 * phases)
  const alone: number[] = []
  const beside: number[] = []
  const order = {
    call: server.call,
    type: 'markdown',
    contents: [first, changed(first, 100)],
    isRead: true,
  } as const
  let rounds = 0
  // The phases alternate, so that other work on the machine affects both.
  for (let phase = 0; phase < phases; phase += 1) {
    alone.push(...(await typists.type()))
    const replaced = await whileReplacing(order, () => typists.type())
    beside.push(...replaced.result)
    rounds += replaced.rounds.length
  }
  const ratio = quantile(beside, 0.99) / quantile(alone, 0.99)
  console.log(
    `\ntyping in another document, ${pace.perSecond} keystrokes/s; ${rounds} rounds of update and get meanwhile:`,
  )
  const row = (name: string, times: readonly number[]): readonly string[] => [
    name,
    ...[0.5, 0.99, 1].map((share) => round(quantile(times, share), 1)),
  ]
  table(
    ['', 'p50 ms', 'p99 ms', 'worst ms'],
    [row('alone', alone), row('beside Markdown', beside), ['ratio of p99', '', round(ratio), '']],
  )
}
