/**
 * Measures expensive replacements for each type of content: the time to replace and to read, the bytes that
 * are sent, and the share of the content that stays. For comparison, also measures how long Yjs needs to
 * apply the same update at another client, and how long a library needs. The libraries are fast-diff for
 * text, and updateYFragment of y-prosemirror for XML.
 *
 *   node --import tsx bench/replace-worst.ts [--smoke] [type, or type and start of the name of a case]
 */
import * as Y from 'yjs'
import { contentTypes } from '../src/core/content/content-types.ts'
import { replaceContent } from '../src/core/content/replace.ts'
import { contentKey, type HeavyCase } from './support/heavy/case.ts'
import { heavyGroups } from './support/heavy/cases.ts'
import { libraryRun, libraryTime } from './support/heavy/library.ts'
import { measured, shareKept, stretchesIn } from './support/measure.ts'
import { percent, round, table, thousands } from './support/report.ts'

const smoke = process.argv.includes('--smoke')
const times = smoke ? 1 : 3
const only = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? ''

interface Outcome {
  readonly replace: number
  readonly read: number
  readonly peer: number
  readonly bytes: number
  readonly kept: number
}

const timed = (run: () => unknown): number => {
  const start = performance.now()
  run()
  return performance.now() - start
}

function once({ type, before, data }: HeavyCase): Outcome {
  const doc = before()
  const peer = new Y.Doc()
  Y.applyUpdate(peer, Y.encodeStateAsUpdate(doc))
  const stretches = stretchesIn(doc.get(contentKey))
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  const { milliseconds, bytes } = measured(doc, () => replaceContent(doc, { type, contentKey, data }))
  return {
    replace: milliseconds,
    bytes,
    kept: shareKept(doc, stretches),
    read: timed(() => contentTypes[type]?.read(doc, contentKey)),
    peer: timed(() => {
      for (const update of updates) Y.applyUpdate(peer, update)
    }),
  }
}

function row(heavy: HeavyCase): string[] {
  const outcomes = Array.from({ length: times }, () => once(heavy))
  const worst = (of: keyof Outcome): number => Math.max(...outcomes.map((outcome) => outcome[of]))
  return [
    heavy.name,
    round(worst('replace'), 0),
    round(worst('peer'), 0),
    round(worst('read'), 0),
    thousands(worst('bytes')),
    percent(worst('kept'), 1),
    heavy.keeps === undefined ? '' : percent(heavy.keeps, 1),
  ]
}

const header = ['', 'ms', 'ms at a peer', 'ms to read', 'bytes', 'kept', 'could be kept']

function show(title: string, cases: readonly HeavyCase[]): void {
  console.log(`\n${title}`)
  const flags = smoke ? ['--smoke'] : []
  const besides = smoke ? 1 : cases.length
  const rows = cases.map((heavy, index) => [
    ...row(heavy),
    index < besides ? libraryTime(heavy, import.meta.filename, flags, smoke ? 2 : 10) : '',
  ])
  table([...header, 'library: ms'], rows)
}

for (const { title, types, cases } of heavyGroups(smoke)) {
  if (only !== '' && !types.some((type) => only.startsWith(type))) continue
  const chosen = cases().filter(({ type, name }) => `${type} ${name}`.startsWith(only))
  if (process.argv.includes('--library')) console.log(libraryRun(chosen[0] as HeavyCase))
  else show(title, chosen)
}
