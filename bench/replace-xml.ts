/**
 * Replaces the XML of a document with successive revisions. Compares the cost of several methods: the bytes
 * that are sent, the time, and the share of elements and characters that stay.
 *
 *   node --import tsx bench/replace-xml.ts [--smoke]
 */
import * as Y from 'yjs'
import { serializeXml } from '../src/core/content/xml/serialize.ts'
import { measured } from './support/measure.ts'
import { mean, median, percent, progress, quantile, round, table, thousands } from './support/report.ts'
import { contentKey, fresh, type XmlReplacer, xmlReplacers } from './support/xml-replacers.ts'
import { readXmlRevisions } from './support/xml-revisions.ts'

const smoke = process.argv.includes('--smoke')
const { source, contents } = readXmlRevisions(smoke ? 3 : 1_000)

interface Results {
  readonly bytes: number[]
  readonly milliseconds: number[]
  /**
   * Share of the elements and texts that still exist after each replacement. `charactersKept` is the share of
   * the characters.
   */
  readonly nodesKept: number[]
  readonly charactersKept: number[]
}

interface Items {
  readonly nodes: Y.ID[]
  readonly characters: Y.ID[]
}

/** Returns the ids of all elements and texts, and of every tenth character. */
function itemsIn(
  type: { readonly _start: Y.Item | null },
  found: Items = { nodes: [], characters: [] },
): Items {
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted) continue
    if (item.content instanceof Y.ContentType) {
      found.nodes.push(item.id)
      itemsIn(item.content.type, found)
    } else if (item.content instanceof Y.ContentString) {
      for (let offset = 0; offset < item.length; offset += 10)
        found.characters.push(Y.createID(item.id.client, item.id.clock + offset))
    }
  }
  return found
}

function shareKept(doc: Y.Doc, ids: readonly Y.ID[]): number {
  const kept = ids.filter((id) => {
    const item = Y.getItem(doc.store, id)
    return item instanceof Y.Item && !item.deleted
  })
  return ids.length === 0 ? 1 : kept.length / ids.length
}

function measure(doc: Y.Doc, replacer: XmlReplacer, target: string, into: Results): void {
  const replace = replacer.prepare(target)
  const items = itemsIn(doc.get(contentKey))
  const { bytes, milliseconds } = measured(doc, () => replace(doc))
  into.milliseconds.push(milliseconds)
  into.bytes.push(bytes)
  into.nodesKept.push(shareKept(doc, items.nodes))
  into.charactersKept.push(shareKept(doc, items.characters))
  if (serializeXml(doc, contentKey) !== serializeXml(fresh(target), contentKey))
    throw new Error(`${replacer.name} made other content`)
}

const nothing = (): Results => ({ bytes: [], milliseconds: [], nodesKept: [], charactersKept: [] })

function successive(replacer: XmlReplacer): Results & { stateBytes: number } {
  const bar = progress(replacer.name)
  const results = nothing()
  const doc = fresh(contents[0] as string)
  for (const [index, target] of contents.entries()) {
    if (index > 0) measure(doc, replacer, target, results)
    bar.at(index / contents.length)
  }
  bar.end()
  return { ...results, stateBytes: Y.encodeStateAsUpdate(doc).length }
}

console.log(
  `XML replacement over ${source}: ${contents.length} of ${thousands(contents.at(-1)?.length ?? 0)} characters`,
)
const results = xmlReplacers.map((replacer) => ({ name: replacer.name, ...successive(replacer) }))
const reference = mean((results[0] as Results).bytes)
table(
  ['', 'bytes: mean', 'ratio', 'p95', 'max', 'ms: median', 'worst', 'nodes kept', 'characters kept', 'state'],
  results.map(({ name, bytes, milliseconds, nodesKept, charactersKept, stateBytes }) => [
    name,
    thousands(mean(bytes)),
    `${round(mean(bytes) / reference)}x`,
    thousands(quantile(bytes, 0.95)),
    thousands(Math.max(...bytes)),
    round(median(milliseconds)),
    round(Math.max(...milliseconds), 1),
    percent(mean(nodesKept)),
    percent(mean(charactersKept)),
    thousands(stateBytes),
  ]),
)
