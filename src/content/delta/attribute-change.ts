import type { FormatTable } from './formatted-text.ts'

/** Attributes as Yjs takes them: copies, since it writes into them, and without a prototype, since it looks names up. */
export type DeltaAttributes = Record<string, unknown>

export const noAttributes = (): DeltaAttributes => Object.create(null) as DeltaAttributes

/** The attributes of new text that has the format `number`. */
export function attributesOf(formats: FormatTable, number: number): DeltaAttributes {
  const attributes = noAttributes()
  for (const [key, value] of formats.get(number).stored) attributes[key] = value
  return attributes
}

/** What to set, and to take away by null, on text of one format that is to have another. */
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
