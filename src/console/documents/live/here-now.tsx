import * as Y from 'yjs'
import type { SharedRoot } from '../../../core/content/yjs/root-kind.ts'
import { formatTime } from '../../ui/format.ts'
import { type AwarenessUser, caretPositions } from './awareness-users.ts'
import type { LiveDocument } from './live-document.ts'

export const UserName = ({ person: { name, color, isAgent } }: { readonly person: AwarenessUser }) => (
  <>
    {color !== null && <span class="swatch" style={{ backgroundColor: color }} />} {name}{' '}
    {isAgent && <span class="tag">agent</span>}
  </>
)

interface HereNowProps {
  readonly doc: Y.Doc
  readonly live: LiveDocument
  /** Returns the time of the last change of a user; null if there is none. */
  readonly lastChangeOf: (userId: string) => string | null
}

/** Lists the users on the editor with the text at their cursors, and with their last changes. */
export function HereNow({ doc, live, lastChangeOf }: HereNowProps) {
  const people = live.people.all()
  if (people.length === 0) return null
  const { carets } = caretPositions(doc, people)
  const places = new Map(
    [...carets].flatMap(([type, all]) =>
      all.map(({ clientId, index }) => [clientId, textAround(type, index)] as const),
    ),
  )
  return (
    <ul class="legend here" aria-label="Here now">
      {people.map((person) => {
        const place = places.get(person.clientId) ?? ''
        const last = lastChangeOf(person.userId)
        return (
          <li key={person.clientId}>
            <UserName person={person} />
            {place !== '' && <> at “{place}”</>}
            <span class="hint">{last === null ? 'no change yet' : `last change ${formatTime(last)}`}</span>
          </li>
        )
      })}
    </ul>
  )
}

/** Number of characters on each side of a cursor. */
const aroundMax = 15

/** Returns the text around a position, with a bar at the position. */
function textAround(type: SharedRoot, index: number): string {
  let text = ''
  for (let item = type._start; item !== null && text.length < index + aroundMax; item = item.right) {
    if (item.deleted || !item.countable) continue
    text += item.content instanceof Y.ContentString ? item.content.str : ' '.repeat(item.length)
  }
  const before = text.slice(Math.max(0, index - aroundMax), index)
  const after = text.slice(index, index + aroundMax)
  return before + after === '' ? '' : `${before}|${after}`
}
