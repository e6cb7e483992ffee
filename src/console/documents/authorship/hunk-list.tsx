import { Added, Removed } from '../diff/diff-view.tsx'
import type { HunkEntry } from './authors.ts'

/** Shows the parts of a change, with the text around them. Each part has a color and a sign. */
export const HunkList = ({ hunks }: { readonly hunks: readonly HunkEntry[] }) => (
  <ul class="hunks">
    {hunks.map((hunk, index) => (
      <li key={index} class="hunk">
        <HunkParts hunk={hunk} />
      </li>
    ))}
  </ul>
)

export function HunkParts({ hunk }: { readonly hunk: HunkEntry }) {
  const { anchor, deleted, inserted, entries, formatting } = hunk
  return (
    <>
      <div>
        <span class="name">{anchor.before}</span>
        {deleted !== '' && <Removed text={deleted} />}
        {inserted !== '' && <Added text={inserted} />}
        <span class="name">{anchor.after}</span>
      </div>
      <Others removed={hunk.deletedNodes} added={hunk.insertedNodes} label="element" />
      <Others
        removed={hunk.deletedValues.map(toText)}
        added={hunk.insertedValues.map(toText)}
        label={anchor.path.join(' › ')}
      />
      {entries.map(({ key, before, after }) => (
        <div key={key}>
          <span class="name">{[...anchor.path.slice(0, -1), key].join(' › ')}: </span>
          {before !== undefined && <Removed text={toText(before)} />}
          {after !== undefined && <Added text={toText(after)} />}
        </div>
      ))}
      {formatting.map(({ name, before, after, text }, index) => (
        <div key={index}>
          <span class="name">{name} of </span>“{text}”: <Removed text={toText(before)} />{' '}
          <Added text={toText(after)} />
        </div>
      ))}
      {hunk.truncated && <div class="hint">More parts of this place are not shown.</div>}
    </>
  )
}

interface OthersProps {
  readonly removed: readonly string[]
  readonly added: readonly string[]
  readonly label: string
}

function Others({ removed, added, label }: OthersProps) {
  if (removed.length + added.length === 0) return null
  return (
    <div>
      <span class="name">{label}: </span>
      {removed.map((text, index) => (
        <Removed key={index} text={text} />
      ))}
      {added.map((text, index) => (
        <Added key={index} text={text} />
      ))}
    </div>
  )
}

/** Maximum number of characters of a value that are shown. */
const valueMax = 500

const toText = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, valueMax)
