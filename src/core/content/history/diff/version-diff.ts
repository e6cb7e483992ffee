import { invalid } from '../../../base/errors.ts'
import { type EncodedJson, encodeJson } from '../../../model/json-pieces.ts'
import type { DiffFormat } from '../../content-type-names.ts'
import { diffTokens } from '../../diff/diff.ts'
import type { DiffBudget } from '../../diff/myers.ts'
import { isArray, isObject, type Json, JsonInterner, type JsonObject, setMember } from '../../json/json.ts'
import { formatPointer } from '../../json/pointer.ts'
import { Output } from '../../output.ts'
import { findRoot, readRootAs } from '../../read-document.ts'
import { requireRoot } from '../../roots.ts'
import type { DocumentHistory } from '../document-history.ts'
import { formOfRoot, VersionValues } from '../version-values.ts'
import { readDiffRuns } from './diff-runs.ts'
import { type ChangeMarking, copyMerged, type PartChange } from './merged-copy.ts'

/** Selects one comparison. */
export interface DiffReading {
  /** Name of the root, as for `readRoot`. */
  readonly contentKey?: string | undefined
  readonly format: DiffFormat
}

/** The comparison of a root, in the format of the reading. */
interface VersionDiff {
  readonly contentKey: string
  readonly diff: EncodedJson
}

/**
 * Compares the two versions of a history. Takes linear time, except for arrays in the format `patch`; see `diffJson`.
 * @param bytesMax limit of the encoded comparison
 * @throws ApiError INVALID_ARGUMENT if the root has no such format; NOT_FOUND if the root does not exist;
 * RESOURCE_EXHAUSTED as for `Output`
 */
export function readVersionDiff(
  history: DocumentHistory,
  reading: DiffReading,
  bytesMax: number,
): VersionDiff {
  const { doc } = history
  const { contentKey } = findRoot(doc, reading.contentKey)
  requireRoot(doc, contentKey, reading.contentKey)
  const output = new Output(bytesMax)
  const diff = compare(history, contentKey, reading.format, { output, bytesMax })
  return { contentKey, diff: encodeJson(diff, bytesMax) }
}

interface Limits {
  readonly output: Output
  readonly bytesMax: number
}

function compare(
  history: DocumentHistory,
  contentKey: string,
  format: DiffFormat,
  { output, bytesMax }: Limits,
): unknown {
  const form = formOfRoot(history.doc, contentKey)
  const isData = form === 'map' || form === 'array'
  if (format === 'runs') return readDiffRuns(history, contentKey, bytesMax, output)
  if (format === 'patch') {
    if (!isData) throw wrongFormat(contentKey, format, 'a map or an array')
    return comparePatch(history, contentKey, form, { output, bytesMax })
  }
  if (format === 'markdown') {
    if (isData) throw wrongFormat(contentKey, format, 'text')
    return compareMarkdown(history, contentKey, output)
  }
  if (form !== 'xml') throw wrongFormat(contentKey, format, 'XML')
  return compareProseMirror(history, contentKey, output)
}

const wrongFormat = (contentKey: string, format: DiffFormat, wanted: string) =>
  invalid(
    'crdt/root-kind-mismatch',
    `the format "${format}" is for ${wanted}, not for the content at contentKey ${JSON.stringify(contentKey)}; request "runs"`,
  )

function comparePatch(
  history: DocumentHistory,
  contentKey: string,
  form: 'map' | 'array',
  { output, bytesMax }: Limits,
): unknown {
  const root = history.doc.share.get(contentKey)
  if (root === undefined) return []
  const [before, after] = (['from', 'to'] as const).map((version) => {
    const values = new VersionValues(history, version, bytesMax)
    const value = values.ofRoot(root, form)
    // Counting beyond the limit throws the error of a response that is too large.
    if (values.isCut) output.count(bytesMax + 1)
    return value
  }) as [Json, Json]
  return diffJson(before, after)
}

/** Names of the marks of ProseMirror for changed content. */
const markNames = { insert: 'insertion', delete: 'deletion' } as const

const markOf = (change: PartChange): string | null => (change === 'none' ? null : markNames[change])

/** Name of the attribute that shows the change of an element until it is converted to a mark. */
const changeAttribute = 'weft-change'

const proseMirrorMarking: ChangeMarking = {
  text: (text) => text,
  format: (change) => {
    const mark = markOf(change)
    return mark === null ? {} : { [mark]: {} }
  },
  attributes: (change) => {
    const mark = markOf(change)
    return mark === null ? {} : { [changeAttribute]: mark }
  },
}

function compareProseMirror(history: DocumentHistory, contentKey: string, output: Output): Json {
  const doc = copyMerged(history, contentKey, proseMirrorMarking)
  try {
    return withNodeMarks(readRootAs(doc, 'prosemirror', contentKey, output).data as Json)
  } finally {
    doc.destroy()
  }
}

/** Converts the attributes `changeAttribute` of nodes to marks. */
function withNodeMarks(json: Json): Json {
  if (!isObject(json)) return json
  const node: Record<string, Json> = {}
  for (const [name, value] of Object.entries(json))
    if (name === 'content' && isArray(value)) node.content = value.map(withNodeMarks)
    else if (name !== 'attrs' || !isObject(value)) setMember(node, name, value)
    else {
      const { [changeAttribute]: mark, ...attrs } = value
      if (Object.keys(attrs).length > 0) node.attrs = attrs
      if (mark !== undefined) node.marks = [{ type: mark }]
    }
  return node
}

/**
 * Characters around changed text, which the writer of Markdown copies like letters. They are not characters of Unicode
 * text, so they are removed from the content before.
 */
const borders = { insert: ['\uFDD0', '\uFDD1'], delete: ['\uFDD2', '\uFDD3'] } as const
const anyBorder = /[\uFDD0-\uFDD3]/gu
const tags: Readonly<Record<string, string>> = {
  '\uFDD0': '<ins>',
  '\uFDD1': '</ins>',
  '\uFDD2': '<del>',
  '\uFDD3': '</del>',
}

const markdownMarking: ChangeMarking = {
  text(text, change) {
    const clean = text.replaceAll(anyBorder, '')
    if (change === 'none') return clean
    const [start, end] = borders[change]
    // A mark that contains a line break would span two blocks.
    return clean.replaceAll(/[^\n]+/g, (line) => start + line + end)
  },
  format: () => ({}),
  attributes: () => ({}),
}

function compareMarkdown(history: DocumentHistory, contentKey: string, output: Output): string {
  const doc = copyMerged(history, contentKey, markdownMarking)
  try {
    const markdown = readRootAs(doc, 'markdown', contentKey, output).data as string
    return markdown
      .replaceAll(/\uFDD1\uFDD0|\uFDD3\uFDD2/gu, '')
      .replaceAll(anyBorder, (border) => tags[border] ?? '')
  } finally {
    doc.destroy()
  }
}

/** An operation of JSON Patch (RFC 6902). */
export type JsonPatchStep =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }

/** Maximum number of steps of the comparison of arrays. If more steps would be needed, whole ranges are replaced. */
const stepsMax = 2_000_000

/** Returns the operations that convert `before` to `after`. Takes linear time, and at most `stepsMax` more steps. */
export function diffJson(before: Json, after: Json): readonly JsonPatchStep[] {
  const differ = new JsonDiffer()
  differ.value(before, after, [])
  return differ.operations
}

class JsonDiffer {
  readonly operations: JsonPatchStep[] = []
  readonly #interner = new JsonInterner()
  readonly #budget: DiffBudget = { steps: stepsMax }

  value(before: Json, after: Json, path: readonly string[]): void {
    if (this.#interner.of(before) === this.#interner.of(after)) return
    if (isObject(before) && isObject(after)) this.#members(before, after, path)
    else if (isArray(before) && isArray(after)) this.#elements(before, after, path)
    else this.operations.push({ op: 'replace', path: formatPointer(path), value: after })
  }

  #members(before: JsonObject, after: JsonObject, path: readonly string[]): void {
    for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) this.#remove([...path, name])
    for (const [name, value] of Object.entries(after))
      if (Object.hasOwn(before, name)) this.value(before[name] as Json, value, [...path, name])
      else this.#add([...path, name], value)
  }

  #elements(before: readonly Json[], after: readonly Json[], path: readonly string[]): void {
    const tokens = (values: readonly Json[]): Int32Array =>
      Int32Array.from(values, (value) => this.#interner.of(value))
    for (const { aStart, aEnd, bStart, bEnd } of diffTokens(tokens(before), tokens(after), this.#budget)) {
      // Earlier hunks have already been applied, so an index is that of the later version.
      const shared = Math.min(aEnd - aStart, bEnd - bStart)
      for (let at = 0; at < shared; at += 1)
        this.value(before[aStart + at] as Json, after[bStart + at] as Json, [...path, String(bStart + at)])
      for (let at = shared; at < aEnd - aStart; at += 1) this.#remove([...path, String(bStart + shared)])
      for (let at = shared; at < bEnd - bStart; at += 1)
        this.#add([...path, String(bStart + at)], after[bStart + at] as Json)
    }
  }

  #add(path: readonly string[], value: Json): void {
    this.operations.push({ op: 'add', path: formatPointer(path), value })
  }

  #remove(path: readonly string[]): void {
    this.operations.push({ op: 'remove', path: formatPointer(path) })
  }
}
