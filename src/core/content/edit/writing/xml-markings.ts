import { isObject, type Json } from '../../json/json.ts'
import { markName } from '../../schemas/schema-spec.ts'
import { xmlName } from '../../xml/names.ts'
import type { ObservedSchema } from '../../xml/observed-schema.ts'
import { MarkCodec, markFormOf } from '../../xml/stored-marks.ts'
import { xmlValues } from '../../xml/value-codec.ts'
import type { FlowView, TextSource } from '../targets/flow-view.ts'
import type { Marking } from './source-edits.ts'

/**
 * Returns the formatting attributes to set for a mark of a rich-text editor, in the form in which the
 * document stores marks of this name. The value null removes all marks of the name.
 */
export function xmlMarkings(
  view: FlowView,
  vocabulary: ObservedSchema,
  name: string,
  value: Json,
): (source: TextSource) => readonly Marking[] {
  if (value === null) return (source) => keysOf(source, name).map((key) => ({ name: key, value: null }))
  const codec = new MarkCodec(vocabulary)
  for (const { pieces } of view.flows) {
    for (const { source } of pieces) {
      for (const { changes } of source?.state.runs ?? []) {
        for (const [key, stored] of changes)
          if (stored !== null) codec.learn(nameOfMark(key), { key, value: stored })
      }
    }
  }
  if (value !== true && !isObject(value)) return () => [{ name, value }]
  const form = { name: xmlName(name), attributes: [] }
  const { key, value: stored } = codec.newMark(form, value === true ? null : value)
  return (source) => [{ name: key, value: stored }, ...excludedMarkings(source, vocabulary, name)]
}

/** Returns the formatting attributes that the editor of the schema removes from text that gets a mark. */
const excludedMarkings = (source: TextSource, { editor }: ObservedSchema, mark: string): Marking[] =>
  editor === null
    ? []
    : keysIn(source)
        .filter((key) => editor.excludes(mark, markName(key)))
        .map((key) => ({ name: key, value: null }))

/** Names of the marks that formats for prose, such as Markdown, can represent. */
const proseMarks: ReadonlySet<string> = new Set(
  'bold strong b italic em i strike strikethrough s del code link a'.split(' '),
)

/**
 * Returns the formatting attributes to set so that a text has the given ones.
 * @param isExact true: all other marks are removed; false: only those that formats for prose can represent
 */
export const formattingAs =
  (attributes: object, isExact: boolean) =>
  (source: TextSource): readonly Marking[] => {
    const wanted = new Map(Object.entries(attributes))
    for (const { changes } of source.state.runs) {
      for (const [key, value] of changes) {
        const isRemoved = value !== null && !wanted.has(key) && (isExact || proseMarks.has(nameOfMark(key)))
        if (isRemoved) wanted.set(key, null)
      }
    }
    return [...wanted].map(([name, value]) => ({ name, value }))
  }

/** Returns the name of the marks with this key. */
const nameOfMark = (key: string): string => markFormOf({ key, value: true }, xmlValues).name

/** Returns the keys under which a text has marks of a name. */
function keysOf(source: TextSource, name: string): string[] {
  const shown = xmlName(name)
  return keysIn(source).filter((key) => nameOfMark(key) === shown)
}

/** Returns the keys under which a text has marks. */
function keysIn({ state }: TextSource): string[] {
  const keys = new Set<string>()
  for (const { changes } of state.runs) for (const [key, value] of changes) if (value !== null) keys.add(key)
  return [...keys]
}
