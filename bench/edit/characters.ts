import * as Y from 'yjs'
import { ApiError } from '../../src/core/base/errors.ts'
import { applyEdits } from '../../src/core/content/edit/apply-edits.ts'
import { checkEdits, type EditRequest } from '../../src/core/content/edit/check-edits.ts'
import { readRootAs } from '../../src/core/content/read-document.ts'
import { replaceContent } from '../../src/core/content/replace.ts'
import { mean, median, percent, table, thousands } from '../support/report.ts'
import { readRevisions } from '../support/revisions.ts'
import { agentEdits } from './agent-edits.ts'

const contentKey = 'default'

const writeMarkdown = (doc: Y.Doc, data: string): void => {
  replaceContent(doc, { type: 'markdown', contentKey, data })
}
const shown = (doc: Y.Doc, format: string): string => String(readRootAs(doc, format, contentKey).data)
const docOf = (state: Uint8Array): Y.Doc => {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, state)
  return doc
}
const characters = (data: unknown): number => JSON.stringify(data).length

/** Returns whether a document has the expected Markdown after the edits. */
function isApplied(doc: Y.Doc, edits: readonly EditRequest[], expected: string): boolean {
  try {
    applyEdits(doc, contentKey, checkEdits(edits), { given: contentKey, merged: false, schema: null })
    return shown(doc, 'markdown') === expected
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** A method by which an agent changes a document. Each value belongs to one revision. */
interface Method {
  readonly name: string
  readonly read: number[]
  readonly sent: number[]
  readonly bytes: number[]
}

const method = (name: string): Method => ({ name, read: [], sent: [], bytes: [] })

/**
 * Changes a document to each revision of a README in turn. Counts the characters that an agent reads and sends,
 * if it sends small edits, the whole Markdown or the whole XML. All of them are characters of JSON. The edits of a
 * revision must have the same result as the whole Markdown. Otherwise, the whole Markdown counts.
 */
export function measureCharacters(isSmoke: boolean): void {
  const { source, contents } = readRevisions(isSmoke ? 4 : 1_000)
  const [edit, markdown, xml] = [method('edits'), method('whole Markdown'), method('whole XML')]
  const doc = new Y.Doc()
  writeMarkdown(doc, contents[0] as string)
  let edited = 0
  for (const content of contents.slice(1)) {
    const state = Y.encodeStateAsUpdate(doc)
    const vector = Y.encodeStateVector(doc)
    const [before, xmlBefore] = [shown(doc, 'markdown'), shown(doc, 'xml')]
    writeMarkdown(doc, content)
    const [after, xmlAfter] = [shown(doc, 'markdown'), shown(doc, 'xml')]
    if (after === before) continue
    const [editDoc, xmlDoc] = [docOf(state), docOf(state)]
    const edits = agentEdits(before, after)
    const isEdited = isApplied(editDoc, edits, after)
    replaceContent(xmlDoc, { type: 'xml', contentKey, data: xmlAfter })
    if (isEdited) edited += 1
    const add = ({ read, sent, bytes }: Method, from: string, data: unknown, result: Y.Doc): void => {
      read.push(characters(from))
      sent.push(characters(data))
      bytes.push(Y.encodeStateAsUpdate(result, vector).length)
    }
    add(edit, before, isEdited ? edits : after, isEdited ? editDoc : doc)
    add(markdown, before, after, doc)
    add(xml, xmlBefore, xmlAfter, xmlDoc)
  }
  const count = edit.sent.length
  console.log(
    `\n${count} ${source} of ${thousands(contents.at(-1)?.length ?? 0)} characters, ${edited} of them as edits; characters for each revision:`,
  )
  const all = mean(xml.read) + mean(xml.sent)
  table(
    ['', 'read: mean', 'sent: mean', 'sent: p50', 'sent: of whole XML', 'both: of whole XML', 'bytes: mean'],
    [edit, markdown, xml].map(({ name, read, sent, bytes }) => [
      name,
      thousands(mean(read)),
      thousands(mean(sent)),
      thousands(median(sent)),
      percent(mean(sent) / mean(xml.sent), 1),
      percent((mean(read) + mean(sent)) / all, 1),
      thousands(mean(bytes)),
    ]),
  )
}
