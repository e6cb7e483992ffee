/**
 * Measures a document after 500 replacements. The contents are a recorded history, forwards and backwards.
 * Measures the bytes that were sent, the size of the state, and the share of the first content that keeps its
 * identity.
 *
 *   node --import tsx bench/replace-growth.ts [--smoke]
 */
import * as Y from 'yjs'
import { loaded } from './support/heavy/case.ts'
import { jsonHistories } from './support/json-histories.ts'
import { fresh as freshJson, jsonReplacers } from './support/json-replacers.ts'
import { measured, shareKept, stretchesIn } from './support/measure.ts'
import { contentKey, replacers } from './support/replacers.ts'
import { mean, percent, progress, table, thousands } from './support/report.ts'
import { readRevisions } from './support/revisions.ts'
import { fresh as freshXml, xmlReplacers } from './support/xml-replacers.ts'
import { readXmlRevisions } from './support/xml-revisions.ts'

const smoke = process.argv.includes('--smoke')
const replacements = smoke ? 5 : 500

/** A method to change a document to the next content, with one function for each step. */
interface Method {
  readonly name: string
  readonly steps: readonly ((doc: Y.Doc) => void)[]
}

function grown({ name, steps }: Method, doc: Y.Doc): readonly string[] {
  const bar = progress(name)
  const first = stretchesIn(doc.get(contentKey))
  const sent: number[] = []
  for (let done = 0, index = 0, by = 1; done < replacements; done++) {
    if (index + by < 0 || index + by >= steps.length) by = -by
    index += by
    sent.push(measured(doc, () => steps[index]?.(doc)).bytes)
    bar.at(done / replacements)
  }
  bar.end()
  return [
    name,
    thousands(mean(sent)),
    thousands(Y.encodeStateAsUpdate(doc).length),
    percent(shareKept(doc, first)),
  ]
}

function compare(title: string, make: () => Y.Doc, methods: readonly Method[]): void {
  const start = thousands(Y.encodeStateAsUpdate(make()).length)
  console.log(`\n${title}: ${replacements} replacements, a state of ${start} bytes at first`)
  table(
    ['', 'bytes: mean', 'state', 'still the same'],
    methods.map((method) => grown(method, make())),
  )
}

const texts = readRevisions(smoke ? 3 : 1_000)
compare(
  `text, ${texts.source}`,
  () => loaded((author) => author.getText(contentKey).insert(0, texts.contents[0] as string)),
  replacers.map((replacer) => ({
    name: replacer.name,
    steps: texts.contents.map((target) => (doc: Y.Doc) => replacer.replace(doc, target)),
  })),
)

const [json] = jsonHistories(smoke ? 3 : 120, 50)
if (json !== undefined) {
  compare(
    `${json.type}, ${json.name}`,
    () => freshJson(json.contents[0] ?? null),
    jsonReplacers.map((replacer) => ({
      name: replacer.name,
      steps: json.contents.map((target) => (doc: Y.Doc) => replacer.replace(doc, target)),
    })),
  )
}

const xml = readXmlRevisions(smoke ? 3 : 1_000)
compare(
  `xml, ${xml.source}`,
  () => freshXml(xml.contents[0] as string),
  xmlReplacers.map((replacer) => ({
    name: replacer.name,
    steps: xml.contents.map((target) => replacer.prepare(target)),
  })),
)
