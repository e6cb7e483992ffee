import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import {
  type FoundViolation,
  type NodePlace,
  quoted,
  typeName,
  type Violation,
  violationAt,
} from './violation.ts'

/** Names of the JSON types of each format and embed. */
export type AllowedTypes = ReadonlyMap<string, ReadonlySet<string>>

/** A schema of text with formatting, such as the deltas of Quill. */
export interface TextSchema {
  readonly is: 'text'
  readonly contentKey: string | null
  readonly formats: AllowedTypes
  /** Embeds by the name of their only member. */
  readonly embeds: AllowedTypes
}

const place: NodePlace = { parent: null, name: 'text', index: 0 }

/** Finds the formats and embeds of a root of text that a schema does not allow, in order. */
export function* textViolations(
  root: SharedRoot,
  { formats, embeds }: TextSchema,
): Generator<FoundViolation, void> {
  const changed = new Map<string, Y.Item>()
  for (let item = root._start; item !== null; item = item.right) {
    if (item.deleted) continue
    const { content } = item
    if (content instanceof Y.ContentFormat) {
      changed.set(content.key, item)
      continue
    }
    if (!item.countable) continue
    for (const [name, mark] of changed) {
      const { value } = mark.content as Y.ContentFormat
      yield* found(mark, valueViolation('format', formats, name, value))
    }
    changed.clear()
    if (content instanceof Y.ContentString) continue
    yield* found(
      item,
      content instanceof Y.ContentEmbed ? embedViolation(embeds, content.embed) : sharedValue(embeds),
    )
  }
}

function* found({ id }: Y.Item, violation: Violation | null): Generator<FoundViolation, void> {
  if (violation !== null) yield { key: `${id.client}:${id.clock} ${violation.problem}`, ...violation }
}

const sharedValue = (embeds: AllowedTypes): Violation =>
  violationAt(place, 'the text contains a value that is not an embed', embeds.keys())

function embedViolation(embeds: AllowedTypes, embed: unknown): Violation | null {
  const entries = typeof embed === 'object' && embed !== null ? Object.entries(embed) : []
  const [entry, ...others] = entries
  if (entry === undefined || others.length > 0)
    return violationAt(place, 'an embed must be an object with one member', embeds.keys())
  return valueViolation('embed', embeds, ...entry)
}

function valueViolation(
  what: 'format' | 'embed',
  known: AllowedTypes,
  name: string,
  value: unknown,
): Violation | null {
  if (value === null) return null
  const types = known.get(name)
  if (types === undefined)
    return violationAt(place, `the schema has no ${what} ${quoted(name)}`, known.keys(), name)
  const type = typeName(value)
  return types.has(type)
    ? null
    : violationAt(place, `the ${what} ${quoted(name)} has the type ${type}`, types, name)
}
