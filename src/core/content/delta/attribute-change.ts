import type { FormatTable } from './formatted-text.ts'

/**
 * Attribute object in the form that Yjs needs. The object must be a copy, because Yjs modifies it. It has no
 * prototype, because Yjs looks up attribute names in it.
 */
export type DeltaAttributes = Record<string, unknown>

export const noAttributes = (): DeltaAttributes => Object.create(null)

/** Returns the attributes of new text that has the format `number`. */
export function attributesOf(formats: FormatTable, number: number): DeltaAttributes {
  const attributes = noAttributes()
  for (const [key, value] of formats.get(number).stored) attributes[key] = value
  return attributes
}

/** Returns the attributes to set on a text whose format changes. The value null removes an attribute. */
export function attributeDiff(formats: FormatTable, from: number, to: number): DeltaAttributes {
  const change = noAttributes()
  if (from === to) return change
  const [before, after] = [formats.get(from), formats.get(to)]
  for (const key of before.stored.keys()) if (!after.stored.has(key)) change[key] = null
  for (const [key, value] of after.stored) {
    const same =
      before.stored.has(key) && formats.same(before.attributes[key] ?? null, after.attributes[key] ?? null)
    if (!same) change[key] = value
  }
  return change
}
