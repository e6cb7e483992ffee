/**
 * Replaces maps and arrays of nested shared types with successive revisions. Compares the cost of several
 * methods: the bytes that are sent, the time, and the share of the shared values that stay.
 *
 *   node --import tsx bench/replace-json.ts [--smoke]
 */
import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import type { Json } from '../src/core/content/json/json.ts'
import { readArrayRoot, readMapRoot } from '../src/core/content/values/replace-values.ts'
import { type JsonHistory, jsonHistories } from './support/json-histories.ts'
import { contentKey, fresh, type JsonReplacer, jsonReplacers } from './support/json-replacers.ts'
import { measured } from './support/measure.ts'
import { mean, median, percent, progress, quantile, round, table, thousands } from './support/report.ts'

const smoke = process.argv.includes('--smoke')
const histories = jsonHistories(smoke ? 3 : 120, smoke ? 50 : 1_500)

interface Results {
  readonly bytes: number[]
  readonly milliseconds: number[]
  /** Share of the shared values that still exist after each replacement. */
  readonly kept: number[]
}

/** Returns the items that contain shared values, at any depth. */
function sharedItems(type: Pick<Y.AbstractType<unknown>, '_start' | '_map'>, found: Y.Item[] = []): Y.Item[] {
  const visit = (item: Y.Item): void => {
    if (item.deleted || !(item.content instanceof Y.ContentType)) return
    found.push(item)
    sharedItems(item.content.type, found)
  }
  for (let item = type._start; item !== null; item = item.right) visit(item)
  for (const item of type._map.values()) visit(item)
  return found
}

const read = (doc: Y.Doc, target: Json): Json =>
  Array.isArray(target) ? readArrayRoot(doc, contentKey) : readMapRoot(doc, contentKey)

function measure(doc: Y.Doc, replacer: JsonReplacer, target: Json, into: Results): void {
  const items = sharedItems(doc.get(contentKey))
  const { bytes, milliseconds } = measured(doc, () => replacer.replace(doc, target))
  into.milliseconds.push(milliseconds)
  into.bytes.push(bytes)
  into.kept.push(items.length === 0 ? 1 : items.filter(({ deleted }) => !deleted).length / items.length)
  if (!isDeepStrictEqual(read(doc, target), target)) throw new Error(`${replacer.name} made another value`)
}

function successive({ contents, name }: JsonHistory, replacer: JsonReplacer): readonly string[] {
  const results: Results = { bytes: [], milliseconds: [], kept: [] }
  const bar = progress(`${name}: ${replacer.name}`)
  const doc = fresh(contents[0] as Json)
  for (const [index, target] of contents.entries()) {
    if (index > 0) measure(doc, replacer, target, results)
    bar.at(index / contents.length)
  }
  bar.end()
  const { bytes, milliseconds, kept } = results
  return [
    replacer.name,
    thousands(mean(bytes)),
    thousands(quantile(bytes, 0.95)),
    thousands(Math.max(...bytes)),
    thousands(bytes.reduce((sum, value) => sum + value, 0)),
    round(median(milliseconds)),
    round(Math.max(...milliseconds), 1),
    percent(mean(kept)),
    thousands(Y.encodeStateAsUpdate(doc).length),
  ]
}

for (const history of histories) {
  console.log(
    `\n${history.name}: ${history.contents.length} revisions, the last of ${thousands(JSON.stringify(history.contents.at(-1)).length)} characters`,
  )
  table(
    ['', 'bytes: mean', 'p95', 'max', 'total', 'ms: median', 'worst', 'values kept', 'state'],
    jsonReplacers.map((replacer) => successive(history, replacer)),
  )
}
