import type { Caret } from '../live/awareness-users.ts'
import type { RunAttributes } from './blocks.ts'

/** CSS classes of common formats, by the names that editor libraries use for the formats. */
const formats: ReadonlyMap<string, string> = new Map([
  ['bold', 'bold'],
  ['strong', 'bold'],
  ['italic', 'italic'],
  ['em', 'italic'],
  ['underline', 'underline'],
  ['strike', 'strike'],
  ['strikethrough', 'strike'],
  ['code', 'code-mark'],
  ['link', 'link-mark'],
])

/** Returns the CSS classes of a run. An unknown format gets a general class. */
export const classesOf = (attributes: RunAttributes): string =>
  [...new Set(Object.keys(attributes).map((name) => formats.get(name) ?? 'other-mark'))].join(' ')

export const CaretMark = ({ caret: { name, color } }: { readonly caret: Caret }) => (
  <span class="caret" style={color === null ? {} : { borderColor: color }}>
    <span class="caret-name" style={color === null ? {} : { borderColor: color }}>
      <span class="unseen">cursor of </span>
      {name}
    </span>
  </span>
)
