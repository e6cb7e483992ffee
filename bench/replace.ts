/**
 * Replaces the text of a document with successive revisions of a file. Compares the cost of several methods:
 * the bytes that are sent, the time, and the share of cursors that keep their place.
 *
 *   node --import tsx bench/replace.ts [--smoke]
 */
import * as Y from 'yjs'
import { measured } from './support/measure.ts'
import { contentKey, type Replacer, replacers } from './support/replacers.ts'
import { mean, median, percent, progress, quantile, round, table, thousands } from './support/report.ts'
import { generatedRevisions, readRevisions } from './support/revisions.ts'

const smoke = process.argv.includes('--smoke')
/** Number of revisions in one jump. */
const jumpLength = smoke ? 2 : 10
/** Distance between two observed cursors in characters. */
const cursorEvery = 7

const { source, contents } = readRevisions(smoke ? 6 : 1_000)

interface Results {
  readonly bytes: number[]
  readonly milliseconds: number[]
  /** Share of the cursors whose character still exists after each replacement. */
  readonly cursorsKept: number[]
}

function documentWith(text: string): Y.Doc {
  const author = new Y.Doc()
  author.getText(contentKey).insert(0, text)
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(author))
  return doc
}

function cursorsIn(doc: Y.Doc): Y.ID[] {
  const text = doc.getText(contentKey)
  const cursors = Array.from({ length: Math.floor(text.length / cursorEvery) }, (_, index) =>
    Y.createRelativePositionFromTypeIndex(text, index * cursorEvery),
  )
  return cursors.flatMap(({ item }) => (item === null ? [] : [item]))
}

function shareKept(doc: Y.Doc, cursors: readonly Y.ID[]): number {
  const kept = cursors.filter((cursor) => {
    const item = Y.getItem(doc.store, cursor)
    return item instanceof Y.Item && !item.deleted
  })
  return kept.length / cursors.length
}

/** Measures one replacement of `doc`, and checks the resulting text. */
function measure(doc: Y.Doc, replacer: Replacer, target: string, into: Results): void {
  const cursors = cursorsIn(doc)
  const { bytes, milliseconds } = measured(doc, () => replacer.replace(doc, target))
  into.milliseconds.push(milliseconds)
  into.bytes.push(bytes)
  into.cursorsKept.push(shareKept(doc, cursors))
  if (doc.getText(contentKey).toJSON() !== target) throw new Error(`${replacer.name} made another text`)
}

const nothing = (): Results => ({ bytes: [], milliseconds: [], cursorsKept: [] })

/** Replaces the text with one revision after the other in the same document, like a synchronized file. */
function successive(
  revisions: readonly string[],
  replacer: Replacer,
  at: (share: number) => void,
): Results & { stateBytes: number } {
  const results = nothing()
  const doc = documentWith(revisions[0] as string)
  for (const [index, target] of revisions.entries()) {
    if (index > 0) measure(doc, replacer, target, results)
    at(index / revisions.length)
  }
  return { ...results, stateBytes: Y.encodeStateAsUpdate(doc).length }
}

/**
 * Replaces each revision with the revision `jumpLength` later. Each replacement is made in a new document.
 */
function jumps(replacer: Replacer, at: (share: number) => void): Results {
  const results = nothing()
  for (let index = 0; index + jumpLength < contents.length; index++) {
    measure(
      documentWith(contents[index] as string),
      replacer,
      contents[index + jumpLength] as string,
      results,
    )
    at(index / contents.length)
  }
  return results
}

function withBar<T>(label: string, run: (at: (share: number) => void) => T): T {
  const bar = progress(label)
  const result = run((share) => bar.at(share))
  bar.end()
  return result
}

function compare(
  title: string,
  results: readonly { name: string; measured: Results; stateBytes?: number }[],
): void {
  const reference = mean((results[0] as { measured: Results }).measured.bytes)
  console.log(`\n${title}`)
  table(
    ['', 'bytes: mean', 'ratio', 'p95', 'max', 'ms: median', 'worst', 'cursors kept', 'least', 'state'],
    results.map(({ name, measured: { bytes, milliseconds, cursorsKept }, stateBytes }) => [
      name,
      thousands(mean(bytes)),
      `${round(mean(bytes) / reference)}x`,
      thousands(quantile(bytes, 0.95)),
      thousands(Math.max(...bytes)),
      round(median(milliseconds)),
      round(Math.max(...milliseconds), 1),
      percent(mean(cursorsKept)),
      percent(Math.min(...cursorsKept)),
      stateBytes === undefined ? '' : thousands(stateBytes),
    ]),
  )
}

console.log(
  `Text replacement over ${source}: ${contents.length} of ${thousands(contents.at(-1)?.length ?? 0)} characters`,
)
const large = generatedRevisions(smoke ? 3 : 60, 4_600).contents
for (const [title, revisions] of [
  ['One revision after the other, on one document', contents],
  [`The same, a generated document of ${thousands(large.at(-1)?.length ?? 0)} characters`, large],
] as const) {
  compare(
    title,
    replacers.map((replacer) => {
      const { stateBytes, ...results } = withBar(replacer.name, (at) => successive(revisions, replacer, at))
      return { name: replacer.name, measured: results, stateBytes }
    }),
  )
}
compare(
  `Jumps over ${jumpLength} revisions`,
  replacers.map((replacer) => ({
    name: replacer.name,
    measured: withBar(replacer.name, (at) => jumps(replacer, at)),
  })),
)

/** Text with a change before and after each third word, and its replacement. */
function scatteredChanges(): readonly [source: string, target: string] {
  const words = Array.from({ length: 3_000 }, (_, index) => (index % 3 === 1 ? 'quick' : `old${index}`))
  return [words.join(' '), words.map((word) => word.replace('old', 'new ')).join(' ')]
}

const [scattered, rewritten] = scatteredChanges()
compare(
  `Words that stay alone between changed words: a text of ${thousands(scattered.length)} characters`,
  replacers.map((replacer) => {
    const results = nothing()
    measure(documentWith(scattered), replacer, rewritten, results)
    return { name: replacer.name, measured: results }
  }),
)
